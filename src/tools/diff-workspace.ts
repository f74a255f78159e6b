import * as z from 'zod'
import type { DiffSection } from '../git/diff-section.ts'
import { clamp } from '../limits.ts'
import { isWithin, quote } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
import { truncatePatch } from './shared/truncate-patch.ts'

const input = z.strictObject({
  statOnly: z.boolean().optional().describe('Only which files changed and by how many lines'),
  maxBytes: z.int().min(1).optional().describe('Bytes of diff at most; cut at a file or hunk'),
  paths: z.array(z.string()).min(1).max(1000).optional().describe('Only these files and directories'),
  base: z.string().min(1).max(300).optional().describe('Commit id, branch or tag to compare with instead of HEAD'),
})

const output = z.object({
  baseCommit: z.string().nullable().describe('null: compared with the workspace as it was opened'),
  filesChanged: z.number(),
  insertions: z.number(),
  deletions: z.number(),
  stat: z.array(
    z.object({
      path: z.string(),
      oldPath: z.string().optional(),
      status: z.enum(['added', 'deleted', 'modified', 'renamed']),
      insertions: z.number(),
      deletions: z.number(),
      binary: z.boolean(),
    }),
  ),
  diff: z.string().describe('A patch that git apply takes'),
  truncated: z.boolean(),
  diffSha256: z.string().describe('Version of the whole diff, also where it was cut'),
})

/** What changed since HEAD, as a patch. */
export const diffWorkspace = defineTool({
  name: 'diff_workspace',
  title: 'Diff workspace',
  description:
    'Show what changed since the HEAD commit (without a repository: since the workspace was opened) as a patch, new files included, ignored and secret ones never.',
  input,
  output,
  permission: 'file:diff',
  mutates: false,
  idempotent: true,
  plan: ({ paths }) =>
    (paths ?? ['.']).map((path) => ({ permission: 'file:diff', path, recursive: true, noFollow: true })),
  async draft(asked, context) {
    const { limits, warnings, accesses } = context
    const most = clamp('maxBytes', asked.maxBytes ?? limits.diffBytes, limits.diffBytesHard, warnings)
    const found = await context.workspaceDiff({
      base: asked.base,
      wants: asked.paths === undefined ? () => true : (path) => accesses.some((access) => isWithin(path, access.path)),
    })
    const { sections, insertions, deletions, hidden, unknown } = found
    if (hidden > 0)
      warnings.push(`${count(hidden, 'changed file')} that may not be shown ${hidden === 1 ? 'is' : 'are'} left out`)
    if (unknown > 0)
      warnings.push(
        `${count(unknown, 'changed file')} had a first state too large to be kept, and ${unknown === 1 ? 'is' : 'are'} left out`,
      )
    const masked = sections.filter(({ redacted }) => redacted).map(({ path }) => quote(path))
    if (masked.length > 0) {
      warnings.push(
        `Secrets stand as marks in ${masked.slice(0, 5).join(', ')}, so the patch does not give back these files exactly`,
      )
    }
    const stat = sections.slice(0, limits.diffFiles).map(statOf)
    if (stat.length < sections.length) warnings.push(`stat names ${stat.length} of ${sections.length} files; use paths`)
    const cut = asked.statOnly === true ? { text: '', truncated: false } : truncatePatch(sections, most)
    if (cut.truncated)
      warnings.push(`The diff was cut at ${most} bytes; use paths or a larger maxBytes to see the rest`)
    const whole = { extension: 'diff', text: () => sections.map(({ text }) => text).join('') }
    const base = found.baseCommit === null ? 'the workspace as it was opened' : found.baseCommit.slice(0, 12)
    return {
      summary: `${count(sections.length, 'file')} changed since ${base}: +${insertions} -${deletions}`,
      ...(cut.truncated ? { fullOutput: whole } : {}),
      result: () => ({
        baseCommit: found.baseCommit,
        filesChanged: sections.length,
        insertions,
        deletions,
        stat,
        diff: cut.text,
        truncated: cut.truncated,
        diffSha256: found.sha256(),
      }),
    }
  },
})

function statOf({ path, oldPath, status, insertions, deletions, binary }: DiffSection) {
  return { path, ...(oldPath === undefined ? {} : { oldPath }), status, insertions, deletions, binary }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
