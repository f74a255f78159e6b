import { codedError } from './host.js'
import { path } from './path.js'

const filePattern = /^file:\/\/\//

/** File URLs only: what scripts make of `import.meta.url`. */
class FileUrl {
  /** @param {string} path */
  constructor(path) {
    this.protocol = 'file:'
    this.pathname = path.split('/').map(encodeURIComponent).join('/')
    this.href = `file://${this.pathname}`
  }

  toString() {
    return this.href
  }

  toJSON() {
    return this.href
  }
}

export class URL extends FileUrl {
  /**
   * @param {unknown} url
   * @param {unknown} [base]
   */
  constructor(url, base) {
    super(filePath(String(url), base === undefined ? undefined : String(base)))
  }
}

/**
 * Returns the path of a file URL, or of a relative reference to one.
 *
 * @param {string} url
 * @param {string | undefined} base
 */
function filePath(url, base) {
  if (filePattern.test(url)) return decodeURIComponent(url.slice(7))
  if (base === undefined || !filePattern.test(base) || /^[a-z][a-z0-9+.-]*:/i.test(url)) {
    throw codedError(TypeError, 'ERR_INVALID_URL', `Only file URLs are available in this shell: ${url}`)
  }
  const from = decodeURIComponent(base.slice(7))
  return path.normalize(url.startsWith('/') ? url : from.slice(0, from.lastIndexOf('/') + 1) + url)
}

/** @param {string | { href: string }} url */
export function fileURLToPath(url) {
  const text = typeof url === 'string' ? url : url.href
  if (!filePattern.test(text)) {
    throw codedError(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file')
  }
  return decodeURIComponent(text.slice(7).replace(/[?#].*$/, ''))
}

/** The module `url`. */
export const urlModule = {
  fileURLToPath,
  /** @param {string} file */
  pathToFileURL: (file) => new FileUrl(path.resolve(file)),
  URL,
}
