import { type Redaction, redact } from '../files/secrets/index.ts'
import { looksBinary } from '../files/text/encoding.ts'
import { binaryDiff, type UnifiedDiff, unifiedDiff } from '../patch/diff.ts'
import type { LogicalPath } from '../paths/logical-path.ts'
import { createLruCache } from '../util/lru-cache.ts'
import { binaryPatch } from './binary-patch.ts'
import { LINK, type Side, SUBMODULE } from './changed-path.ts'
import { redactChanged } from './redact-diff.ts'
import type { Paired } from './renames.ts'

/** One file of a workspace's diff. */
export interface DiffSection extends UnifiedDiff {
  readonly path: LogicalPath
  readonly oldPath?: LogicalPath
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
  readonly binary: boolean
  /** Something of it stands as marks, so that the text cannot give back the very bytes. */
  readonly redacted: boolean
}

/** Larger files are named like binary ones. */
const LARGEST_TEXT = 16 * 1024 * 1024

/** A change as text. Binary contents are shown as `git diff --binary` does where `withBinary`, and only named elsewhere. */
export async function sectionOf(
  change: Paired,
  withBinary: (path: LogicalPath) => boolean,
  texts: TextCache,
): Promise<DiffSection> {
  const { path, from, old, now } = change
  // To become a link, or to stop being one or a submodule, is to vanish and to appear, as in git.
  if (old !== null && now !== null && kindOf(old.mode) !== kindOf(now.mode)) {
    const gone = await sectionOf({ path: from ?? path, old, now: null }, withBinary, texts)
    const fresh = await sectionOf({ path, old: null, now }, withBinary, texts)
    return {
      path,
      status: 'modified',
      binary: gone.binary || fresh.binary,
      redacted: gone.redacted || fresh.redacted,
      text: gone.text + fresh.text,
      insertions: fresh.insertions,
      deletions: gone.deletions,
    }
  }
  const status = old === null ? 'added' : now === null ? 'deleted' : from === undefined ? 'modified' : 'renamed'
  const known = old === null ? undefined : texts.get(old.id)
  const oldBytes = known === undefined ? await bytesOf(old) : NOTHING
  const newBytes = await bytesOf(now)
  const oldPath = from ?? path
  const about: Pick<DiffSection, 'path' | 'status' | 'oldPath'> =
    from === undefined ? { path, status } : { path, status, oldPath: from }
  const oldText = known?.original ?? textOf(oldBytes)
  const newText = textOf(newBytes)
  if (oldText === undefined || newText === undefined) {
    if (known !== undefined) return sectionOf(change, withBinary, NO_TEXTS)
    const before = old === null ? null : { path: oldPath, bytes: oldBytes ?? TOO_LARGE, mode: old.mode }
    const after = now === null ? null : { path, bytes: newBytes ?? NOTHING, mode: now.mode }
    let { text } = binaryDiff(before, after)
    const marker = text.lastIndexOf('Binary files ')
    if (marker !== -1 && oldBytes !== undefined && newBytes !== undefined && withBinary(path)) {
      const ids = `${old?.id ?? NO_ID}..${now?.id ?? NO_ID}`
      const mode = old !== null && now !== null && old.mode === now.mode ? ` ${old.mode.toString(8)}` : ''
      text = `${text.slice(0, marker)}index ${ids}${mode}\n${await binaryPatch(oldBytes, newBytes)}`
    }
    return { ...about, text, insertions: 0, deletions: 0, binary: true, redacted: false }
  }
  const { mode: kind } = (old ?? now) as Side
  const before = known ?? baseText(oldText)
  if (old !== null && known === undefined) texts.set(old.id, before)
  const after = redactChanged(newText, before)
  const diff = unifiedDiff(
    old === null ? null : { path: oldPath, text: before.text, mode: old.mode },
    now === null ? null : { path, text: after.text, mode: now.mode },
  )
  let { text } = diff
  if (kind === LINK || kind === SUBMODULE) {
    text = text.replace(/^(new file|deleted file) mode 100644$/m, `$1 mode ${kind.toString(8)}`)
    if (status === 'modified' || status === 'renamed') {
      text = text.replace(/^--- /m, `index ${old?.id}..${now?.id} 120000\n--- `)
    }
  }
  const redacted = before.marks.length > 0 || after.marks.length > 0
  return { ...about, ...diff, text, binary: false, redacted }
}

/** Texts of the base by their ids: what was edited once is mostly edited again. */
export interface TextCache {
  get(id: string): BaseText | undefined
  set(id: string, text: BaseText): void
}

interface BaseText extends Redaction {
  readonly original: string
}

const NO_TEXTS: TextCache = { get: () => undefined, set: () => undefined }

/** How much text of the base stays at hand, in UTF-16 units. */
const CACHE_UNITS = 8 * 1024 * 1024

export function createTextCache(): TextCache {
  const texts = createLruCache<string, BaseText>(CACHE_UNITS, ({ original }) => original.length)
  return {
    get: texts.get,
    set(id, text) {
      if (id === '' || texts.get(id) !== undefined || text.original.length > CACHE_UNITS / 8) return
      texts.put(id, text)
    },
  }
}

function baseText(original: string): BaseText {
  const { text, marks } = redact(original)
  return { original, text, marks }
}

/** File, link or submodule. */
function kindOf(mode: number): number {
  return mode & 0o170000
}

const NOTHING = new Uint8Array()
const TOO_LARGE = new Uint8Array(1)
const NO_ID = '0'.repeat(40)

async function bytesOf(side: Side | null): Promise<Uint8Array | undefined> {
  return side === null ? NOTHING : side.bytes()
}

/** As git, what holds a NUL is binary; and so is here what a text of Unicode cannot carry. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || bytes.length > LARGEST_TEXT) return undefined
  if (bytes.length === 0) return ''
  if (bytes.subarray(0, 8000).indexOf(0) !== -1 || looksBinary(bytes)) return undefined
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
