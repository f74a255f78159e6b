import * as z from 'zod'
import { ToolError } from '../../errors.ts'
import { createDocument, type TextDocument } from '../../files/text/document.ts'
import { type Note, parseNote } from '../../files/text/front-matter.ts'
import { isWithin, type Path } from '../../paths/logical-path.ts'
import { type Label, labelNames } from '../../policy/labels.ts'
import type { MemoryContext, PlanState, ToolContext } from '../define-tool.ts'

/** Notes are named by words and slashes, so that no id can be any other path. */
export const noteId = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][\w-]*(?:\/[A-Za-z0-9][\w-]*)*$/, 'must be words of letters, digits, - and _, with / between')
  .describe('Name of the note, such as decisions/storage')

/** Where the notes lie. */
export function memoryPath({ memory }: Pick<PlanState, 'memory'>): string {
  return required(memory)
}

/** Where a note lies. */
export function notePath(id: string, state: Pick<PlanState, 'memory'>): string {
  return `${memoryPath(state)}/${id}.md`
}

/** The id of the note at a path. */
export function idOf(path: string, { path: root }: MemoryContext): string {
  return path.slice(root.length + 1, -'.md'.length)
}

export function memoryOf({ memory }: Pick<ToolContext, 'memory'>): MemoryContext {
  return required(memory)
}

/** Without a memory, no tool of it is there. */
function required<T>(memory: T | undefined): T {
  if (memory === undefined) throw new TypeError('The workspace has no memory')
  return memory
}

export interface ReadNote extends Note {
  readonly document: TextDocument
}

/** The note in some bytes, as a model may see it; `undefined` for what is none, or may not be seen by the caller. */
export function noteIn(bytes: Uint8Array, path: Path, memory: MemoryContext): ReadNote | undefined {
  if (!path.endsWith('.md') || !isWithin(path, memory.path)) return undefined
  let document: TextDocument
  try {
    document = createDocument(bytes, path)
  } catch {
    return undefined
  }
  const note = parseNote(document.text)
  return note !== undefined && isSeen(note, memory) ? { ...note, document } : undefined
}

/** Without the ACL, every caller sees every note. */
function isSeen({ scopes }: Note, { acl, scopes: own }: MemoryContext): boolean {
  return !acl || scopes.length === 0 || scopes.some((scope) => own.includes(scope))
}

/** What may be read whole: a longer note is none. */
export async function findNote(context: ToolContext, path: Path): Promise<ReadNote | undefined> {
  const { files, limits } = context
  const stat = isWithin(path, memoryOf(context).path) ? await files.stat(path) : undefined
  if (stat?.type !== 'file' || stat.size > limits.textFileBytes) return undefined
  let found: ReadNote | undefined
  await files.scan(
    [path],
    () => true,
    (_, bytes) => {
      found = noteIn(bytes.slice(), path, memoryOf(context))
      return false
    },
  )
  return found
}

/** Says that a note is shown: its path, and the label that it carries itself. */
export function toShownNote(context: ToolContext, path: Path, { labels, document }: ReadNote): void {
  context.files.noteRead(path, document.bytes.length)
  const label = highestLabel(labels)
  if (label !== 'public') context.addLabel(label, path)
}

export function highestLabel(labels: readonly string[]): Label {
  return labelNames.findLast((label) => labels.includes(label)) ?? 'public'
}

/** The same for a note that is not there and one that the caller may not see. */
export function noSuchNote(id: string): ToolError {
  return new ToolError('NOT_FOUND', `There is no note ${JSON.stringify(id)}`, {
    hint: 'Use memory_search to see what is there.',
  })
}

/** The notes that the caller may see, each visited once, in the order of their paths. */
export async function eachNote(context: ToolContext, visit: (path: Path, note: ReadNote) => void): Promise<void> {
  const { files, limits } = context
  const memory = memoryOf(context)
  const start = memory.path as Path
  if ((await files.stat(start))?.type !== 'directory') return
  const paths = (await files.notes(start)).filter((path) => path.endsWith('.md'))
  const found = new Map<Path, ReadNote>()
  await files.scan(
    paths,
    (_path, _bytes, stat) => stat.size <= limits.textFileBytes,
    (path, bytes) => {
      const note = noteIn(bytes.slice(), path, memory)
      if (note !== undefined) found.set(path, note)
      return true
    },
  )
  for (const path of paths) {
    const note = found.get(path)
    if (note !== undefined) visit(path, note)
  }
}

/** How often words occur in a note, in any letter case. */
export function occurrences({ title = '', content }: Note, words: readonly string[]): number {
  const text = `${title}\n${content}`.toLowerCase()
  return words.reduce((sum, word) => sum + text.split(word).length - 1, 0)
}

export function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))]
}
