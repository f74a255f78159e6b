import { areWithoutSecrets, type Redaction, redact } from '../files/secrets/index.ts'
import { looksBinary } from '../files/text/encoding.ts'
import { binaryDiff, changedRegions, FILE_MODE, typeOfMode, type UnifiedDiff, unifiedDiff } from '../patch/diff.ts'
import type { PatchedFile } from '../patch/line-diff.ts'
import type { LogicalPath } from '../paths/logical-path.ts'
import { sameBytes } from '../util/bytes.ts'
import { createLruCache } from '../util/lru-cache.ts'
import { byteText } from '../util/native-bytes.ts'
import { nodeModule } from '../util/node-module.ts'
import { binaryPatch } from './binary-patch.ts'
import type { Side } from './changed-path.ts'
import { redactChanged } from './redact-diff.ts'
import type { Paired } from './renames.ts'

/** One file in the diff of a workspace. */
export interface DiffSection extends UnifiedDiff {
  readonly path: LogicalPath
  readonly oldPath?: LogicalPath
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
  readonly binary: boolean
  /** Whether secrets are redacted, so that the text cannot reproduce the exact bytes. */
  readonly redacted: boolean
}

/** Larger files are treated as binary. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024

/** Returns a change as text. Binary content is shown as by `git diff --binary` if `withBinary`; else the section only states that it differs. */
export async function sectionOf(
  change: Paired,
  withBinary: (path: LogicalPath) => boolean,
  texts: TextCache,
  patched?: PatchedFile,
): Promise<DiffSection> {
  const { path, from, old, now } = change
  // A change between file, link and submodule is a deletion and an addition, as in git.
  if (old !== null && now !== null && typeOfMode(old.mode) !== typeOfMode(now.mode)) {
    const deleted = await sectionOf({ path: from ?? path, old, now: null }, withBinary, texts)
    const added = await sectionOf({ path, old: null, now }, withBinary, texts)
    return {
      path,
      status: 'modified',
      binary: deleted.binary || added.binary,
      redacted: deleted.redacted || added.redacted,
      text: deleted.text + added.text,
      insertions: added.insertions,
      deletions: deleted.deletions,
    }
  }
  const known = patched && (await patchedDiff(change, patched))
  if (known !== undefined) return { path, status: 'modified', ...known, binary: false, redacted: false }
  const status = old === null ? 'added' : now === null ? 'deleted' : from === undefined ? 'modified' : 'renamed'
  const cached = old === null ? undefined : texts.get(old.id)
  const oldBytes = cached === undefined ? await bytesOf(old) : NOTHING
  const newBytes = await bytesOf(now)
  const oldPath = from ?? path
  const names: Pick<DiffSection, 'path' | 'status' | 'oldPath'> =
    from === undefined ? { path, status } : { path, status, oldPath: from }
  const oldText = cached?.original ?? textOf(oldBytes)
  const newText = textOf(newBytes)
  if (oldText === undefined || newText === undefined) {
    if (cached !== undefined) return sectionOf(change, withBinary, NO_TEXTS)
    const before = old === null ? null : { path: oldPath, bytes: oldBytes ?? TOO_LARGE, mode: old.mode }
    const after = now === null ? null : { path, bytes: newBytes ?? NOTHING, mode: now.mode }
    let { text } = binaryDiff(before, after)
    const marker = text.lastIndexOf('Binary files ')
    if (marker !== -1 && oldBytes !== undefined && newBytes !== undefined && withBinary(path)) {
      const ids = `${old?.id ?? NO_ID}..${now?.id ?? NO_ID}`
      const mode = old !== null && now !== null && old.mode === now.mode ? ` ${old.mode.toString(8)}` : ''
      text = `${text.slice(0, marker)}index ${ids}${mode}\n${await binaryPatch(oldBytes, newBytes)}`
    }
    return { ...names, text, insertions: 0, deletions: 0, binary: true, redacted: false }
  }
  const before = cached ?? baseText(oldText, oldBytes)
  if (old !== null && cached === undefined) texts.set(old.id, before)
  const regions = changedRegions(before.text, newText)
  const after = redactChanged(newText, before, regions)
  const diff = unifiedDiff(
    old === null ? null : { path: oldPath, text: before.text, mode: old.mode, ...linkId(old) },
    now === null ? null : { path, text: after.text, mode: now.mode, ...linkId(now) },
    after.text === newText ? { regions } : {},
  )
  const redacted = before.marks.length > 0 || after.marks.length > 0
  return { ...names, ...diff, binary: false, redacted }
}

/**
 * Returns the diff of a file that a patch has changed without decoding and comparing its versions, if it is certainly the one that
 * a comparison gives and hides nothing.
 */
async function patchedDiff({ path, from, old, now }: Paired, patched: PatchedFile): Promise<UnifiedDiff | undefined> {
  const { before, after } = patched
  if (from !== undefined || old === null || now === null || typeOfMode(now.mode) !== FILE_MODE) return undefined
  if (!areWithoutSecrets(before) || isBinary(before) || isBinary(after) || !isUtf8(before)) return undefined
  if (!isSame(await old.bytes(), before) || !isSame(await now.bytes(), after)) return undefined
  const regions = patched.regions()
  if (regions === undefined) return undefined
  const [oldText, newText] = [byteText(before), byteText(after)]
  if (redactChanged(newText, { text: oldText, marks: [] }, regions).marks.length > 0) return undefined
  const versions = [
    { path, text: oldText, mode: old.mode },
    { path, text: newText, mode: now.mode },
  ] as const
  return unifiedDiff(...versions, { regions, areBytes: true })
}

const isSame = (bytes: Uint8Array | undefined, other: Uint8Array) => bytes !== undefined && sameBytes(bytes, other)

/** Caches texts of the base by id: a file that was edited once is mostly edited again. */
export interface TextCache {
  get(id: string): BaseText | undefined
  set(id: string, text: BaseText): void
}

interface BaseText extends Redaction {
  readonly original: string
}

const NO_TEXTS: TextCache = { get: () => undefined, set: () => undefined }

/** Maximum size of the cached texts, in UTF-16 units. */
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

function baseText(original: string, bytes: Uint8Array | undefined): BaseText {
  // Bytes of ASCII are the same text.
  const isSearched = bytes?.length === original.length && areWithoutSecrets(bytes)
  const { text, marks } = isSearched ? { text: original, marks: [] } : redact(original)
  return { original, text, marks }
}

/** The id of a link or submodule. That of a file is not shown, and may have to be computed. */
function linkId(side: Side): { readonly id?: string } {
  return typeOfMode(side.mode) === FILE_MODE ? {} : { id: side.id }
}

const NOTHING = new Uint8Array()
const TOO_LARGE = new Uint8Array(1)
const NO_ID = '0'.repeat(40)

async function bytesOf(side: Side | null): Promise<Uint8Array | undefined> {
  return side === null ? NOTHING : side.bytes()
}

/** Decodes text. Returns `undefined` for binary content: with a NUL, as in git, or bytes that are not UTF-8. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || isBinary(bytes)) return undefined
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.length > MAX_TEXT_BYTES || looksBinary(bytes)
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Node checks bytes many times faster than it decodes them. */
const { isUtf8 = (bytes: Uint8Array) => textOf(bytes) !== undefined } = (nodeModule('buffer') ?? {}) as {
  isUtf8?(bytes: Uint8Array): boolean
}
