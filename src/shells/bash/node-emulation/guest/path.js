import { codedError } from './host.js'
import { inspect } from './inspect.js'
import { process } from './process.js'

/** @param {unknown} path */
function requireString(path) {
  if (typeof path === 'string') return
  const message = `The "path" argument must be of type string. Received ${inspect(path)}`
  throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', message)
}

/** @param {string} path */
function normalizeSegments(path) {
  if (path === '') return '.'
  const isAbsolute = path.startsWith('/')
  const isDirectory = path.endsWith('/')
  /** @type {string[]} */
  const segments = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..' && segments.length > 0 && segments.at(-1) !== '..') segments.pop()
    else if (segment !== '..' || !isAbsolute) segments.push(segment)
  }
  const text = segments.join('/')
  if (text === '' && !isAbsolute) return isDirectory ? './' : '.'
  return (isAbsolute ? '/' : '') + text + (isDirectory && text !== '' ? '/' : '')
}

/** Node's module `path`, POSIX only. */
export const path = {
  sep: '/',
  delimiter: ':',
  /** @param {string} path */
  normalize(path) {
    requireString(path)
    return normalizeSegments(path)
  },
  /** @param {string} path */
  isAbsolute(path) {
    requireString(path)
    return path.startsWith('/')
  },
  /** @param {string[]} parts */
  join(...parts) {
    parts.forEach(requireString)
    const text = parts.filter((part) => part !== '').join('/')
    return text === '' ? '.' : normalizeSegments(text)
  },
  /** @param {string[]} parts */
  resolve(...parts) {
    let whole = ''
    for (let i = parts.length - 1; i >= 0 && !whole.startsWith('/'); i--) {
      requireString(parts[i])
      if (parts[i] !== '') whole = parts[i] + (whole === '' ? '' : `/${whole}`)
    }
    if (!whole.startsWith('/')) whole = process.cwd() + (whole === '' ? '' : `/${whole}`)
    whole = normalizeSegments(whole)
    return whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole
  },
  /**
   * @param {string} from
   * @param {string} to
   */
  relative(from, to) {
    const a = path.resolve(from).split('/').filter(Boolean)
    const b = path.resolve(to).split('/').filter(Boolean)
    let common = 0
    while (common < a.length && common < b.length && a[common] === b[common]) common++
    return [...a.slice(common).map(() => '..'), ...b.slice(common)].join('/')
  },
  /** @param {string} path */
  dirname(path) {
    requireString(path)
    const text = path.replace(/\/+$/, '')
    const slash = text.lastIndexOf('/')
    if (text === '') return path.startsWith('/') ? '/' : '.'
    return slash === -1 ? '.' : text.slice(0, slash).replace(/\/+$/, '') || '/'
  },
  /**
   * @param {string} path
   * @param {string} [suffix]
   */
  basename(path, suffix) {
    requireString(path)
    const name = /** @type {string} */ (path.replace(/\/+$/, '').split('/').pop())
    return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
  },
  /** @param {string} name */
  extname(name) {
    requireString(name)
    const base = path.basename(name)
    const dot = base.lastIndexOf('.')
    return dot <= 0 ? '' : base.slice(dot)
  },
  /** @param {string} name */
  parse(name) {
    const base = path.basename(name)
    const ext = path.extname(name)
    return {
      root: name.startsWith('/') ? '/' : '',
      dir: name.includes('/') ? path.dirname(name) : '',
      base,
      ext,
      name: ext ? base.slice(0, -ext.length) : base,
    }
  },
  /** @param {{ root?: string, dir?: string, base?: string, name?: string, ext?: string }} parts */
  format(parts) {
    const base = parts.base || (parts.name || '') + (parts.ext || '')
    const dir = parts.dir || parts.root
    if (!dir) return base
    return dir === parts.root ? dir + base : `${dir}/${base}`
  },
  /** @param {string} path */
  toNamespacedPath: (path) => path,
}
Object.assign(path, { posix: path })
