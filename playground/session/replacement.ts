import { type ReadonlySignal, signal } from '@preact/signals'
import { type Failure, type Path, type Success, ToolError } from 'wardspace'
import { sha256Of } from '../projects/sha256.ts'
import { createYield } from '../projects/yield-to-page.ts'
import { createExpansion, type Expansion } from './expand-groups.ts'
import { failureInWords } from './failure-words.ts'
import { compileMatches, type LineMatch } from './line-matches.ts'
import type { OpenFiles } from './open-files.ts'
import type { SearchQuery } from './search.ts'
import { textOf } from './text.ts'
import type { Session } from './types.ts'

/** A match that can be replaced, with the text around it in its line. */
export interface ReplaceableMatch {
  /** Counted from 1. */
  readonly line: number
  readonly before: string
  readonly text: string
  readonly after: string
  readonly isLeftOut: boolean
  /** Byte offsets. */
  readonly start: number
  readonly end: number
}

export interface ReplaceableFile {
  readonly path: string
  readonly sha256: string
  readonly matches: readonly ReplaceableMatch[]
  /** Whether the file has unsaved text, which a replacement would not see. It is left out. */
  readonly hasDraft: boolean
}

export interface ReplacementState {
  readonly isBusy: boolean
  readonly files: readonly ReplaceableFile[]
  /** Whether there are more matches than listed. */
  readonly isCut: boolean
  readonly trouble: string | undefined
  /** The last replacement, with the call that undoes it. */
  readonly done: { readonly text: string; readonly callId: string | undefined } | undefined
}

/** Search and replace in all files, with a preview in which each match can be left out. */
export interface Replacement {
  readonly state: ReadonlySignal<ReplacementState>
  find(query: SearchQuery): Promise<void>
  /** Leaves a match or all of a file out, or takes it in again. */
  toggle(path: string, match?: number): void
  /** Replaces the matches that are not left out, in one step. For a pattern, `$1` is a group. */
  apply(text: string): Promise<void>
  undo(): Promise<void>
}

export interface ReplacementParts {
  readonly session: Pick<Session, 'project' | 'changeFiles' | 'undo'>
  readonly files: Pick<OpenFiles, 'all'>
  /** Makes a call for the display. */
  look(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<Success | Failure>
}

/** Matches that are listed. */
const MAX_MATCHES = 5_000
/** Characters of a line that are shown on each side of a match. */
const MAX_CONTEXT = 60

const nothing: ReplacementState = { isBusy: false, files: [], isCut: false, trouble: undefined, done: undefined }

export function createReplacement(parts: ReplacementParts): Replacement {
  return new WorkspaceReplacement(parts)
}

class WorkspaceReplacement implements Replacement {
  readonly state = signal(nothing)
  readonly #parts: ReplacementParts
  #query: SearchQuery | undefined
  #stop = new AbortController()

  constructor(parts: ReplacementParts) {
    this.#parts = parts
  }

  async find(query: SearchQuery): Promise<void> {
    this.#query = query
    this.#stop.abort()
    this.#stop = new AbortController()
    const { signal } = this.#stop
    const { done } = this.state.value
    if (query.text === '') {
      this.state.value = { ...nothing, done }
      return
    }
    this.state.value = { ...this.state.value, isBusy: true }
    try {
      const found = await this.#search(query, signal)
      if (!signal.aborted) this.state.value = { ...nothing, ...found, done }
    } catch (error) {
      if (signal.aborted) return
      const trouble = error instanceof ToolError ? error.message : 'The files cannot be searched'
      this.state.value = { ...nothing, trouble, done }
    }
  }

  toggle(path: string, match?: number): void {
    const files = this.state.value.files.map((file) => {
      if (file.path !== path) return file
      const isLeftOut = file.matches.some((one) => !one.isLeftOut)
      const matches = file.matches.map((one, at) => {
        if (match === undefined) return { ...one, isLeftOut }
        return at === match ? { ...one, isLeftOut: !one.isLeftOut } : one
      })
      return { ...file, matches }
    })
    this.state.value = { ...this.state.value, files }
  }

  async apply(text: string): Promise<void> {
    if (this.#query === undefined) return
    try {
      await this.#write(createExpansion(this.#query, text))
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      this.#refuse(error.message)
    }
  }

  async #write(expand: Expansion): Promise<void> {
    const writes: { path: string; content: string; sha256: string }[] = []
    let count = 0
    const yieldToPage = createYield()
    for (const { path, sha256, matches, hasDraft } of this.state.value.files) {
      const wanted = hasDraft ? [] : matches.filter(({ isLeftOut }) => !isLeftOut)
      if (wanted.length === 0) continue
      const { bytes } = await this.#parts.session.project.backend.read(path as Path)
      // Offsets of another version would name other text.
      if ((await sha256Of(bytes)) !== sha256)
        return this.#refuse(`“${path}” has changed since the search. Search again.`)
      writes.push({ path, content: replaced(bytes, wanted, expand), sha256 })
      count += wanted.length
      await yieldToPage()
    }
    if (writes.length === 0) return
    const label = `Replaced ${inWords(count, 'match', 'matches')} in ${inWords(writes.length, 'file', 'files')}`
    const result = await this.#parts.session.changeFiles({ writes, label })
    if (!result.ok) return this.#refuse(failureInWords(result))
    this.state.value = { ...this.state.value, done: { text: label, callId: result.callId } }
    if (this.#query !== undefined) await this.find(this.#query)
  }

  async undo(): Promise<void> {
    const { callId } = this.state.value.done ?? {}
    if (callId === undefined) return
    const result = await this.#parts.session.undo(callId)
    if (!result.ok) return this.#refuse(failureInWords(result))
    this.state.value = { ...this.state.value, done: { text: 'Taken back', callId: undefined } }
    if (this.#query !== undefined) await this.find(this.#query)
  }

  #refuse(trouble: string): void {
    this.state.value = { ...this.state.value, trouble }
  }

  async #search(query: SearchQuery, signal: AbortSignal): Promise<Pick<ReplacementState, 'files' | 'isCut'>> {
    const matchesOf = compileMatches(query)
    const { paths, isCut } = await this.#filesWith(query, signal)
    const drafts = new Set(
      this.#parts.files.all.peek().flatMap(({ path, draft }) => (draft === undefined ? [] : [path])),
    )
    const files: ReplaceableFile[] = []
    let left = MAX_MATCHES
    const yieldToPage = createYield()
    for (const path of paths) {
      await yieldToPage()
      if (signal.aborted || left === 0) break
      const { bytes } = await this.#parts.session.project.backend.read(path as Path)
      if (textOf(bytes) === undefined) continue
      const matches: ReplaceableMatch[] = []
      const lines = createLineCounter(bytes)
      matchesOf(bytes, (match) => {
        matches.push(replaceable(bytes, match, lines(match.start)))
        left -= 1
        return left > 0
      })
      if (matches.length === 0) continue
      files.push({ path, sha256: await sha256Of(bytes), matches, hasDraft: drafts.has(path) })
    }
    return { files, isCut: isCut || left === 0 }
  }

  /** Returns the files with a match, as far as they can be searched: no secrets and nothing that git ignores. */
  async #filesWith({ text, regex, caseSensitive }: SearchQuery, signal: AbortSignal) {
    const input = { query: text, mode: regex ? 'regex' : 'literal', caseSensitive, filesOnly: true, maxMatches: 1_000 }
    const result = await this.#parts.look('search_text', input, { signal })
    if (!result.ok) throw new ToolError(result.code, result.message)
    const files = result.files as readonly { readonly path: string }[]
    return { paths: files.map(({ path }) => path), isCut: result.truncated === true }
  }
}

function inWords(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Returns a function that returns the line of an offset, from 1. Offsets must not decrease. */
function createLineCounter(bytes: Uint8Array): (offset: number) => number {
  let line = 1
  let at = 0
  return (offset) => {
    for (; at < offset; at++) if (bytes[at] === 0x0a) line += 1
    return line
  }
}

function replaceable(bytes: Uint8Array, { start, end, lineStart, lineEnd }: LineMatch, line: number): ReplaceableMatch {
  const text = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to))
  const before = text(Math.max(lineStart, start - MAX_CONTEXT), start).trimStart()
  const after = text(end, Math.min(lineEnd, end + MAX_CONTEXT))
  return { line, before, text: text(start, end), after, isLeftOut: false, start, end }
}

function replaced(bytes: Uint8Array, matches: readonly ReplaceableMatch[], expand: Expansion): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const pieces: string[] = []
  let from = 0
  const text = (start: number, end: number) => decoder.decode(bytes.subarray(start, end))
  for (const { start, end } of matches) {
    const lineAround = () => {
      const first = start === 0 ? 0 : bytes.lastIndexOf(0x0a, start - 1) + 1
      const next = bytes.indexOf(0x0a, end)
      return { line: text(first, next === -1 ? bytes.length : next).replace(/\r$/, ''), at: text(first, start).length }
    }
    pieces.push(text(from, start), expand(text(start, end), lineAround))
    from = end
  }
  return [...pieces, decoder.decode(bytes.subarray(from))].join('')
}
