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
  // The frame of a WebContainer, created only when the person chooses that shell.
  'frame-src': 'https://stackblitz.com',
  'base-uri': "'none'",
  'form-action': "'none'",
}

/** Returns the policy as a header value. `outside` is for the worker that may reach other origins. */
export function contentSecurityPolicy(target: 'page' | 'outside' = 'page'): string {
  const directives = target === 'page' ? page : { ...page, 'connect-src': "'self' https: http:" }
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')
}

/** Recognizes the script that may reach other origins by its name in the build. */
const isOutside = (path: string): boolean => /(^|\/)outside-worker[^/]*\.js$/.test(path)

/** Headers for every response: cross-origin isolation, which shared memory needs, and the policy above. */
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
