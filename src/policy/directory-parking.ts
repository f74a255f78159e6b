import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { checkArgument, must, refuseSurplus } from '../util/check-options.ts'
import { readRegularFile } from '../util/regular-file.ts'
import type { ParkedCall, ParkedCalls } from './parked-calls.ts'

/** Pending calls in a directory. */
export interface DirectoryParking extends ParkedCalls {
  readonly directory: string
  /** Returns the pending calls, the oldest first. */
  list(): readonly ParkedCall[]
}

const isDirectory = must('the path of a directory', (path) => typeof path === 'string' && path !== '')

/**
 * Stores calls that wait for an approval in a directory, one file each, for all processes on this machine. If several
 * processes take a call, one of them gets it. The files contain the input of the calls and are readable by their owner only.
 * The directory must be outside of the workspace.
 *
 * @example
 * const workspace = await createWorkspace({ backend: nodeBackend('.'), policy: 'supervised', parked: directoryParking('../waiting') })
 */
export function directoryParking(directory: string): DirectoryParking {
  refuseSurplus('directoryParking()', 1, arguments)
  checkArgument('directoryParking()', 'directory', directory, isDirectory)
  const root = resolve(directory)
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const fileOf = (id: string) => join(root, `${createHash('sha256').update(id).digest('hex')}.json`)

  return {
    directory: root,
    list() {
      const calls: ParkedCall[] = []
      for (const name of readdirSync(root)) {
        if (name.endsWith('.json')) calls.push(...read(join(root, name)))
      }
      return calls.sort((a, b) => a.at - b.at)
    },
    put(call) {
      const temporary = join(root, `${randomBytes(12).toString('hex')}.tmp`)
      try {
        const file = openSync(temporary, 'wx', 0o600)
        try {
          writeFileSync(file, JSON.stringify(call))
          fsyncSync(file)
        } finally {
          closeSync(file)
        }
        renameSync(temporary, fileOf(call.id))
      } catch (error) {
        rmSync(temporary, { force: true })
        throw error
      }
    },
    take(id) {
      const takenPath = join(root, `${randomBytes(12).toString('hex')}.taken`)
      try {
        // Only one rename of a file can succeed.
        renameSync(fileOf(id), takenPath)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      try {
        return parse(takenPath)
      } finally {
        rmSync(takenPath, { force: true })
      }
    },
  }
}

/** Returns the call in a file, or nothing if another process has taken it. */
function read(file: string): ParkedCall[] {
  try {
    return [parse(file)]
  } catch (error) {
    if (!exists(file)) return []
    throw error
  }
}

/** Returns false for a file that another process has taken, and for a dangling link. */
function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/** The largest call that is read back: a written file of 10 MiB, in its input and in its preview. */
const MAX_BYTES = 64 * 1024 * 1024

/** @throws Error if the file is not a parked call */
function parse(file: string): ParkedCall {
  try {
    return JSON.parse(readRegularFile(file, { maxBytes: MAX_BYTES, noFollow: true }).toString('utf8')) as ParkedCall
  } catch (error) {
    throw new Error(`Cannot read the parked call "${file}": ${(error as Error).message}`)
  }
}
