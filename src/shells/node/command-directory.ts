import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Makes the directory that belongs to one command in a sandbox. */
export function createCommandDirectory(own: string): void {
  for (const name of ['', 'new', 'lower', 'upper', 'work', 'void', 'void/d']) mkdirSync(join(own, name))
  writeFileSync(join(own, 'void/f'), '')
  for (const name of ['void/f', 'void/d']) chmodSync(join(own, name), 0)
}

/** Removes it, with what the command wrote into it. */
export function removeCommandDirectory(own: string): void {
  try {
    // The kernel makes it so that nobody may look into it.
    chmodSync(join(own, 'work/work'), 0o700)
  } catch {
    // Nothing was mounted here.
  }
  rmSync(own, { recursive: true, force: true })
}
