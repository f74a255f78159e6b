/**
 * What the page may load and reach: itself. Nothing but one worker may speak to other origins (`outside/`), and that one
 * only after the person has named them. Styles may stand in the document, since the editor and the terminal make theirs at
 * run time; they can load nothing, because images and fonts come from here only.
 */
const page: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  // WebAssembly for the interpreter of JavaScript that commands run in; nothing is ever evaluated as text.
  'script-src': "'self' 'wasm-unsafe-eval'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'worker-src': "'self'",
  'manifest-src': "'self'",
  // The frame of a WebContainer, which is made only when the person chooses that shell.
  'frame-src': 'https://stackblitz.com',
  'base-uri': "'none'",
  'form-action': "'none'",
}

/** The policy as a header's text. `outside` is that of the one worker that may speak to other origins. */
export function contentSecurityPolicy(of: 'page' | 'outside' = 'page'): string {
  const directives = of === 'page' ? page : { ...page, 'connect-src': "'self' https: http:" }
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')
}

/** The one script that may speak to other origins, by the name that the build gives it. */
const isOutside = (path: string): boolean => /(^|\/)outside-worker[^/]*\.js$/.test(path)

/** What every answer says: isolated from other origins, so that shared memory may be had, and held by the policy above. */
export function headersFor(path: string): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': `${contentSecurityPolicy(isOutside(path) ? 'outside' : 'page')}; frame-ancestors 'none'`,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}
