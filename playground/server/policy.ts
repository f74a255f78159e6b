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

/** Headers for every response: cross-origin isolation, which shared memory needs, and the policy above. */
export function headersFor(path: string): Readonly<Record<string, string>> {
  const target = isPreview(path) ? 'preview' : isOutside(path) ? 'outside' : 'page'
  const ancestors = target === 'preview' ? "'self'" : "'none'"
  return {
    'Content-Security-Policy': `${contentSecurityPolicy(target)}; frame-ancestors ${ancestors}`,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}
