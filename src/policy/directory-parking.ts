import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { ParkedCall, ParkedCalls } from './parked-calls.ts'

/** Parked calls in a directory. */
export interface DirectoryParking extends ParkedCalls {
  readonly directory: string
  /** The calls that wait, the oldest first. */
  list(): readonly ParkedCall[]
}

/**
 * Keeps calls that wait for an approval in a directory, a file each, for any process on this machine: of many that take one
 * call, one gets it. The files hold what the calls were given; they are readable by their owner alone. The directory must
 * lie outside of what the workspace reaches.
 *
 * @example
 * const workspace = await createWorkspace({ backend: nodeBackend('.'), policy: 'supervised', parked: directoryParking('../waiting') })
 */
export function directoryParking(directory: string): DirectoryParking {
  const place = resolve(directory)
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const fileOf = (id: string) => join(place, `${createHash('sha256').update(id).digest('hex')}.json`)

  return {
    directory: place,
    list() {
      const calls: ParkedCall[] = []
      for (const name of readdirSync(place)) {
        if (name.endsWith('.json')) calls.push(...read(join(place, name)))
      }
      return calls.sort((a, b) => a.at - b.at)
    },
    put(call) {
      const temporary = join(place, `${randomBytes(12).toString('hex')}.tmp`)
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
      const taken = join(place, `${randomBytes(12).toString('hex')}.taken`)
      try {
        // Only one rename of a name can succeed.
        renameSync(fileOf(id), taken)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      try {
        return JSON.parse(readFileSync(taken, 'utf8')) as ParkedCall
      } finally {
        rmSync(taken, { force: true })
      }
    },
  }
}

/** The call in a file; none where another process has taken it by now. */
function read(file: string): ParkedCall[] {
  try {
    return [JSON.parse(readFileSync(file, 'utf8')) as ParkedCall]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
