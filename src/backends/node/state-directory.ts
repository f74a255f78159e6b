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
 * The files of a backend outside its root: lock, journal and a log of temporary names. One directory per root, shared by
 * all processes. Each opening has an id, which names its claim, log and socket.
 */
export interface StateDirectory {
  readonly id: string
  readonly prefix: TempPrefix
  /** Returns the physical path of a file in the directory, short enough for a socket if the platform allows. */
  at(name: string): string
  nextTemp(home: Path): Temp
  /**
   * Creates the claim file, which says that this opening exists. Call it once the socket listens: other processes treat
   * a claim without a socket as dead.
   */
  claim(): void
  /** Logs the temporary files that a commit is about to create, so that they are removed after a kill. */
  log(temps: readonly Temp[]): void
  /** Logs a temporary file that stays through the commits to come. Call it before the file is created. */
  hold(temp: Temp): void
  /** Ends `hold`, once the file is gone or belongs to a commit, which has logged it. */
  release(temp: Temp): void
  /** Logs the temporary files that remain after a commit. Errors are ignored: the commit is done. */
  logLeft(temps: readonly Temp[]): void
  /** Returns the text of the journal, or undefined if it is empty or incomplete. */
  readJournal(): string | undefined
  /** Whether the journal is not empty. */
  hasJournal(): boolean
  writeJournal(text: string, durable: boolean): void
  clearJournal(durable: boolean): void
  close(): void
}

/**
 * Returns the state directory of a root: `<stateDir>/<sha256 of the path and inode of the root>`. The device number is not
 * part of it, because many change with each boot. Creates nothing.
 *
 * @throws TypeError if it is inside the root, where tools could reach it
 */
export function statePath(root: Root, stateDir: string | undefined): string {
  const base = physicalOf(resolve(stateDir ?? defaultStateDir()))
  const path = join(base, sha256Text(`${root.physical}\0${root.ino}`).slice(0, 32))
  const below = relative(root.physical, path)
  if (below !== '..' && !below.startsWith(`..${sep}`) && !/^[a-z]:/i.test(below)) {
    throw new TypeError(
      'nodeBackend(): the state directory is inside the root; set stateDir to a directory outside of it',
    )
  }
  return path
}

/** Creates or opens the directory, the log of this opening and the journal. */
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
    const log = openLog(logFile)
    return {
      id,
      prefix,
      at,
      nextTemp: (home) => [home, tempName(prefix, count++)],
      claim() {
        const claim = openSync(at(`claim-${id}`), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
        try {
          writeWhole(claim, Buffer.from(`${id}\n${bootId()}\n${process.pid}\n`), 0)
          // From here on, recovery after a power cut knows the prefix of this opening.
          fsyncSync(claim)
        } finally {
          closeSync(claim)
        }
        if (directory !== -1) fsyncSync(directory)
      },
      ...log,
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

/** Writes the log of temporary files: one record, with those of the commit and those that stay through commits. */
function openLog(file: number): Pick<StateDirectory, 'log' | 'logLeft' | 'hold' | 'release'> {
  let logged = 0
  let current: readonly Temp[] = []
  const held = new Set<Temp>()
  const log = (temps: readonly Temp[]) => {
    current = temps
    const all = [...held, ...temps]
    if (all.length === 0 && logged === 0) return
    // The page cache survives a kill. After a power cut, temporary files are found by their prefix.
    const record = Buffer.from(`${all.length === 0 ? '' : JSON.stringify(all)}\n`)
    writeWhole(file, record, 0)
    logged = all.length
  }
  const logLeft = (temps: readonly Temp[]) => {
    try {
      log(temps)
    } catch {
      // Logged names are never reused.
    }
  }
  return {
    log,
    logLeft,
    hold(temp) {
      held.add(temp)
      try {
        log(current)
      } catch (error) {
        held.delete(temp)
        throw error
      }
    },
    release(temp) {
      if (held.delete(temp)) logLeft(current)
    },
  }
}

/** Returns how files in a state directory are addressed. Socket paths must be short. */
export function statePaths(path: string, directory: number): (name: string) => string {
  return process.platform === 'linux' && directory !== -1
    ? (name) => `/proc/self/fd/${directory}/${name}`
    : (name) => join(path, name)
}

/** Parses the temporary files of a log. A torn record was never acted on. */
export function parseLog(text: string): Temp[] {
  const line = text.slice(0, text.indexOf('\n'))
  if (line === '') return []
  try {
    return JSON.parse(line) as Temp[]
  } catch {
    return []
  }
}

/** Returns the id of the current boot. A different id means that the page cache was lost. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}

/** Writes all bytes, in as many calls as the system needs. */
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
  // The XDG specification says to ignore relative paths.
  return join(xdg?.startsWith('/') ? xdg : join(homedir(), '.local', 'state'), 'wardspace')
}

/** Resolves the links in the existing part of a path. */
export function physicalOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const parent = dirname(path)
    /* v8 ignore next -- @preserve: only a drive that is not there has none above it */
    return parent === path ? path : join(physicalOf(parent), basename(path))
  }
}

/** Makes the directory private: who can write here can make this process delete and rename below the root. */
function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (process.platform === 'win32') return
  const stats = lstatSync(path)
  if (!stats.isDirectory() || stats.uid !== process.geteuid?.()) {
    throw new ToolError('BACKEND_ERROR', 'Cannot commit: the state directory belongs to another user', {
      hint: 'Ask the user to set another stateDir.',
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
