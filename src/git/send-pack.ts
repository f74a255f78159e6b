import { ToolError } from '../errors.ts'
import { concatBytes } from '../util/bytes.ts'
import { type HttpRequests, parts } from './http.ts'
import { brokenProtocol, FLUSH, pktLine, pktLines } from './pkt-line.ts'
import { remoteFile } from './remote-url.ts'

/** What a server that takes commits has and can do. */
export interface RemoteState {
  /** The address that answered. */
  readonly url: URL
  readonly refs: ReadonlyMap<string, string>
  /** The ids of all commits that the server is known to have. */
  readonly has: ReadonlySet<string>
  readonly capabilities: ReadonlySet<string>
}

/** An update of one ref of a server. `null` is an absent ref. */
export interface RefUpdate {
  readonly ref: string
  readonly from: string | null
  readonly to: string | null
}

/** The answer of a server to a push. */
export interface PushAnswer {
  /** Why the server refused the update. Absent if it did it. */
  readonly refused?: string
  /** What the server prints, such as the output of its hooks. */
  readonly message: string
}

const SERVICE = 'git-receive-pack'
const NONE = '0'.repeat(40)
/** Maximum size of a list of refs, and of the answer to a push. */
const MAX_LIST_BYTES = 64 * 1024 * 1024
const MAX_ANSWER_BYTES = 8 * 1024 * 1024
const MAX_MESSAGE_CHARACTERS = 8192

/** Asks a server for its refs. @throws ToolError if it cannot be reached, refuses, or does not speak the protocol of git */
export async function discover(http: HttpRequests, url: URL, signal: AbortSignal | undefined): Promise<RemoteState> {
  const start = remoteFile(url, `info/refs?service=${SERVICE}`)
  const response = await http.send(start, { method: 'GET', headers: { accept: '*/*' } })
  const [type] = (response.headers.get('content-type') ?? '').split(';')
  if (type !== `application/x-${SERVICE}-advertisement`) throw brokenProtocol()
  const lines = [...pktLines(await bytesOf(response, signal, MAX_LIST_BYTES))]
  if (textOf(lines[0]) !== `# service=${SERVICE}` || lines[1] !== null || lines.length < 4 || lines.at(-1) !== null)
    throw brokenProtocol()
  const refs = new Map<string, string>()
  const has = new Set<string>()
  let capabilities: readonly string[] = []
  for (const line of lines.slice(2, -1)) {
    const [text = '', abilities] = textOf(line).split('\0')
    if (abilities !== undefined) capabilities = abilities.trim().split(' ')
    const [, error] = /^ERR (.*)/s.exec(text) ?? []
    if (error !== undefined) throw refusal(http.hide(printable(error)))
    if (/^shallow [0-9a-f]{40}$/.test(text)) continue
    const [, id, name] = /^([0-9a-f]{40}) (\S+)$/.exec(text) ?? []
    if (id === undefined || name === undefined) throw brokenProtocol()
    if (name === 'capabilities^{}') continue
    has.add(id)
    if (name !== '.have') refs.set(name, id)
  }
  return { url: homeOf(url, response), refs, has, capabilities: new Set(capabilities) }
}

/** The address of the repository after redirects within the same server. */
function homeOf(url: URL, { url: answered }: Response): URL {
  const suffix = `/info/refs?service=${SERVICE}`
  if (!answered.endsWith(suffix)) return url
  const home = new URL(answered.slice(0, -suffix.length))
  return home.origin === url.origin ? home : url
}

/**
 * Sends an update with the objects that it needs.
 *
 * @throws ToolError if it is unknown whether the server did it, or the server refused all of it
 */
export async function sendPack(
  http: HttpRequests,
  remote: RemoteState,
  update: RefUpdate,
  pack: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<PushAnswer> {
  const wanted = ['report-status', 'side-band-64k', 'quiet'].filter((name) => remote.capabilities.has(name))
  const abilities = ` ${[...wanted, 'agent=wardspace'].join(' ')}`
  const command = pktLine(`${update.from ?? NONE} ${update.to ?? NONE} ${update.ref}\0${abilities}`)
  let bytes: Uint8Array
  try {
    const response = await http.send(remoteFile(remote.url, SERVICE), {
      method: 'POST',
      headers: { 'content-type': `application/x-${SERVICE}-request`, accept: `application/x-${SERVICE}-result` },
      body: concatBytes([command, FLUSH, pack]),
    })
    bytes = await bytesOf(response, signal, MAX_ANSWER_BYTES)
  } catch (error) {
    throw error instanceof ToolError && error.code !== 'ABORTED' ? error : unconfirmed(error)
  }
  const hide = (text: string) => http.hide(printable(text))
  return parseAnswer(bytes, update.ref, remote.capabilities.has('side-band-64k'), hide)
}

function parseAnswer(bytes: Uint8Array, ref: string, isBanded: boolean, hide: (text: string) => string): PushAnswer {
  try {
    const bands: [Uint8Array[], Uint8Array[], Uint8Array[]] = [[], [], []]
    for (const line of isBanded ? pktLines(bytes) : []) {
      if (line !== null) (bands[(line[0] as number) - 1] ?? []).push(line.subarray(1))
    }
    const message = hide(decoder.decode(concatBytes(bands[1])))
    if (bands[2].length > 0) return { refused: hide(decoder.decode(concatBytes(bands[2]))), message }
    const lines = [...pktLines(isBanded ? concatBytes(bands[0]) : bytes)].map((line) => textOf(line))
    const unpacked = lines.find((line) => line.startsWith('unpack '))
    if (unpacked === undefined) throw brokenProtocol()
    if (unpacked !== 'unpack ok') return { refused: hide(unpacked), message }
    const refused = lines.find((line) => line.startsWith(`ng ${ref} `))
    if (refused !== undefined) return { refused: hide(refused.slice(`ng ${ref} `.length)), message }
    if (!lines.includes(`ok ${ref}`)) throw brokenProtocol()
    return { message }
  } catch (error) {
    throw unconfirmed(error)
  }
}

/** After the request was sent, a failure of the connection says nothing about the server. */
function unconfirmed(cause: unknown): ToolError {
  const isCancelled = cause instanceof ToolError && cause.code === 'ABORTED'
  const reason = isCancelled ? 'the call was cancelled' : 'the connection ended'
  return new ToolError(
    isCancelled ? 'ABORTED' : 'BACKEND_ERROR',
    `Cannot confirm the push: ${reason} before the server answered`,
    { hint: 'The server has done all of it or nothing. Push again: what is done already changes nothing.' },
  )
}

function refusal(reason: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot push: the server refuses: ${reason}`)
}

async function bytesOf(response: Response, signal: AbortSignal | undefined, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const part of parts(response.body, signal, maxBytes)) chunks.push(part)
  return concatBytes(chunks)
}

function textOf(line: Uint8Array | null | undefined): string {
  return line === null || line === undefined ? '' : decoder.decode(line).replace(/\n$/, '')
}

/** A text of a server without control characters, bounded. */
function printable(text: string): string {
  return text
    .slice(0, MAX_MESSAGE_CHARACTERS)
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, '')
    .trimEnd()
}

const decoder = new TextDecoder()
