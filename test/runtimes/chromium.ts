import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Switches for a browser that only opens our own pages: no sandbox and no background requests. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The engine of `node` would be optimised in the background after each first script: half a second of a processor a page.
  '--js-flags=--liftoff-only',
  // WebMCP still needs a switch.
  '--enable-features=WebMCP,WebMCPTesting',
]

/**
 * Returns the path of a Chromium: `CHROMIUM_PATH`, or the one of an npm package, unpacked once per version. The package
 * unpacks to a fixed name in the temporary directory and reuses any existing file, so each version gets its own directory,
 * which appears only when it is complete.
 */
export async function chromiumPath(): Promise<string> {
  const input = process.env.CHROMIUM_PATH
  if (input !== undefined) return input
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
    // Another process was faster, and its directory has the same content.
    if (!existsSync(home)) throw error
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(aside, { recursive: true, force: true })
  }
}
