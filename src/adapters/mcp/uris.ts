import { invalidParams } from './protocol-errors.ts'

/** What a resource of this server is. */
export type ResourceName =
  | { readonly type: 'text' /** As `read_file` takes it. */; readonly path: string; readonly range?: LineRange }
  | { readonly type: 'diff' | 'report' | 'report.json' | 'policy' }

export interface LineRange {
  readonly startLine?: number
  readonly maxLines?: number
}

const SCHEME = 'wardspace://'
const FILES = `${SCHEME}files/`
const ARTIFACTS = 'artifact://'
/** A path has 4,095 bytes at most, and each may stand as three characters. */
const MOST = 16_384

/** Files have a scheme of their own: `file:` would name a place on the client's disk, and these paths are none. */
export const fileTemplate = `${FILES}{+path}{?startLine,maxLines}`
export const artifactTemplate = `${ARTIFACTS}{run}/{name}{?startLine,maxLines}`

/** The address of a file by its logical path. */
export function fileUri(path: string): string {
  return FILES + path.split('/').map(encodeURIComponent).join('/')
}

/** The address of something else that there is one of. */
export function ownUri(type: Exclude<ResourceName['type'], 'text'>): string {
  return SCHEME + type
}

/**
 * What an address names. It is decoded once, and nothing in it is resolved: the path goes to the guard as it stands there.
 *
 * @throws an error of the protocol
 */
export function parseResourceUri(uri: string): ResourceName {
  if (uri.length > MOST) throw invalidParams(`A resource's address has at most ${MOST} characters`)
  for (const type of ['diff', 'report', 'report.json', 'policy'] as const) if (uri === ownUri(type)) return { type }
  const isFile = uri.startsWith(FILES)
  if (!isFile && !uri.startsWith(ARTIFACTS)) {
    throw invalidParams(`There is no resource ${JSON.stringify(uri.slice(0, 200))}: take one of resources/list`)
  }
  const mark = uri.indexOf('?')
  const address = mark === -1 ? uri : uri.slice(0, mark)
  const range = mark === -1 ? {} : { range: rangeOf(uri.slice(mark + 1)) }
  if (!isFile) return { type: 'text', path: address, ...range }
  const path = decoded(address.slice(FILES.length))
  // Only an address of that scheme means an artifact.
  if (path.startsWith(ARTIFACTS)) throw invalidParams('A file cannot be named so')
  return { type: 'text', path, ...range }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidParams('The address of a resource is not well percent-encoded')
  }
}

function rangeOf(query: string): LineRange {
  const range: Record<string, number> = {}
  for (const part of query.split('&')) {
    const [, field = '', digits = ''] = /^(startLine|maxLines)=([1-9][0-9]{0,8})$/.exec(part) ?? []
    if (field === '' || field in range) {
      throw invalidParams('After the "?" of a resource stand startLine and maxLines, each once, whole numbers from 1')
    }
    range[field] = Number(digits)
  }
  return range
}
