import * as z from 'zod/mini'
import { ToolError } from '../../errors.ts'
import { createDocument, type TextDocument } from '../../files/text/document.ts'
import { type Note, parseNote } from '../../files/text/front-matter.ts'
import { isWithin, type Path } from '../../paths/logical-path.ts'
import { type Label, labelNames } from '../../policy/labels.ts'
import type { BuiltinContext, MemoryContext, PlanState } from '../builtin-tool.ts'

/** Ids are words and slashes, so that no id can name another path. */
export const noteId = z
  .string()
  .check(
    z.maxLength(200),
    z.regex(/^[A-Za-z0-9][\w-]*(?:\/[A-Za-z0-9][\w-]*)*$/, 'must be words of A-Z, a-z, 0-9, - and _, separated by /'),
    z.describe('Name of the note, such as decisions/storage'),
  )

/** Returns the directory of the notes. */
export function memoryPath({ memory }: Pick<PlanState, 'memory'>): string {
  return required(memory)
}

/** Returns the path of a note. */
export function notePath(id: string, state: Pick<PlanState, 'memory'>): string {
  return `${memoryPath(state)}/${id}.md`
}

/** Returns the id of the note at a path. */
export function idOf(path: string, { path: root }: MemoryContext): string {
  return path.slice(root.length + 1, -'.md'.length)
}

export function memoryOf({ memory }: Pick<BuiltinContext, 'memory'>): MemoryContext {
  return required(memory)
}

/** The memory tools are only registered in a workspace with a memory. */
function required<T>(memory: T | undefined): T {
  if (memory === undefined) throw new TypeError('The workspace has no memory')
  return memory
}

export interface ReadNote extends Note {
  readonly document: TextDocument
}

/** Parses a note as a model may see it. Returns `undefined` for any other file and for a note hidden from the caller. */
export function noteIn(bytes: Uint8Array, path: Path, memory: MemoryContext): ReadNote | undefined {
  if (!path.endsWith('.md') || !isWithin(path, memory.path)) return undefined
  let document: TextDocument
  try {
    document = createDocument(bytes, path)
  } catch {
    return undefined
  }
  const note = parseNote(document.text)
  return note !== undefined && isVisible(note, memory) ? { ...note, document } : undefined
}

/** Without the ACL, every caller sees every note. */
function isVisible({ scopes }: Note, { acl, scopes: callerScopes }: MemoryContext): boolean {
  return !acl || scopes.length === 0 || scopes.some((scope) => callerScopes.includes(scope))
}

/** Returns the note at a path. A file over the size limit of text files does not count as a note. */
export async function findNote(context: BuiltinContext, path: Path): Promise<ReadNote | undefined> {
  const { files, limits } = context
  const stat = isWithin(path, memoryOf(context).path) ? await files.stat(path) : undefined
  if (stat?.type !== 'file' || stat.size > limits.textFileBytes) return undefined
  let note: ReadNote | undefined
  await files.scan(
    [path],
    () => true,
    (_, bytes) => {
      note = noteIn(bytes.slice(), path, memoryOf(context))
      return false
    },
  )
  return note
}

/** Records that the call shows a note, and the label that the note has. */
export function markAsShown(context: BuiltinContext, path: Path, { labels, document }: ReadNote): void {
  context.files.noteRead(path, document.bytes.length)
  context.addLabel(highestLabel(labels), path)
}

export function highestLabel(labels: readonly string[]): Label {
  return labelNames.findLast((label) => labels.includes(label)) ?? 'public'
}

/** Returns the error for a missing note, and the same error for a note that the caller may not see. */
export function noteNotFound(id: string): ToolError {
  return new ToolError('NOT_FOUND', `Note ${JSON.stringify(id)} does not exist`, {
    hint: 'Use memory_search to find notes.',
  })
}

/** Visits the notes that the caller may see, in the order of their paths. The result has the labels of all of them. */
export async function eachNote(context: BuiltinContext, visit: (path: Path, note: ReadNote) => void): Promise<void> {
  const { files, limits } = context
  const memory = memoryOf(context)
  const start = memory.path as Path
  if ((await files.stat(start))?.type !== 'directory') return
  const paths = (await files.notes(start)).filter((path) => path.endsWith('.md'))
  const notes = new Map<Path, ReadNote>()
  await files.scan(
    paths,
    (_path, _bytes, stat) => stat.size <= limits.textFileBytes,
    (path, bytes) => {
      const note = noteIn(bytes.slice(), path, memory)
      if (note !== undefined) notes.set(path, note)
      return true
    },
  )
  for (const path of paths) {
    const note = notes.get(path)
    // With the ACL, nothing may show that a hidden note exists.
    if (note ?? !memory.acl) context.addSearched(path)
    if (note === undefined) continue
    context.addLabel(highestLabel(note.labels), path)
    visit(path, note)
  }
}

/** Counts the occurrences of words in a note, ignoring letter case. */
export function occurrences({ title = '', content }: Note, words: readonly string[]): number {
  const text = `${title}\n${content}`.toLowerCase()
  return words.reduce((sum, word) => sum + text.split(word).length - 1, 0)
}

export function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))]
}
