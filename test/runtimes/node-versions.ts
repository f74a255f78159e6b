import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const top = join(import.meta.dirname, '../..')

/** Returns the executable of a Node of that version, cached between runs. */
export function nodeOf(version: number): string {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const directory = join(top, 'node_modules/.cache/wardspace', `node-${version}`)
  const file = join(directory, 'node_modules', name, 'bin/node')
  if (!existsSync(file)) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{ "private": true }')
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', `${name}@${version}`], { cwd: directory })
  }
  return file
}

/** Returns the executable of pnpm, cached between runs. */
export function pnpmPath(): string {
  const directory = join(top, 'node_modules/.cache/wardspace/pnpm')
  const file = join(directory, 'node_modules/.bin/pnpm')
  if (!existsSync(file)) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{ "private": true }')
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', 'pnpm@12'], { cwd: directory })
  }
  return file
}
