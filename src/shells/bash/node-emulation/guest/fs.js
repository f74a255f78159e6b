/** @import { EntryType, HostStat } from './host-functions.d.ts' */
import { Buffer, bytesOf } from './buffer.js'
import { callHost, codedError, readInput, systemError, writeFile, writeOutput } from './host.js'
import { inspect } from './inspect.js'
import { path as pathModule } from './path.js'
import { setImmediate } from './timers.js'
import { fileURLToPath } from './url.js'

/**
 * @typedef {string | Uint8Array | { href: string }} PathLike
 * @typedef {{ encoding?: string | null, flag?: string }} FileOptions
 * @typedef {string | FileOptions | null} Encoding
 */

/** What `Stats` and `Dirent` have in common. */
class Entry {
  #type

  /** @param {EntryType} type */
  constructor(type) {
    this.#type = type
  }

  isFile() {
    return this.#type === 'file'
  }

  isDirectory() {
    return this.#type === 'directory'
  }

  isSymbolicLink() {
    return this.#type === 'link'
  }
}

class Stats extends Entry {
  /** @param {HostStat} stat */
  constructor({ type, size, mode, mtimeMs }) {
    super(type)
    const mtime = new Date(mtimeMs)
    this.size = size
    this.mode = mode
    this.mtimeMs = mtimeMs
    this.mtime = mtime
    this.atimeMs = this.ctimeMs = this.birthtimeMs = mtimeMs
    this.atime = this.ctime = this.birthtime = mtime
    this.dev = 0
    this.ino = 0
    this.nlink = 1
    this.uid = 0
    this.gid = 0
  }

  isFIFO() {
    return false
  }

  isSocket() {
    return false
  }

  isBlockDevice() {
    return false
  }

  isCharacterDevice() {
    return false
  }
}

class Dirent extends Entry {
  /**
   * @param {string} name
   * @param {EntryType} type
   * @param {string} parent
   */
  constructor(name, type, parent) {
    super(type)
    this.name = name
    this.parentPath = parent
    this.path = parent
  }
}

/**
 * @param {string} name
 * @param {string} type
 * @param {unknown} value
 */
function wrongArgument(name, type, value) {
  const message = `The "${name}" argument must be of type ${type}. Received ${inspect(value)}`
  return codedError(TypeError, 'ERR_INVALID_ARG_TYPE', message)
}

/** @param {unknown} path */
function absolutePath(path) {
  let text = path
  if (path && typeof path === 'object' && 'href' in path && typeof path.href === 'string') {
    text = fileURLToPath(path.href)
  } else if (path instanceof Uint8Array) text = Buffer.from(path).toString()
  if (typeof text !== 'string') throw wrongArgument('path', 'string or an instance of Buffer or URL', path)
  return pathModule.resolve(text)
}

/** @param {Encoding} [options] */
const encodingOf = (options) => (typeof options === 'string' ? options : options?.encoding)

/**
 * @param {unknown} data
 * @param {string | null} [encoding]
 */
function bytesToWrite(data, encoding) {
  if (typeof data === 'string') return bytesOf(Buffer.from(data, encoding))
  if (ArrayBuffer.isView(data)) return bytesOf(data)
  throw wrongArgument('data', 'string or an instance of Buffer, TypedArray, or DataView', data)
}

/** @param {'stat' | 'lstat'} operation */
function statBy(operation) {
  /**
   * @param {PathLike} path
   * @param {{ throwIfNoEntry?: boolean }} [options]
   */
  return (path, options) => {
    try {
      return new Stats(callHost(operation, [absolutePath(path)]))
    } catch (error) {
      const { code } = /** @type {{ code?: string }} */ (error)
      if (options?.throwIfNoEntry === false && code === 'ENOENT') return undefined
      throw error
    }
  }
}

/**
 * @param {string} directory
 * @param {string} prefix of the names
 * @param {{ withFileTypes?: boolean, recursive?: boolean }} options
 * @returns {(string | Dirent)[]}
 */
function entriesOf(directory, prefix, options) {
  return callHost('readdir', [directory]).flatMap(({ name, type }) => {
    const entry = options.withFileTypes ? new Dirent(name, type, directory) : prefix + name
    if (!options.recursive || type !== 'directory') return [entry]
    return [entry, ...entriesOf(`${directory}/${name}`, `${prefix}${name}/`, options)]
  })
}

/** The functions of `fs`, from which the synchronous, the promised and the callback forms are made. */
const operations = {
  /**
   * @param {PathLike | 0} path
   * @param {Encoding} [options]
   */
  readFile(path, options) {
    const isInput = path === 0 || path === '/dev/stdin'
    const bytes = isInput
      ? Buffer.concat(readInput().map((part) => Buffer.from(part)))
      : Buffer.from(callHost('read', [absolutePath(path)]))
    const encoding = encodingOf(options)
    return encoding && encoding !== 'buffer' ? bytes.toString(encoding) : bytes
  },
  /**
   * @param {PathLike | 1 | 2} path
   * @param {string | Uint8Array} data
   * @param {Encoding} [options]
   */
  writeFile(path, data, options) {
    if (path === 1 || path === 2) {
      writeOutput(path, typeof data === 'string' ? data : Buffer.from(data).toString())
      return
    }
    const flag = typeof options === 'object' ? options?.flag : undefined
    if (flag?.includes('x') && operations.exists(path)) {
      const message = `EEXIST: file already exists, open '${path}'`
      throw systemError({ message, code: 'EEXIST', syscall: 'open', path: String(path) })
    }
    writeFile(absolutePath(path), bytesToWrite(data, encodingOf(options)), flag?.startsWith('a') === true)
  },
  /**
   * @param {PathLike} path
   * @param {string | Uint8Array} data
   * @param {Encoding} [options]
   */
  appendFile(path, data, options) {
    writeFile(absolutePath(path), bytesToWrite(data, encodingOf(options)), true)
  },
  /** @param {PathLike} path */
  exists(path) {
    try {
      callHost('access', [absolutePath(path)])
      return true
    } catch {
      return false
    }
  },
  /** @param {PathLike} path */
  access(path) {
    callHost('access', [absolutePath(path)])
  },
  stat: statBy('stat'),
  lstat: statBy('lstat'),
  /**
   * @param {PathLike} path
   * @param {string | { withFileTypes?: boolean, recursive?: boolean } | null} [options]
   */
  readdir(path, options) {
    return entriesOf(absolutePath(path), '', typeof options === 'object' && options !== null ? options : {})
  },
  /**
   * @param {PathLike} path
   * @param {number | string | { recursive?: boolean }} [options]
   */
  mkdir(path, options) {
    const isDeep = typeof options === 'object' && options?.recursive === true
    return callHost('mkdir', [absolutePath(path), isDeep]) || undefined
  },
  /** @param {string} prefix */
  mkdtemp(prefix) {
    for (;;) {
      const path = prefix + Math.random().toString(36).slice(2, 8).padEnd(6, 'x')
      if (operations.exists(path)) continue
      operations.mkdir(path, { recursive: true })
      return path
    }
  },
  /**
   * @param {PathLike} path
   * @param {{ recursive?: boolean, force?: boolean }} [options]
   */
  rm(path, options) {
    callHost('rm', [absolutePath(path), Boolean(options?.recursive), Boolean(options?.force)])
  },
  /**
   * @param {PathLike} path
   * @param {{ recursive?: boolean }} [options]
   */
  rmdir(path, options) {
    callHost('rmdir', [absolutePath(path), Boolean(options?.recursive)])
  },
  /** @param {PathLike} path */
  unlink(path) {
    callHost('unlink', [absolutePath(path)])
  },
  /**
   * @param {PathLike} from
   * @param {PathLike} to
   */
  rename(from, to) {
    callHost('rename', [absolutePath(from), absolutePath(to)])
  },
  /**
   * @param {PathLike} from
   * @param {PathLike} to
   */
  copyFile(from, to) {
    callHost('copy', [absolutePath(from), absolutePath(to), false])
  },
  /**
   * @param {PathLike} from
   * @param {PathLike} to
   * @param {{ recursive?: boolean }} [options]
   */
  cp(from, to, options) {
    callHost('copy', [absolutePath(from), absolutePath(to), Boolean(options?.recursive)])
  },
  /**
   * @param {string} target
   * @param {PathLike} path
   */
  symlink(target, path) {
    callHost('symlink', [target, absolutePath(path)])
  },
  /** @param {PathLike} path */
  readlink: (path) => callHost('readlink', [absolutePath(path)]),
  /** @param {PathLike} path */
  realpath: (path) => callHost('realpath', [absolutePath(path)]),
  /**
   * @param {PathLike} path
   * @param {string | number} mode
   */
  chmod(path, mode) {
    callHost('chmod', [absolutePath(path), typeof mode === 'string' ? Number.parseInt(mode, 8) : mode])
  },
  /**
   * Keeps the times as they are.
   *
   * @param {PathLike} path
   */
  utimes(path) {
    callHost('access', [absolutePath(path)])
  },
  /**
   * @param {PathLike} path
   * @param {number} [length]
   */
  truncate(path, length = 0) {
    const whole = Buffer.alloc(length)
    whole.set(Buffer.from(operations.readFile(path)).subarray(0, length))
    operations.writeFile(path, whole)
  },
}

/** @typedef {(...args: unknown[]) => unknown} AnyFunction */

const missing = [
  'createReadStream',
  'createWriteStream',
  'watch',
  'watchFile',
  'openSync',
  'open',
  'readSync',
  'writeSync',
  'closeSync',
  'opendirSync',
]
const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 }

/** Node's module `fs/promises`. @type {Record<string, unknown>} */
export const promises = { constants }

/** Node's module `fs`: each operation with a callback, and synchronously under its name with `Sync`. */
export const fs = {
  constants,
  Stats,
  Dirent,
  promises,
  // The operations that modules here call; all are added below.
  statSync: operations.stat,
}

for (const [name, operation] of Object.entries(operations)) {
  const run = /** @type {AnyFunction} */ (operation)
  Object.assign(fs, { [`${name}Sync`]: run, [name]: withCallback(name, run) })
  if (name !== 'exists') promises[name] = async (/** @type {unknown[]} */ ...args) => run(...args)
}
for (const name of missing) {
  Object.assign(fs, {
    [name]() {
      throw codedError(Error, 'ERR_NOT_AVAILABLE', `fs.${name} is not available in this shell`)
    },
  })
}

/**
 * @param {string} name
 * @param {AnyFunction} run
 * @returns {AnyFunction}
 */
function withCallback(name, run) {
  return (...args) => {
    const done = args.pop()
    if (typeof done !== 'function') throw wrongArgument('cb', 'function', done)
    /** @type {unknown[]} */
    let results
    try {
      const value = run(...args)
      results = name === 'exists' ? [value] : [null, value]
    } catch (error) {
      results = [error]
    }
    setImmediate(() => done(...results))
  }
}
