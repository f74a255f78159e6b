import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Creates the private directory of one command in a sandbox. */
export function createCommandDirectory(directory: string): void {
  for (const name of ['', 'new', 'lower', 'upper', 'work', 'void', 'void/d']) mkdirSync(join(directory, name))
  writeFileSync(join(directory, 'void/f'), '')
  for (const name of ['void/f', 'void/d']) chmodSync(join(directory, name), 0)
}

/** Removes the private directory of a command, with all its content. */
export function removeCommandDirectory(directory: string): void {
  try {
    // The kernel creates this directory without permissions.
    chmodSync(join(directory, 'work/work'), 0o700)
  } catch {
    // No overlayfs was mounted.
  }
  rmSync(directory, { recursive: true, force: true })
}
