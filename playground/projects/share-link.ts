import { strToU8, zipSync } from 'fflate'
import { fromBase64, toBase64 } from './base64.ts'

/** Characters of a link that browsers, mail and chats carry as a whole. */
export const MAX_LINK = 32_000
/** Bytes that a shared project has at most when it is unpacked. */
export const MAX_SHARED_BYTES = 8 * 1024 * 1024

const PREFIX = '#project='

/** Files by path. */
export type SharedFiles = Readonly<Record<string, Uint8Array>>

/** Returns a link that contains a project, packed. What it contains is never sent to a server, since it is behind the `#`. */
export function shareLink(page: string, name: string, files: SharedFiles): string {
  // The same files always make the same link.
  const zip = zipSync({ ...files }, { level: 9, mtime: '1980-01-02' })
  return `${page.replace(/[?#].*/s, '')}${PREFIX}${base64UrlOf(strToU8(name))}.${base64UrlOf(zip)}`
}

/** Returns the project in the hash of an address, or undefined when it contains none. */
export function sharedProject(hash: string): { readonly name: string; readonly zip: Blob } | undefined {
  if (!hash.startsWith(PREFIX)) return undefined
  const [name = '', packed = ''] = hash.slice(PREFIX.length).split('.')
  try {
    const title = new TextDecoder().decode(bytesOf(name)).trim().slice(0, 80)
    return { name: title === '' ? 'Shared project' : title, zip: new Blob([bytesOf(packed)]) }
  } catch {
    throw new Error('Cannot open the shared project: the link is not complete')
  }
}

function base64UrlOf(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
}
