import * as z from 'zod/mini'
import { classifyDirectory, classifyPath } from '../files/classify/index.ts'
import { clamp } from '../limits.ts'
import { display } from '../paths/logical-path.ts'
import { isAbove } from '../policy/taint.ts'
import type { WalkEntry } from '../storage/walk.ts'
import { counted } from '../util/counted.ts'
import { type BuiltinContext, defineBuiltinTool } from './builtin-tool.ts'
import { directoryPath, filters } from './shared/fields.ts'
import { isoTime } from './shared/iso-time.ts'
import { targetOf } from './shared/target.ts'

const input = z.strictObject({
  path: directoryPath,
  maxDepth: z._default(z.int().check(z.minimum(1)), 1),
  maxEntries: z.optional(z.int().check(z.minimum(1))),
  ...filters,
})

const entry = z.object({
  path: z.string(),
  type: z.enum(['file', 'directory', 'link', 'other']),
  kind: z.string(),
  sizeBytes: z.optional(z.number()),
  modifiedAt: z.optional(z.string()),
  readable: z.optional(z.literal(false)),
  reason: z.optional(z.string()),
})

const output = z.object({
  path: z.string(),
  entries: z.array(entry),
  totalEntries: z.number(),
  truncated: z.boolean(),
})

/** Lists a directory. The entries of a subdirectory follow it directly. */
export const listDirectory = defineBuiltinTool({
  name: 'list_directory',
  title: 'List directory',
  description: 'List a directory, by default without hidden and ignored names.',
  input,
  output,
  permission: 'file:list',
  mutates: false,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:list', path, recursive: true }],
  async draft(input, context) {
    const { path, asked: requestedPath } = targetOf(context)
    const { limits, warnings, files } = context
    const maxEntries = clamp('maxEntries', input.maxEntries ?? limits.listEntries, limits.listEntriesHard, warnings)
    const maxDepth = clamp('maxDepth', input.maxDepth, limits.listDepthHard, warnings)
    const page: WalkEntry[] = []
    let total = 0
    for await (const walked of files.walk(path, 'list', input, maxDepth)) {
      total += 1
      if (page.length < maxEntries) page.push(walked)
    }
    const label = context.taint()
    const entries: z.output<typeof entry>[] = []
    let above = 0
    for (const walked of page) {
      const isAboveRun = walked.type !== 'directory' && isAbove(context.labelOf(walked.path), label)
      if (isAboveRun) above += 1
      entries.push(await describe(walked, context, !isAboveRun))
    }
    if (above > 0) {
      warnings.push(
        `Sizes and times of ${counted(above, 'entry', 'entries')} with a label above ${label} are not shown; file_info shows them`,
      )
    }
    const truncated = total > page.length
    if (truncated) warnings.push(`${total - page.length} of ${total} entries are not shown`)
    return {
      summary: `Listed ${display(requestedPath)}: ${counted(total, 'entry', 'entries')}`,
      result: () => ({ path: display(requestedPath), entries, totalEntries: total, truncated }),
    }
  },
})

async function describe(
  { path, type }: WalkEntry,
  context: BuiltinContext,
  showsStat: boolean,
): Promise<z.output<typeof entry>> {
  const { kind, readable, redacted, reason } = type === 'directory' ? classifyDirectory(path) : classifyPath(path)
  if (redacted || (!readable && kind === 'GIT_INTERNAL')) return { path, type, kind, readable: false, reason }
  if (type === 'directory' || !showsStat) return { path, type, kind }
  context.addSearched(path)
  const stat = await context.files.stat(path)
  return {
    path,
    // A damaged entry may have another type in the list of names.
    type: stat?.type === 'other' ? 'other' : type,
    kind,
    ...(stat?.type === 'file' ? { sizeBytes: stat.size } : {}),
    ...(stat?.modifiedAt === undefined ? {} : { modifiedAt: isoTime(stat.modifiedAt) }),
  }
}
