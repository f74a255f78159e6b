import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * `npm run check:install`: installs the packed package with npm in an empty directory, without optional packages, and fails if
 * that brings more packages or bytes than allowed. The versions are those of this lockfile, so npm takes them from its cache.
 */
const MAX_PACKAGES = 10
/** The sum of the sizes of all files, in MB of 1,000,000 bytes. */
const MAX_MB = 14

/** An entry of a lockfile. */
interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly dev?: boolean
  readonly peer?: boolean
}

const top = join(import.meta.dirname, '..')
const home = mkdtempSync(join(tmpdir(), 'wardspace-install-'))
try {
  const npm = (cwd: string, ...words: readonly string[]) =>
    execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  const tarball = npm(top, 'pack', '--silent', '--ignore-scripts', '--pack-destination', home)
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  writeFileSync(join(home, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages: lockedDependencies() }))
  npm(home, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--silent', `./${tarball}`)
  const lock = JSON.parse(readFileSync(join(home, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>
  }
  const sizes = Object.entries(lock.packages).map(([path, { version }]) => ({
    name: `${path.replace(/^.*node_modules\//, '')} ${version}`,
    mb: bytesBelow(join(home, path)) / 1e6,
  }))
  const mb = sizes.reduce((sum, one) => sum + one.mb, 0)
  for (const one of sizes) console.log(`${one.name.padEnd(30)}${one.mb.toFixed(2).padStart(8)} MB`)
  console.log(`${`${sizes.length} packages`.padEnd(30)}${mb.toFixed(2).padStart(8)} MB`)
  if (sizes.length > MAX_PACKAGES) fail(`${sizes.length} packages, more than ${MAX_PACKAGES}`)
  if (mb > MAX_MB) fail(`${mb.toFixed(2)} MB, more than ${MAX_MB}`)
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** The entries of this lockfile for the dependencies, and for theirs. */
function lockedDependencies(): Record<string, Locked> {
  const { packages } = JSON.parse(readFileSync(join(top, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const needed: Record<string, Locked> = {}
  const add = ({ dependencies = {} }: Locked) => {
    for (const name of Object.keys(dependencies)) {
      const path = `node_modules/${name}`
      const entry = packages[path]
      if (entry === undefined || path in needed) continue
      const { dev, peer, ...locked } = entry
      needed[path] = locked
      add(entry)
    }
  }
  add(packages[''] as Locked)
  return needed
}

function fail(fault: string): void {
  console.error(fault)
  process.exitCode = 1
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.slice(directory.length).includes('node_modules'))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
