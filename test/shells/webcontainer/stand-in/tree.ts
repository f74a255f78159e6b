import { childOf, type Path } from '../../../../src/paths/logical-path.ts'
import type { Disk } from './disk.ts'

/** Trees in the format of the wire. */
export interface Sent {
  d: Record<string, Sent | { f: { c: string; b?: boolean } | { l: string } }>
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

export interface Selection {
  readonly includes?: readonly string[] | undefined
  readonly excludes?: readonly string[] | undefined
  /** Export links. */
  readonly links: boolean
  /** Strip byte order marks of texts. */
  readonly stripsBom: boolean
  /** Export empty directories. */
  readonly empty: boolean
}

export async function serialize(
  disk: Disk,
  top: Path,
  { includes = [], excludes = [], links, stripsBom, empty }: Selection,
): Promise<Sent> {
  const isLeftOut = (path: string) =>
    excludes.some((glob) => fits(path, glob)) && !includes.some((glob) => fits(path, glob))
  const root: Sent = { d: Object.create(null) }
  const directories = new Map<string, Sent>([[top, root]])
  for (const { path, state } of await disk.below(top)) {
    const at = path.lastIndexOf('/')
    const parent = directories.get(path.slice(0, at))
    if (parent === undefined || isLeftOut(path.slice(top.length + 1))) continue
    const name = path.slice(at + 1)
    if (state.type === 'directory') {
      if (!empty && (await disk.below(path)).length === 0) continue
      const directory: Sent = { d: Object.create(null) }
      directories.set(path, directory)
      parent.d[name] = directory
    } else if (state.type === 'link') {
      if (links) parent.d[name] = { f: { l: state.target } }
    } else parent.d[name] = { f: contentOf(state.bytes, stripsBom) }
  }
  return root
}

export async function load(disk: Disk, top: Path, tree: Sent): Promise<void> {
  await disk.makeDirectories(top)
  for (const [name, node] of Object.entries(tree.d)) {
    const path = childOf(top, name)
    if ('d' in node) {
      await load(disk, path, node)
      continue
    }
    const { f } = node
    if ('l' in f) await disk.set(path, { type: 'link', target: f.l })
    else {
      const bytes = f.b ? Uint8Array.from(f.c, (unit) => unit.charCodeAt(0)) : encoder.encode(f.c)
      await disk.set(path, { type: 'file', bytes })
    }
  }
}

function contentOf(bytes: Uint8Array, stripsBom: boolean): { c: string; b?: boolean } {
  try {
    const text = strict.decode(bytes)
    return { c: stripsBom ? text.replace(/^\uFEFF/, '') : text }
  } catch {
    return { c: Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''), b: true }
  }
}

/** `**` matches any number of names, `*` any part of one. */
function fits(path: string, glob: string): boolean {
  const source = glob
    .replace(/[.+^${}()|[\]\\?]/g, '\\$&')
    .replaceAll('**/', '\u0001')
    .replaceAll('/**', '\u0002')
    .replaceAll('*', '[^/]*')
    .replaceAll('\u0001', '(?:.*/)?')
    .replaceAll('\u0002', '/.*')
  return new RegExp(`^${source}$`).test(path)
}
