import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, type Stats, unlinkSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { nameOf, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import { errnoOf, storageError } from '../../storage/storage-error.ts'
import { isMissing } from './errno.ts'
import type { Temp } from './state-directory.ts'
import type { PinnedDirectory, TreeAccess } from './tree-access.ts'

/**
 * One step of a set, as the journal holds it. What is needed to do it again and to take it back is all in it: temporaries
 * with the new and the old state, and the inodes that tell whether it was done.
 */
export type Step =
  /** A file or link is put aside. */
  | { readonly do: 'remove'; readonly path: Path; readonly aside: Temp; readonly ino: number }
  | { readonly do: 'rmdir'; readonly path: Path; readonly mode: number }
  | { readonly do: 'mkdir'; readonly path: Path }
  /** A staged file or link gets its name, where nothing may be. */
  | { readonly do: 'create'; readonly path: Path; readonly temp: Temp; readonly ino: number }
  /** A staged file or link takes the place of another, of which `backup` is kept. */
  | { readonly do: 'replace'; readonly path: Path; readonly temp: Temp; readonly ino: number; readonly backup: Temp }

/** Directories held open while steps run. */
export interface Pins {
  get(directory: Path): PinnedDirectory
  /** Forgets a directory, before it is removed or after it was made. */
  drop(directory: Path): void
  close(): void
}

/** Few enough to leave descriptors for others, many enough for a set of one package. */
const MOST_PINS = 32

export function openPins(ground: TreeAccess): Pins {
  const pins = new Map<Path, PinnedDirectory>()
  const drop = (directory: Path) => {
    pins.get(directory)?.close()
    pins.delete(directory)
  }
  return {
    get(directory) {
      let pin = pins.get(directory)
      if (pin !== undefined) {
        // The least recently used comes first; the last few are never closed, as their places are in use.
        pins.delete(directory)
        pins.set(directory, pin)
        return pin
      }
      if (pins.size >= MOST_PINS) drop(pins.keys().next().value as Path)
      pin = pinForSync(ground, directory)
      pins.set(directory, pin)
      return pin
    },
    drop,
    close() {
      for (const directory of [...pins.keys()]) drop(directory)
    },
  }
}

/** Pins so that the directory can be synced, where its permissions let it be read. */
function pinForSync(ground: TreeAccess, directory: Path): PinnedDirectory {
  try {
    return ground.pin(directory, 'listing')
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    return { ...ground.pin(directory), fd: -1 }
  }
}

export function place(pins: Pins, path: Path): string {
  return pins.get(parentOf(path)).at(nameOf(path))
}

export function tempPlace(pins: Pins, [home, name]: Temp): string {
  return pins.get(home).at(name)
}

/**
 * Does a step, or finds it done. Throws where somebody else came in between; but when a step is done `again` after a kill,
 * what somebody did to its file since then stays.
 */
export function doStep(pins: Pins, step: Step, how?: 'again'): void {
  switch (step.do) {
    case 'remove': {
      if (lstatAt(tempPlace(pins, step.aside)) !== undefined) return
      const present = lstatAt(place(pins, step.path))
      if (present === undefined) return
      if (present.ino !== step.ino) throw concurrentChangeError(step.path)
      renameSync(place(pins, step.path), tempPlace(pins, step.aside))
      return
    }
    case 'rmdir':
      pins.drop(step.path)
      tolerate(() => rmdirSync(place(pins, step.path)), 'ENOENT')
      return
    case 'mkdir':
      tolerate(() => mkdirSync(place(pins, step.path)), 'EEXIST')
      if (!lstatSync(place(pins, step.path)).isDirectory()) throw concurrentChangeError(step.path)
      return
    case 'create': {
      const temp = lstatAt(tempPlace(pins, step.temp))
      if (temp === undefined) {
        if (how === 'again' && lstatAt(place(pins, step.path)) !== undefined) return
        throw concurrentChangeError(step.path)
      }
      linkNoReplace(tempPlace(pins, step.temp), place(pins, step.path), step.path, temp)
      return
    }
    case 'replace':
      if (how === 'again') tolerate(() => renameSync(tempPlace(pins, step.temp), place(pins, step.path)), 'ENOENT')
      else renameSync(tempPlace(pins, step.temp), place(pins, step.path))
      return
  }
}

/** Takes a step back, or finds it not done. What somebody else put there since is left alone. */
export function undoStep(pins: Pins, step: Step): void {
  switch (step.do) {
    case 'remove': {
      const aside = tempPlace(pins, step.aside)
      if (lstatAt(aside) === undefined) return
      if (lstatAt(place(pins, step.path)) === undefined) renameSync(aside, place(pins, step.path))
      else unlinkSync(aside)
      return
    }
    case 'rmdir':
      tolerate(() => mkdirSync(place(pins, step.path), step.mode), 'EEXIST')
      return
    case 'mkdir':
      pins.drop(step.path)
      tolerate(() => rmdirSync(place(pins, step.path)), 'ENOENT', 'ENOTDIR', 'ENOTEMPTY')
      return
    case 'create':
      if (lstatAt(place(pins, step.path))?.ino === step.ino) unlinkSync(place(pins, step.path))
      removeTemp(pins, step.temp)
      return
    case 'replace': {
      const isOurs = lstatAt(place(pins, step.path))?.ino === step.ino
      if (isOurs) tolerate(() => renameSync(tempPlace(pins, step.backup), place(pins, step.path)), 'ENOENT')
      removeTemp(pins, step.backup)
      removeTemp(pins, step.temp)
      return
    }
  }
}

/** The temporaries that a step may leave. */
export function tempsOf(step: Step): readonly Temp[] {
  if (step.do === 'remove') return [step.aside]
  if (step.do === 'create') return [step.temp]
  return step.do === 'replace' ? [step.temp, step.backup] : []
}

/**
 * Gives a staged file its name without ever overwriting: link(2) refuses where rename(2) would replace. The temporary name
 * may stay, for the caller to remove: that it cannot be removed is no failure of the change.
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
    // A filesystem without hard links: the smallest window there is.
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
  tolerate(() => unlinkSync(tempPlace(pins, temp)), 'ENOENT')
}

/** What is at a place, without following; undefined if nothing is. */
export function lstatAt(at: string): Stats | undefined {
  try {
    return lstatSync(at)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export function concurrentChangeError(path: Path): ToolError {
  return new ToolError('WRITE_CONFLICT', `Cannot change ${quote(path)}: somebody else changed it at the same moment`, {
    path,
  })
}

/** The refusal for a step that the system refused. */
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
