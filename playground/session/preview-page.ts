import { classifyPath } from '../../src/files/classify/index.ts'
import type { LogicalPath } from '../../src/paths/logical-path.ts'
import inner from '../preview/inner.js?raw'
import { toBase64 } from '../projects/base64.ts'
import { mediaTypeOf } from './preview-kind.ts'

/** Returns a file of the project, or undefined when it does not exist. */
export type ReadFile = (path: string) => Promise<Uint8Array | undefined>

/** Bytes that a preview holds at most. */
const MAX_BYTES = 30 * 1024 * 1024
/** What a file counts at least. */
const MIN_BYTES = 1024

/**
 * Returns a page of the project as one document: with its scripts, modules, styles, images and fonts in it, since the frame
 * that shows it has no network and nobody's origin. Files that may hold secrets are not in it: an agent may have written the page.
 */
export async function previewPage(path: string, html: string, read: ReadFile): Promise<string> {
  const readShown: ReadFile = async (file) => (classifyPath(file as LogicalPath).redacted ? undefined : read(file))
  return new PageBuilder(path, readShown).build(html)
}

/** Returns the path in the project that an address names; undefined for an address of the web. */
export function resolvePath(address: string, from: string): string | undefined {
  if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(address)) return undefined
  const [plain = ''] = address.split(/[?#]/)
  const names = plain.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const name of plain.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(decoded(name))
  }
  return names.join('/')
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** The attributes that load a file, by selector. */
const sources: readonly (readonly [selector: string, attribute: string])[] = [
  ['img[src], audio[src], video[src], source[src], track[src], input[type="image"][src], embed[src]', 'src'],
  ['video[poster]', 'poster'],
  ['link[rel~="icon"][href], image[href]', 'href'],
]

/** The specifier of each import and export of a module, if it names a file. */
const IMPORTS =
  /(\bimport(?:(?:(?!\bimport\b)[\w$*{}\s,]){0,4000}?\bfrom)?\s*|\bexport\s*(?:\*(?:\s*as\s+[\w$]+)?|\{[^{}]*\})\s*from\s*|\bimport\s*\(\s*)(["'])(\.{0,2}\/[^"'\n]+)\2/g

/** Where modules find each other: names that only the import map of the page knows. */
const MODULE = 'project:/'

class PageBuilder {
  readonly #path: string
  readonly #read: ReadFile
  readonly #modules = new Map<string, string>()
  #bytes = 0

  constructor(path: string, read: ReadFile) {
    this.#path = path
    this.#read = read
  }

  async build(html: string): Promise<string> {
    const page = new DOMParser().parseFromString(html, 'text/html')
    for (const element of page.querySelectorAll('base, meta[http-equiv="refresh" i]')) element.remove()
    for (const [selector, attribute] of sources) {
      for (const element of page.querySelectorAll(selector)) await this.#inlineAttribute(element, attribute)
    }
    for (const element of page.querySelectorAll('[srcset]')) element.removeAttribute('srcset')
    for (const link of page.querySelectorAll('link[rel~="stylesheet"][href]')) await this.#inlineStylesheet(link)
    for (const style of page.querySelectorAll('style')) {
      style.textContent = await this.#css(style.textContent ?? '', this.#path)
    }
    for (const element of page.querySelectorAll('[style*="url("]')) {
      element.setAttribute('style', await this.#css(element.getAttribute('style') ?? '', this.#path))
    }
    for (const script of page.querySelectorAll('script')) await this.#inlineScript(script)
    this.#addHead(page)
    return `<!doctype html>\n${page.documentElement.outerHTML}`
  }

  #addHead(page: Document): void {
    const noPrefetch = page.createElement('meta')
    noPrefetch.httpEquiv = 'x-dns-prefetch-control'
    noPrefetch.content = 'off'
    const own = page.createElement('script')
    own.textContent = inner
    const map = page.createElement('script')
    map.type = 'importmap'
    map.textContent = JSON.stringify({ imports: Object.fromEntries(this.#modules) })
    page.head.prepend(noPrefetch, own, ...(this.#modules.size === 0 ? [] : [map]))
  }

  async #inlineAttribute(element: Element, attribute: string): Promise<void> {
    const url = await this.#dataUrl(element.getAttribute(attribute) ?? '', this.#path)
    if (url !== undefined) element.setAttribute(attribute, url)
  }

  async #inlineStylesheet(link: Element): Promise<void> {
    const path = resolvePath(link.getAttribute('href') ?? '', this.#path)
    const css = path === undefined ? undefined : await this.#text(path)
    if (css === undefined || path === undefined) return
    const style = link.ownerDocument.createElement('style')
    const media = link.getAttribute('media')
    if (media !== null) style.media = media
    style.textContent = await this.#css(css, path)
    link.replaceWith(style)
  }

  async #inlineScript(script: HTMLScriptElement): Promise<void> {
    const isModule = script.type === 'module'
    const address = script.getAttribute('src')
    if (address === null) {
      if (isModule) script.textContent = await this.#moduleText(script.textContent ?? '', this.#path)
      return
    }
    const path = resolvePath(address, this.#path)
    if (path === undefined) return
    if (isModule) {
      await this.#addModule(path)
      script.removeAttribute('src')
      script.textContent = `import ${JSON.stringify(MODULE + path)}`
    } else script.src = (await this.#dataUrl(address, this.#path)) ?? address
  }

  async #addModule(path: string): Promise<void> {
    const name = MODULE + path
    if (this.#modules.has(name)) return
    // Set first: modules may import each other in a circle.
    this.#modules.set(name, '')
    const text = await this.#text(path)
    if (text === undefined) this.#modules.delete(name)
    else if (path.endsWith('.json')) this.#modules.set(name, dataUrlOf(bytesOf(text), 'application/json'))
    else this.#modules.set(name, dataUrlOf(bytesOf(await this.#moduleText(text, path)), 'text/javascript'))
  }

  async #moduleText(text: string, from: string): Promise<string> {
    const found = [...text.matchAll(IMPORTS)].map(([, , , specifier = '']) => specifier)
    for (const specifier of new Set(found)) {
      const path = resolvePath(specifier, from)
      if (path !== undefined) await this.#addModule(path)
    }
    return text.replaceAll(IMPORTS, (_, before: string, quote: string, specifier: string) => {
      return `${before}${quote}${MODULE}${resolvePath(specifier, from)}${quote}`
    })
  }

  async #css(css: string, from: string): Promise<string> {
    const withImports = await replaceAsync(
      css,
      /@import\s+(?:url\(\s*)?["']?([^"')\s;]+)["']?\s*(?:\)\s*)?;/g,
      async (match, address) => {
        const path = resolvePath(address, from)
        const text = path === undefined || path === from ? undefined : await this.#text(path)
        return text === undefined || path === undefined ? match : this.#css(text, path)
      },
    )
    return replaceAsync(
      withImports,
      /url\(\s*(["']?)([^"'()\s](?:[^"'()]*[^"'()\s])?)\1\s*\)/g,
      async (match, _, address) => {
        const url = await this.#dataUrl(address.trim(), from)
        return url === undefined ? match : `url("${url}")`
      },
    )
  }

  async #dataUrl(address: string, from: string): Promise<string | undefined> {
    const path = resolvePath(address, from)
    const bytes = path === undefined || path === '' ? undefined : await this.#take(path)
    return bytes && dataUrlOf(bytes, mediaTypeOf(path ?? ''))
  }

  async #text(path: string): Promise<string | undefined> {
    const bytes = await this.#take(path)
    return bytes && new TextDecoder().decode(bytes)
  }

  async #take(path: string): Promise<Uint8Array | undefined> {
    const bytes = await this.#read(path)
    // Small files that load each other end too.
    this.#bytes += Math.max(bytes?.length ?? 0, MIN_BYTES)
    if (this.#bytes > MAX_BYTES) throw new Error(`The page loads more than ${MAX_BYTES >> 20} MiB of files`)
    return bytes
  }
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function dataUrlOf(bytes: Uint8Array, type: string): string {
  return `data:${type};base64,${toBase64(bytes)}`
}

async function replaceAsync(
  text: string,
  pattern: RegExp,
  replace: (match: string, ...groups: string[]) => Promise<string>,
): Promise<string> {
  const parts: string[] = []
  let from = 0
  for (const match of text.matchAll(pattern)) {
    const [whole, ...groups] = match
    parts.push(text.slice(from, match.index), await replace(whole, ...groups.map((group) => group ?? '')))
    from = match.index + whole.length
  }
  return [...parts, text.slice(from)].join('')
}
