import { refusal } from './protocol-errors.ts'

export interface AdmissionOptions {
  /** What a client has to send as `Authorization: Bearer`: at least 16 characters. Without it everyone is let in. */
  readonly token?: string | undefined
  /**
   * What `Host` may say, as `name` (with any port) or `name:port`. Default: the loopback address under its names. Whoever
   * makes a browser take a foreign name for this address does not get past it.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** From which other origins pages may ask, as `https://example.org`. Default: from none. */
  readonly allowedOrigins?: readonly string[] | undefined
}

/** Who is let in. */
export interface Admission {
  /** The answer to a request that is not let in, or to a preflight; `undefined` for any other. */
  check(request: Request): Promise<Response | undefined>
  /** The answer, readable for the page that asked, where its origin is allowed. */
  shown(request: Request, response: Response): Response
}

const loopback = ['localhost', '127.0.0.1', '[::1]']
const methods = 'GET, POST, DELETE'

/** @throws TypeError for a token that is too short or cannot be sent, and for what is no host or no origin */
export function createAdmission(options: AdmissionOptions): Admission {
  const hosts = (options.allowedHosts ?? loopback).map(hostOf)
  const origins = new Set((options.allowedOrigins ?? []).map(requireOrigin))
  const secret = options.token === undefined ? undefined : digest(requireToken(options.token))

  function isForeignPage(request: Request): boolean {
    const origin = request.headers.get('origin')
    return origin !== null && origin !== new URL(request.url).origin
  }

  return {
    async check(request) {
      const url = new URL(request.url)
      const named = request.headers.get('host') ?? url.host
      if (!hosts.some((host) => isSameHost(host, named, url.protocol))) {
        return refusal(403, `Host ${quote(named)} is not served here`, 'Use the address that the server was given.')
      }
      const origin = request.headers.get('origin')
      if (origin !== null && isForeignPage(request) && !origins.has(origin)) {
        return refusal(403, `Origin ${quote(origin)} may not ask here`, 'Have the server allow the origin by its name.')
      }
      if (request.method === 'OPTIONS' && isForeignPage(request)) return new Response(null, { status: 204 })
      if (!['GET', 'POST', 'DELETE'].includes(request.method)) {
        return refusal(405, `There is no ${request.method} here`, `Use one of ${methods}.`, {
          headers: { Allow: methods },
        })
      }
      return secret === undefined ? undefined : refuseToken(request.headers.get('authorization'), await secret)
    },
    shown(request, response) {
      const origin = request.headers.get('origin')
      if (origin === null || !origins.has(origin)) return response
      const headers = new Headers(response.headers)
      headers.set('Access-Control-Allow-Origin', origin)
      headers.append('Vary', 'Origin')
      headers.set('Access-Control-Expose-Headers', 'Mcp-Session-Id, WWW-Authenticate')
      if (request.method === 'OPTIONS') {
        headers.set('Access-Control-Allow-Methods', methods)
        headers.set(
          'Access-Control-Allow-Headers',
          'Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID',
        )
        headers.set('Access-Control-Max-Age', '600')
      }
      return new Response(response.body, { status: response.status, headers })
    },
  }
}

async function refuseToken(header: string | null, secret: Uint8Array): Promise<Response | undefined> {
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  if (given !== undefined && isEqual(await digest(given), secret)) return undefined
  const challenge = header === null ? 'Bearer' : 'Bearer error="invalid_token"'
  return refusal(
    401,
    header === null ? 'A token is required' : 'The token is not the right one',
    'Send Authorization: Bearer with the token of this server.',
    { headers: { 'WWW-Authenticate': challenge } },
  )
}

/** Hashes of one length are compared, in whole: how long it takes tells nothing about the token. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let differences = 0
  for (const [at, byte] of a.entries()) differences |= byte ^ (b[at] as number)
  return differences === 0
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

function requireToken(token: string): string {
  if (/^[A-Za-z0-9._~+/-]{16,1000}=*$/.test(token)) return token
  throw new TypeError('A token is 16 to 1,000 of A-Z a-z 0-9 . _ ~ + / -')
}

interface Host {
  readonly name: string
  /** Any, where it is left out. */
  readonly port: string | undefined
}

function hostOf(text: string): Host {
  const [, name, port] = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(text) ?? []
  if (name === undefined) throw new TypeError(`${quote(text)} is no host: write name or name:port`)
  return { name: name.toLowerCase(), port }
}

function isSameHost(allowed: Host, named: string, protocol: string): boolean {
  const colon = /:(\d+)$/.exec(named)
  const name = colon === null ? named : named.slice(0, colon.index)
  const port = colon?.[1] ?? (protocol === 'https:' ? '443' : '80')
  return name.toLowerCase() === allowed.name && (allowed.port === undefined || allowed.port === port)
}

function requireOrigin(text: string): string {
  let origin: string | undefined
  try {
    origin = new URL(text).origin
  } catch {}
  if (origin === text && origin !== 'null') return text
  throw new TypeError(`${quote(text)} is no origin: write it as https://example.org`)
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
