import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, type Stats, unlinkSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { nameOf, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import { errnoOf, storageError } from '../../storage/storage-error.ts'
import { isMissing } from './errno.ts'
import type { Temp } from './state-directory.ts'
import type { PinnedDirectory, TreeAccess } from './tree-access.ts'

/**
 * One step of a set, as stored in the journal, with everything needed to redo or undo it: temporary files with the new
 * and the old state, and the inodes that show whether the step was done.
 */
export type Step =
  /** Moves a file or link to a temporary name. */
  | { readonly do: 'remove'; readonly path: Path; readonly aside: Temp; readonly ino: number }
  | { readonly do: 'rmdir'; readonly path: Path; readonly mode: number }
  | { readonly do: 'mkdir'; readonly path: Path }
  /** Gives a staged file or link its name, which must not exist. */
  | { readonly do: 'create'; readonly path: Path; readonly temp: Temp; readonly ino: number }
  /** Replaces a file or link with a staged one. `backup` keeps the old one. */
  | { readonly do: 'replace'; readonly path: Path; readonly temp: Temp; readonly ino: number; readonly backup: Temp }

/** Directories held open while steps run. */
export interface Pins {
  get(directory: Path): PinnedDirectory
  /** Closes a directory, before it is removed or after it was created. */
  drop(directory: Path): void
  close(): void
}

/** Leaves enough descriptors for other code, and suffices for a set within one package. */
const MAX_PINS = 32

export function openPins(access: TreeAccess): Pins {
  const pins = new Map<Path, PinnedDirectory>()
  const drop = (directory: Path) => {
    pins.get(directory)?.close()
    pins.delete(directory)
  }
  return {
    get(directory) {
      let pin = pins.get(directory)
      if (pin !== undefined) {
        // The least recently used comes first. The most recent ones stay open: their paths are in use.
        pins.delete(directory)
        pins.set(directory, pin)
        return pin
      }
      if (pins.size >= MAX_PINS) drop(pins.keys().next().value as Path)
      pin = pinForSync(access, directory)
      pins.set(directory, pin)
      return pin
    },
    drop,
    close() {
      for (const directory of [...pins.keys()]) drop(directory)
    },
  }
}

/** Pins a directory so that it can be synced, if its permissions allow reading. */
function pinForSync(access: TreeAccess, directory: Path): PinnedDirectory {
  try {
    return access.pin(directory, 'listing')
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    return { ...access.pin(directory), fd: -1 }
  }
}

export function physicalPathOf(pins: Pins, path: Path): string {
  return pins.get(parentOf(path)).at(nameOf(path))
}

export function tempPathOf(pins: Pins, [home, name]: Temp): string {
  return pins.get(home).at(name)
}

/**
 * Does a step, unless it is already done. Throws if another process interfered. When a step is done `again` after a kill,
 * later changes of its file by other processes stay.
 */
export function doStep(pins: Pins, step: Step, mode?: 'again'): void {
  switch (step.do) {
    case 'remove': {
      if (lstatAt(tempPathOf(pins, step.aside)) !== undefined) return
      const present = lstatAt(physicalPathOf(pins, step.path))
      if (present === undefined) return
      if (present.ino !== step.ino) throw concurrentChangeError(step.path)
      renameSync(physicalPathOf(pins, step.path), tempPathOf(pins, step.aside))
      return
    }
    case 'rmdir':
      pins.drop(step.path)
      tolerate(() => rmdirSync(physicalPathOf(pins, step.path)), 'ENOENT')
      return
    case 'mkdir':
      tolerate(() => mkdirSync(physicalPathOf(pins, step.path)), 'EEXIST')
      if (!lstatSync(physicalPathOf(pins, step.path)).isDirectory()) throw concurrentChangeError(step.path)
      return
    case 'create': {
      const temp = lstatAt(tempPathOf(pins, step.temp))
      if (temp === undefined) {
        if (mode === 'again' && lstatAt(physicalPathOf(pins, step.path)) !== undefined) return
        throw concurrentChangeError(step.path)
      }
      linkNoReplace(tempPathOf(pins, step.temp), physicalPathOf(pins, step.path), step.path, temp)
      return
    }
    case 'replace':
      if (mode === 'again')
        tolerate(() => renameSync(tempPathOf(pins, step.temp), physicalPathOf(pins, step.path)), 'ENOENT')
      else renameSync(tempPathOf(pins, step.temp), physicalPathOf(pins, step.path))
      return
  }
}

/** Undoes a step if it was done. Whatever another process has put there since is left unchanged. */
export function undoStep(pins: Pins, step: Step): void {
  switch (step.do) {
    case 'remove': {
      const aside = tempPathOf(pins, step.aside)
      if (lstatAt(aside) === undefined) return
      if (lstatAt(physicalPathOf(pins, step.path)) === undefined) renameSync(aside, physicalPathOf(pins, step.path))
      else unlinkSync(aside)
      return
    }
    case 'rmdir':
      tolerate(() => mkdirSync(physicalPathOf(pins, step.path), step.mode), 'EEXIST')
      return
    case 'mkdir':
      pins.drop(step.path)
      tolerate(() => rmdirSync(physicalPathOf(pins, step.path)), 'ENOENT', 'ENOTDIR', 'ENOTEMPTY')
      return
    case 'create':
      if (lstatAt(physicalPathOf(pins, step.path))?.ino === step.ino) unlinkSync(physicalPathOf(pins, step.path))
      removeTemp(pins, step.temp)
      return
    case 'replace': {
      const isOurs = lstatAt(physicalPathOf(pins, step.path))?.ino === step.ino
      if (isOurs) tolerate(() => renameSync(tempPathOf(pins, step.backup), physicalPathOf(pins, step.path)), 'ENOENT')
      removeTemp(pins, step.backup)
      removeTemp(pins, step.temp)
      return
    }
  }
}

/** Returns the temporary files that a step may leave. */
export function tempsOf(step: Step): readonly Temp[] {
  if (step.do === 'remove') return [step.aside]
  if (step.do === 'create') return [step.temp]
  return step.do === 'replace' ? [step.temp, step.backup] : []
}

/**
 * Gives a staged file its name without ever overwriting: link(2) fails where rename(2) would replace. The temporary name
 * may remain; the caller removes it, and failing to do so does not fail the change.
 */
export function linkNoReplace(temp: string, target: string, path: Path, staged?: Stats): void {
  try {
    linkSync(temp, target)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'EEXIST') {
      if (staged !== undefined && lstatAt(target)?.ino === staged.ino) return
      throw concurrentChangeError(path)
    }
    if (!NO_HARD_LINKS.has(code)) throw error
    // Without hard links, this is the smallest possible window.
    if (lstatAt(target) !== undefined) throw concurrentChangeError(path)
    renameSync(temp, target)
  }
}

export const NO_HARD_LINKS: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'EOPNOTSUPP',
  'ENOTSUP',
  'ENOSYS',
  'EMLINK',
  'EACCES',
])

export function removeTemp(pins: Pins, temp: Temp): void {
  tolerate(() => unlinkSync(tempPathOf(pins, temp)), 'ENOENT')
}

/** Returns the lstat of a physical path, or undefined if nothing is there. */
export function lstatAt(at: string): Stats | undefined {
  try {
    return lstatSync(at)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export function concurrentChangeError(path: Path): ToolError {
  return new ToolError('WRITE_CONFLICT', `Cannot change ${quote(path)}: another process changed it at the same time`, {
    path,
  })
}

/** Returns the ToolError for a step that failed with a system error. */
export function stepFailure(step: Step, error: unknown): ToolError {
  return storageError(
    step.do === 'mkdir' ? 'create directory' : step.do === 'remove' || step.do === 'rmdir' ? 'delete' : 'write',
    step.path,
    error,
  )
}

function tolerate(action: () => void, ...codes: string[]): void {
  try {
    action()
  } catch (error) {
    if (!codes.includes(errnoOf(error) ?? '')) throw error
  }
}
