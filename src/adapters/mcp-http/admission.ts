import { isListOf, isText, type OptionTable } from '../../util/check-options.ts'
import { refusal } from './protocol-errors.ts'

/** Conditions under which a request is admitted. */
export interface AdmissionOptions {
  /** Token that a client must send as `Authorization: Bearer`, of at least 16 characters. Without it every client is admitted. */
  readonly token?: string | undefined
  /**
   * Allowed values of `Host`, as `name` (with any port) or `name:port`. Default: the names of the loopback address. This stops DNS
   * rebinding, where a foreign host name resolves to this address.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** Other origins whose pages may send requests, as `https://example.org`. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined
}

/** The checks of {@link AdmissionOptions}. */
export const admissionTable: OptionTable<AdmissionOptions> = {
  token: isText,
  allowedHosts: isListOf(isText),
  allowedOrigins: isListOf(isText),
}

/** Decides which requests are admitted. */
export interface Admission {
  /** Returns the response to a refused request or to a preflight, and `undefined` for an admitted request. */
  check(request: Request): Promise<Response | undefined>
  /** Adds CORS headers if the request comes from an allowed origin, so that its page can read the response. */
  withCors(request: Request, response: Response): Response
}

const loopback = ['localhost', '127.0.0.1', '[::1]']
const methods = 'GET, POST, DELETE'

/** @throws TypeError for a token that is too short or cannot be sent, and for an invalid host or origin */
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
      const requestHost = request.headers.get('host') ?? url.host
      if (!hosts.some((host) => isSameHost(host, requestHost, url.protocol))) {
        return refusal(403, `Host ${quote(requestHost)} is not served here`, 'Use an address that the server allows.')
      }
      const origin = request.headers.get('origin')
      if (origin !== null && isForeignPage(request) && !origins.has(origin)) {
        return refusal(
          403,
          `Origin ${quote(origin)} is not allowed`,
          'Add the origin to the allowed origins of the server.',
        )
      }
      if (request.method === 'OPTIONS' && isForeignPage(request)) return new Response(null, { status: 204 })
      if (!['GET', 'POST', 'DELETE'].includes(request.method)) {
        return refusal(405, `Method ${request.method} is not supported`, `Use one of ${methods}.`, {
          headers: { Allow: methods },
        })
      }
      return secret === undefined ? undefined : refuseToken(request.headers.get('authorization'), await secret)
    },
    withCors(request, response) {
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
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  if (token !== undefined && isEqual(await digest(token), secret)) return undefined
  const challenge = header === null ? 'Bearer' : 'Bearer error="invalid_token"'
  return refusal(
    401,
    header === null ? 'A token is required' : 'The token is wrong',
    'Send Authorization: Bearer with the token of this server.',
    { headers: { 'WWW-Authenticate': challenge } },
  )
}

/** Compares two hashes of the same length in constant time, so that timing reveals nothing about the token. */
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
  throw new TypeError('A token must have 16 to 1,000 characters of A-Z a-z 0-9 . _ ~ + / -')
}

interface Host {
  readonly name: string
  /** Undefined for any port. */
  readonly port: string | undefined
}

function hostOf(text: string): Host {
  const [, name, port] = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(text) ?? []
  if (name === undefined) throw new TypeError(`${quote(text)} is not a host: write name or name:port`)
  return { name: name.toLowerCase(), port }
}

function isSameHost(allowed: Host, requestHost: string, protocol: string): boolean {
  const colon = /:(\d+)$/.exec(requestHost)
  const name = colon === null ? requestHost : requestHost.slice(0, colon.index)
  const port = colon?.[1] ?? (protocol === 'https:' ? '443' : '80')
  return name.toLowerCase() === allowed.name && (allowed.port === undefined || allowed.port === port)
}

function requireOrigin(text: string): string {
  let origin: string | undefined
  try {
    origin = new URL(text).origin
  } catch {}
  if (origin === text && origin !== 'null') return text
  throw new TypeError(`${quote(text)} is not an origin: write it as https://example.org`)
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
