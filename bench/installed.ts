import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const top = join(import.meta.dirname, '..')

/** The packages of a directory, and their sizes in MB of 1,000,000 bytes. */
export interface Installed {
  readonly packages: readonly { readonly name: string; readonly mb: number }[]
  readonly mb: number
}

/** Packs this package into a directory. Returns the path of the tarball. */
export function pack(directory: string): string {
  return join(directory, npm(top, 'pack', '--silent', '--ignore-scripts', '--pack-destination', directory))
}

/** Installs a package with npm in a new directory, without optional packages, from npm's cache where it has the versions. */
export function installInto(directory: string, specifier: string): Installed {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true }')
  npm(directory, 'install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', specifier)
  const lock = JSON.parse(readFileSync(join(directory, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>
  }
  const packages = Object.entries(lock.packages).map(([path, { version }]) => ({
    name: `${path.replace(/^.*node_modules\//, '')} ${version}`,
    mb: bytesBelow(join(directory, path)) / 1e6,
  }))
  return { packages, mb: packages.reduce((sum, one) => sum + one.mb, 0) }
}

function npm(cwd: string, ...words: readonly string[]): string {
  return execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

/** Packages inside of a package are entries of their own. */
function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.slice(directory.length).includes('node_modules'))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
