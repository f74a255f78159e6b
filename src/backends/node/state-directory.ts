import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { ToolError } from '../../errors.ts'
import { sha256Text } from '../../files/hash/sha256.ts'
import type { Path } from '../../paths/logical-path.ts'
import { fill } from './read-content.ts'
import type { Root } from './root.ts'
import { type TempPrefix, tempName, tempPrefix } from './temp-names.ts'

/** A temporary file: the directory it is in and its name. */
export type Temp = readonly [home: Path, name: string]

/**
 * What a backend keeps outside its root: lock, journal, and a log of temporary names. One directory for each root, the
 * same in every process. One opening of it has an id, under which its claim, log and socket are found.
 */
export interface StateDirectory {
  readonly id: string
  readonly prefix: TempPrefix
  /** The place of a file in the directory, short enough for a socket where the platform can make it so. */
  at(name: string): string
  nextTemp(home: Path): Temp
  /**
   * Makes the file that says that this opening exists. Only once it can be seen to be alive: whoever finds the claim of
   * one that is not takes it for dead.
   */
  claim(): void
  /** Notes the temporaries that a commit is about to make; they are removed after a kill. */
  log(temps: readonly Temp[]): void
  /** Notes those that are left once it is over; that this cannot be noted is no failure of what was done. */
  logLeft(temps: readonly Temp[]): void
  /** The journal's text, or undefined if there is none that is whole. */
  readJournal(): string | undefined
  /** Whether anything at all is in the journal. */
  hasJournal(): boolean
  writeJournal(text: string, durable: boolean): void
  clearJournal(durable: boolean): void
  close(): void
}

/**
 * Where the state of a root lives: `<stateDir>/<sha256 of the root's path and inode>`. The device number is left out, as
 * many change with each boot. Nothing is created.
 *
 * @throws TypeError if it would lie inside the root, where tools could reach it
 */
export function statePath(root: Root, stateDir: string | undefined): string {
  const base = physicalOf(resolve(stateDir ?? defaultStateDir()))
  const path = join(base, sha256Text(`${root.physical}\0${root.ino}`).slice(0, 32))
  const below = relative(root.physical, path)
  if (below !== '..' && !below.startsWith(`..${sep}`) && !/^[a-z]:/i.test(below)) {
    throw new TypeError('node(): the state directory lies inside the root; give a stateDir outside of it')
  }
  return path
}

/** Makes or opens the directory, and in it the log of this opening and the journal. */
export function openState(path: string): StateDirectory {
  makePrivate(path)
  const id = randomBytes(16).toString('hex')
  const prefix = tempPrefix(id)
  // Windows opens no directories.
  const directory = process.platform === 'win32' ? -1 : openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  const at = statePaths(path, directory)
  const opened = directory === -1 ? [] : [directory]
  try {
    const logFile = openSync(at(`log-${id}`), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
    opened.push(logFile)
    const journal = openSync(at('journal'), constants.O_RDWR | constants.O_CREAT, 0o600)
    opened.push(journal)
    let count = 0
    let logged = 0
    const log = (temps: readonly Temp[]) => {
      if (temps.length === 0 && logged === 0) return
      // The page cache outlives a kill; a power cut is met by looking for the prefix.
      const record = Buffer.from(`${temps.length === 0 ? '' : JSON.stringify(temps)}\n`)
      writeWhole(logFile, record, 0)
      logged = temps.length
    }
    return {
      id,
      prefix,
      at,
      nextTemp: (home) => [home, tempName(prefix, count++)],
      claim() {
        const claim = openSync(at(`claim-${id}`), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
        try {
          writeWhole(claim, Buffer.from(`${id}\n${bootId()}\n${process.pid}\n`), 0)
          // From here on whoever comes after a power cut knows which names were ours.
          fsyncSync(claim)
        } finally {
          closeSync(claim)
        }
        if (directory !== -1) fsyncSync(directory)
      },
      log,
      logLeft(temps) {
        try {
          log(temps)
        } catch {
          // The names that are noted are never used again.
        }
      },
      readJournal: () => unseal(readFrom(journal)),
      hasJournal: () => fstatSync(journal).size > 0,
      writeJournal(text, durable) {
        ftruncateSync(journal, 0)
        writeWhole(journal, Buffer.from(seal(text)), 0)
        if (durable) fsyncSync(journal)
      },
      clearJournal(durable) {
        ftruncateSync(journal, 0)
        if (durable) fsyncSync(journal)
      },
      close() {
        for (const fd of opened) closeSync(fd)
      },
    }
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    throw error
  }
}

/** How files in a state directory are reached; a socket's path must be short. */
export function statePaths(path: string, directory: number): (name: string) => string {
  return process.platform === 'linux' && directory !== -1
    ? (name) => `/proc/self/fd/${directory}/${name}`
    : (name) => join(path, name)
}

/** The temporaries of a log's text. A torn record was never acted on. */
export function parseLog(text: string): Temp[] {
  const line = text.slice(0, text.indexOf('\n'))
  if (line === '') return []
  try {
    return JSON.parse(line) as Temp[]
  } catch {
    return []
  }
}

/** Which boot of the machine this is: another one means that the page cache was lost in between. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}

/** Writes all of it, however little the system takes at once. */
export function writeWhole(fd: number, bytes: Uint8Array, position: number | null): void {
  let done = 0
  while (done < bytes.length) {
    const count = writeSync(fd, bytes, done, bytes.length - done, position === null ? null : position + done)
    if (count <= 0) throw Object.assign(new Error('short write'), { code: 'ENOSPC' })
    done += count
  }
}

function defaultStateDir(): string {
  const { XDG_STATE_HOME: xdg, LOCALAPPDATA: local } = process.env
  if (process.platform === 'win32' && local) return join(local, 'wardspace')
  // The specification has relative ones ignored.
  return join(xdg?.startsWith('/') ? xdg : join(homedir(), '.local', 'state'), 'wardspace')
}

/** The path with the links in its existing part resolved. */
export function physicalOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const parent = dirname(path)
    /* v8 ignore next -- @preserve: only a drive that is not there has none above it */
    return parent === path ? path : join(physicalOf(parent), basename(path))
  }
}

/** Nobody but us may look or write here: whoever can, can make us delete and rename below the root. */
function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (process.platform === 'win32') return
  const stats = lstatSync(path)
  if (!stats.isDirectory() || stats.uid !== process.geteuid?.()) {
    throw new ToolError('BACKEND_ERROR', 'Cannot commit: the state directory belongs to another user', {
      hint: 'Tell the person in charge to give another stateDir.',
    })
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(path, 0o700)
}

function readFrom(fd: number): string {
  const bytes = Buffer.alloc(fstatSync(fd).size)
  return bytes.subarray(0, fill(fd, bytes, 0)).toString('utf8')
}

function seal(text: string): string {
  return `${sha256Text(text)}\n${text}`
}

function unseal(text: string): string | undefined {
  const body = text.slice(65)
  return text.length > 65 && text.slice(0, 64) === sha256Text(body) ? body : undefined
}
