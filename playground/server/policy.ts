/**
 * The page may load and reach only its own origin. Other origins are reached by one worker only (`outside/`), after the
 * person has named them. Inline styles are allowed, since the editor and the terminal create theirs at run time. Styles
 * cannot load anything else, because images and fonts come from this origin only.
 */
const page: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  // WebAssembly for the JavaScript interpreter of commands. No code is evaluated from text.
  'script-src': "'self' 'wasm-unsafe-eval'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'worker-src': "'self'",
  'manifest-src': "'self'",
  // The preview, and the frame of a WebContainer, which is created only when the person chooses that shell.
  'frame-src': "'self' https://stackblitz.com",
  'base-uri': "'none'",
  'form-action': "'none'",
}

/**
 * The document of the preview, whose policy the sandbox within it inherits: what is in the page of the project runs, and
 * nothing else is loaded, not even from this origin. Its only own script is in the document.
 */
const preview: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'unsafe-inline' 'unsafe-eval' data: blob:",
  'style-src': "'unsafe-inline' data:",
  'img-src': 'data: blob:',
  'font-src': 'data:',
  'media-src': 'data: blob:',
  'worker-src': 'blob: data:',
  // Modules of JSON, which are in the page too.
  'connect-src': 'data: blob:',
  // For the browser's own view of a PDF.
  'frame-src': 'blob:',
  'object-src': 'blob:',
  'base-uri': "'none'",
  'form-action': "'none'",
}

/** Returns the policy as a header value. `outside` is for the worker that may reach other origins. */
export function contentSecurityPolicy(target: 'page' | 'outside' | 'preview' = 'page'): string {
  const outside = { ...page, 'connect-src': "'self' https: http:" }
  const directives = { page, preview, outside }[target]
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')
}

/** Recognizes the script that may reach other origins by its name in the build. */
const isOutside = (path: string): boolean => /(^|\/)outside-worker[^/]*\.js$/.test(path)

/** Recognizes the document that shows pages of the project. */
export const isPreview = (path: string): boolean => /(^|\/)preview\.html$/.test(path)

/**
 * Reads the origins that may show the page in a frame, separated by spaces.
 *
 * @throws TypeError for anything else than origins of https, or of http on this machine
 */
export function readOrigins(text: string): string {
  for (const origin of text.split(/\s+/).filter((one) => one !== '')) {
    const url = URL.parse(origin)
    const isLocal = url?.protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
    const isPlain = /^[\w.:/[\]-]+$/.test(origin)
    if (url?.origin !== origin || !isPlain || (url.protocol !== 'https:' && !isLocal))
      throw new TypeError(`Cannot be framed by "${origin}": write an origin, such as https://example.org`)
  }
  return text.trim().replace(/\s+/g, ' ')
}

/** Returns the origins that a response allows to show it in a frame, as {@link readOrigins} does. */
export function originsOf(policy: string | null): string {
  const [, ancestors = ''] = /frame-ancestors ([^;,]*)/.exec(policy ?? '') ?? []
  return ancestors.replace(/'(?:none|self)' ?/g, '')
}

/**
 * Headers for every response: cross-origin isolation, which shared memory needs, and the policy above.
 *
 * @param framedBy the origins that may show the page in a frame. None by default.
 */
export function headersFor(path: string, framedBy = ''): Readonly<Record<string, string>> {
  const target = isPreview(path) ? 'preview' : isOutside(path) ? 'outside' : 'page'
  // The preview is a frame of the page, and all frames around it count.
  const isFramed = framedBy !== '' && /(?:\/|\.html)$/.test(path)
  const ancestors = target === 'preview' ? `'self' ${framedBy}`.trim() : framedBy || "'none'"
  return {
    'Content-Security-Policy': `${contentSecurityPolicy(target)}; frame-ancestors ${ancestors}`,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    // A page with this embedder policy shows frames of other origins only if they agree.
    'Cross-Origin-Resource-Policy': isFramed ? 'cross-origin' : 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}
