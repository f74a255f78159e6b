import { invalidParams } from './protocol-errors.ts'

/** A parsed resource address. */
export type ResourceName =
  | { readonly type: 'text' /** Path for `read_file`. */; readonly path: string; readonly range?: LineRange }
  | { readonly type: 'diff' | 'report' | 'report.json' | 'policy' }

export interface LineRange {
  readonly startLine?: number
  readonly startColumn?: number
  readonly maxLines?: number
}

const SCHEME = 'wardspace://'
const FILES = `${SCHEME}files/`
const ARTIFACTS = 'artifact://'
/** Maximum length of an address: a path has at most 4,095 bytes, each encoded as up to three characters. */
const MAX_LENGTH = 16_384

/** Files have their own scheme, because `file:` would mean the disk of the client. */
export const fileTemplate = `${FILES}{+path}{?startLine,startColumn,maxLines}`
export const artifactTemplate = `${ARTIFACTS}{run}/{name}{?startLine,startColumn,maxLines}`

/** Returns the address of a file by its logical path. */
export function fileUri(path: string): string {
  return FILES + path.split('/').map(encodeURIComponent).join('/')
}

/** Returns the address of the diff, the report or the policy. */
export function ownUri(type: Exclude<ResourceName['type'], 'text'>): string {
  return SCHEME + type
}

/**
 * Parses a resource address. It is decoded once and nothing is resolved: the guard receives the path unchanged.
 *
 * @throws a protocol error for an invalid address
 */
export function parseResourceUri(uri: string): ResourceName {
  if (uri.length > MAX_LENGTH) throw invalidParams(`A resource's address has at most ${MAX_LENGTH} characters`)
  for (const type of ['diff', 'report', 'report.json', 'policy'] as const) if (uri === ownUri(type)) return { type }
  const isFile = uri.startsWith(FILES)
  if (!isFile && !uri.startsWith(ARTIFACTS)) {
    throw invalidParams(`Resource ${JSON.stringify(uri.slice(0, 200))} does not exist: use one of resources/list`)
  }
  const mark = uri.indexOf('?')
  const address = mark === -1 ? uri : uri.slice(0, mark)
  const range = mark === -1 ? {} : { range: rangeOf(uri.slice(mark + 1)) }
  if (!isFile) return { type: 'text', path: address, ...range }
  const path = decoded(address.slice(FILES.length))
  // An artifact must use its own scheme.
  if (path.startsWith(ARTIFACTS)) throw invalidParams('The path of a file cannot be an artifact address')
  return { type: 'text', path, ...range }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidParams('The resource address has invalid percent-encoding')
  }
}

function rangeOf(query: string): LineRange {
  const range: Record<string, number> = {}
  for (const part of query.split('&')) {
    const [, field = '', digits = ''] = /^(startLine|startColumn|maxLines)=([1-9][0-9]{0,8})$/.exec(part) ?? []
    if (field === '' || field in range) {
      throw invalidParams(
        'The query of a resource address takes startLine, startColumn and maxLines, each at most once, as whole numbers from 1',
      )
    }
    range[field] = Number(digits)
  }
  return range
}
