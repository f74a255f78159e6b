import { classifyPath } from '../files/classify/index.ts'
import { objectId } from '../files/hash/sha1.ts'
import { redact } from '../files/secrets/index.ts'
import { createDocument } from '../files/text/document.ts'
import { looksBinary } from '../files/text/encoding.ts'
import { binaryDiff, diffLines, type FileVersion, LINK_MODE, octalMode, unifiedDiff } from '../patch/diff.ts'
import type { Path } from '../paths/logical-path.ts'
import type { AttributeChange } from '../policy/approval.ts'
import type { EntryState, Receipt, Version } from '../storage/backend.ts'
import { sameBytes } from '../util/bytes.ts'
import type { KnownChange } from './state/call.ts'

/**
 * Formats a change set as a unified diff for a person or a model: secrets are replaced by marks, and protected and binary
 * files, and files that a call may not see, are named without their content. Git stores equal contents once, so the number
 * of its changes would confirm a guess of a file.
 */
export function diffOfChanges(changes: readonly KnownChange[], maySee: (path: Path) => boolean = () => true): string {
  const gitLine = changes.some(({ change }) => isGitInternal(change.path)) ? "Git's own data changed\n" : ''
  return changes.map((change) => sectionOf(change, maySee)).join('') + gitLine
}

/**
 * Identifies the diff of a change set, without creating it. Contents that the diff does not show are left out, so that the
 * address of an artifact reveals nothing of them.
 *
 * @param maySee `undefined` if the diff shows every content
 */
export function diffKey({ applied }: Receipt, maySee: ((path: Path) => boolean) | undefined): string {
  const versions = applied
    .filter(({ path }) => !isGitInternal(path))
    .map(({ path, before, after }) => {
      const isShown = maySee === undefined || (classifyPath(path).protection !== 'secret' && maySee(path))
      return [path, versionKey(before, isShown), versionKey(after, isShown)]
    })
  return JSON.stringify({ versions, changesGit: versions.length < applied.length })
}

function versionKey(version: Version, isShown: boolean): string | null {
  if (version === null) return null
  if (version.type === 'directory') return version.type
  if (version.type === 'link') return isShown ? `link ${version.target}` : version.type
  const { mode = DEFAULT_MODE } = version
  return `${isShown ? version.sha256 : version.type}${mode === DEFAULT_MODE ? '' : ` ${mode}`}`
}

/**
 * Returns the section of one path. It is empty only if no file and no link changes: what a diff of texts cannot show, such
 * as a secret that replaces another one, is stated.
 */
function sectionOf({ change: { path, to }, before, headOf }: KnownChange, maySee: (path: Path) => boolean): string {
  if (isGitInternal(path)) return ''
  const old = before?.type === 'directory' ? null : before
  const current = to?.type === 'directory' ? null : to
  if (old === null && current === null) return ''
  if (classifyPath(path).protection === 'secret' || !maySee(path))
    return `Protected file ${path} ${verb(old, current)}\n`
  // In a patch, a link does not become a file: one is deleted and the other created.
  if (old !== null && current !== null && old.type !== current.type)
    return fileSection(path, old, null) + fileSection(path, null, current)
  return fileSection(path, old, current, headOf)
}

function fileSection(path: Path, old: EntryOf, current: EntryOf, headOf?: number): string {
  const before = headOf === undefined ? sideOf(path, old) : 'binary'
  const size = headOf ?? contentOf(old).length
  const after = sideOf(path, current)
  if (before !== 'binary' && after !== 'binary') {
    const { text } = unifiedDiff(before, after)
    const isSame = before !== null && after !== null && before.text === after.text
    if (!isSame || sameBytes(contentOf(old), contentOf(current))) return text
    if (before.isRedacted) return `${text}Secrets in ${path} changed\n`
  }
  const whole = contentOf(current)
  // Of a large file only the beginning is known. Its change may lie behind that.
  const isHead = headOf !== undefined || hasContent(current)
  const known = isHead && (whole.length === contentOf(old).length || size === 0) ? NOTHING : contentOf(old)
  return binaryDiff(
    old && { path, bytes: known, ...modeOf(old) },
    current && { path, bytes: whole, ...modeOf(current) },
  ).text
}

const NOTHING = new Uint8Array()

/** Whether a state has only the first bytes of its content in memory. */
function hasContent(state: EntryState): boolean {
  return state?.type === 'file' && state.content !== undefined
}

/** A file, a link, or nothing: what has a section in a patch. */
type EntryOf = Exclude<EntryState, { readonly type: 'directory' }>

/** The mode to show. None for the default of a file: it keeps its bits. */
function modeOf(state: EntryOf): { readonly mode?: number } {
  const mode = state?.type === 'link' ? LINK_MODE : state?.mode
  return mode === undefined ? {} : { mode }
}

function contentOf(state: EntryOf): Uint8Array {
  if (state === null) return NOTHING
  return state.type === 'file' ? state.bytes : new TextEncoder().encode(state.target)
}

/** Returns what a change set changes besides content, for its approval: nothing for most. */
export function attributesOf(changes: readonly KnownChange[]): { readonly attributes?: readonly AttributeChange[] } {
  const attributes: AttributeChange[] = []
  for (const { change, before, headOf } of changes) {
    const { path, to } = change
    if (to?.type === 'link') attributes.push({ path, changes: ['link'] })
    if (to?.type !== 'file') continue
    const { mode: oldMode = DEFAULT_MODE } = before?.type === 'file' ? before : {}
    const setsMode = to.mode !== undefined && to.mode !== oldMode
    if (!setsMode && before?.type !== 'link') continue
    const isWhole = headOf === undefined && to.content === undefined
    const keepsContent = before?.type === 'file' && isWhole && sameBytes(before.bytes, to.bytes)
    attributes.push({
      path,
      changes: [
        ...(keepsContent ? [] : (['content'] as const)),
        ...(before?.type === 'link' ? (['link'] as const) : []),
        ...(setsMode ? (['permissions'] as const) : []),
      ],
    })
  }
  return attributes.length === 0 ? {} : { attributes }
}

/** UTF-8 bytes of both sides of a change set, up to which its lines are counted. */
const MAX_COUNTED_BYTES = 1024 * 1024

/**
 * Counts the lines that a change set adds and removes, as its diff shows them. Returns `undefined` for one that is too large.
 *
 * @param counted what the tool has counted, if it makes only one change
 */
export function changedLines(changes: readonly KnownChange[], counted?: LineTotals): LineTotals | undefined {
  let bytes = 0
  for (const { change, before, headOf } of changes) {
    if (headOf !== undefined || hasContent(change.to)) return undefined
    for (const state of [before, change.to]) bytes += state?.type === 'file' ? state.bytes.length : 0
  }
  if (bytes > MAX_COUNTED_BYTES) return undefined
  const totals = { insertions: 0, deletions: 0 }
  for (const { change, before } of changes) {
    const { path, to } = change
    const { protection } = classifyPath(path)
    if (protection === 'secret' || protection === 'git') continue
    if (counted !== undefined) return counted
    const isReplaced = before !== null && to !== null && before.type !== to.type
    const states: [EntryState, EntryState][] = isReplaced
      ? [
          [before, null],
          [null, to],
        ]
      : [[before, to]]
    for (const [old, current] of states) {
      const [oldText, newText] = [plainText(path, old), plainText(path, current)]
      if (oldText === undefined || newText === undefined) continue
      for (const { oldLines, newLines } of diffLines(oldText, newText)) {
        totals.insertions += newLines
        totals.deletions += oldLines
      }
    }
  }
  return totals
}

/** Lines that were added and removed. */
export interface LineTotals {
  readonly insertions: number
  readonly deletions: number
}

/** Returns the text of a state with its secrets, to count its lines, or `undefined` when it is binary. */
function plainText(path: Path, state: EntryState): string | undefined {
  if (state === null || state.type === 'directory') return ''
  if (state.type === 'link') return state.target
  if (looksBinary(state.bytes)) return undefined
  try {
    return createDocument(state.bytes, path).original
  } catch {
    return undefined
  }
}

/** Whether a path is internal to git. Its content is not readable text, so the diff only counts it. */
function isGitInternal(path: Path): boolean {
  return classifyPath(path).protection === 'git'
}

/** Says what happens to a file whose content is not shown. */
function verb(before: EntryOf, to: EntryOf): string {
  if (to === null) return 'deleted'
  const oldMode = modeOf(before).mode ?? DEFAULT_MODE
  const newMode = modeOf(to).mode ?? (before?.type === 'file' ? oldMode : DEFAULT_MODE)
  const text = before === null ? 'created' : 'changed'
  return oldMode === newMode ? text : `${text}, new mode ${octalMode(newMode)}`
}

const DEFAULT_MODE = 0o644

interface ShownText extends FileVersion {
  readonly isRedacted: boolean
}

function sideOf(path: Path, state: EntryOf): ShownText | null | 'binary' {
  if (state === null) return null
  if (state.type === 'file' && (state.content !== undefined || looksBinary(state.bytes))) return 'binary'
  try {
    const original = state.type === 'link' ? state.target : createDocument(state.bytes, path).original
    const { text, marks } = redact(original)
    const id = state.type === 'link' ? { id: objectId('blob', new TextEncoder().encode(text)) } : {}
    return { path, text, isRedacted: marks.length > 0, ...modeOf(state), ...id }
  } catch {
    return 'binary'
  }
}
