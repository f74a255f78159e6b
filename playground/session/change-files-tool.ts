import type { Path } from 'wardspace'
import type { Change } from 'wardspace/backend'
import { defineTool, type ToolContext } from 'wardspace/tool'
import * as z from 'zod/mini'

const write = z.strictObject({ path: z.string(), content: z.string(), sha256: z.string() })

const input = z.strictObject({
  /** Files and directories to delete, with everything in them. */
  remove: z._default(z.array(z.string()), []),
  /** A file that takes the place of another one. */
  replace: z.optional(z.strictObject({ path: z.string(), to: z.string() })),
  /** New contents, each with the version that it was made from. */
  writes: z._default(z.array(write), []),
  label: z.string(),
})

/** A change of several files by the person, in one step. */
export type FileChanges = z.input<typeof input>

/**
 * Changes several files at once. The person's file views call it in a workspace of the owner; agents never get it.
 */
export const changeFilesTool = defineTool({
  name: 'change_files',
  title: 'Change files',
  description: 'Delete, replace or rewrite several files in one step.',
  input,
  output: z.object({ files: z.number() }),
  permission: 'file:write:replace',
  mutates: true,
  idempotent: false,
  plan: ({ remove, replace, writes }) => [
    ...remove.map((path) => ({ permission: 'file:delete' as const, path, noFollow: true, recursive: true })),
    ...(replace === undefined
      ? []
      : [
          { permission: 'file:move' as const, path: replace.path, noFollow: true },
          { permission: 'file:write:replace' as const, path: replace.to, noFollow: true },
        ]),
    ...writes.map(({ path }) => ({ permission: 'file:write:replace' as const, path })),
  ],
  async draft({ remove, replace, writes, label }, context) {
    const planned = context.accesses.map(({ path }) => path)
    const changes: Change[] = []
    for (const [at] of remove.entries()) changes.push(...(await removal(context, planned[at] as Path)))
    const next = planned.slice(remove.length)
    if (replace !== undefined) changes.push(...(await replacement(context, next.splice(0, 2) as [Path, Path])))
    for (const [at, { content, sha256 }] of writes.entries()) {
      const path = next[at] as Path
      const mode = (await context.files.stat(path))?.mode
      const bytes = new TextEncoder().encode(content)
      changes.push({ path, expect: { sha256 }, to: { type: 'file', bytes, ...(mode === undefined ? {} : { mode }) } })
    }
    return { summary: label, changes, result: () => ({ files: changes.length }) }
  },
})

async function removal({ files, limits }: ToolContext, path: Path): Promise<Change[]> {
  const stat = await files.stat(path)
  if (stat === undefined) return []
  const below = stat.type === 'directory' ? await files.allEntries(path, limits.treeEntries) : []
  const changes: Change[] = [{ path, expect: { tag: stat.tag }, to: null }]
  for (const entry of below) {
    const current = await files.stat(entry.path)
    if (current !== undefined) changes.push({ path: entry.path, expect: { tag: current.tag }, to: null })
  }
  return changes
}

async function replacement({ files, limits }: ToolContext, [path, to]: [Path, Path]): Promise<Change[]> {
  const { bytes, stat } = await files.read(path, limits.treeBytes)
  const target = await files.stat(to)
  const { mode } = stat
  return [
    { path, expect: { tag: stat.tag }, to: null },
    {
      path: to,
      expect: target === undefined ? 'absent' : { tag: target.tag },
      to: { type: 'file', bytes, ...(mode === undefined ? {} : { mode }) },
    },
  ]
}
