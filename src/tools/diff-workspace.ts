import * as z from 'zod/mini'
import { ToolError } from '../errors.ts'
import type { DiffSection } from '../git/diff-section.ts'
import { clamp } from '../limits.ts'
import { display, isWithin, quote } from '../paths/logical-path.ts'
import { counted, leftOutNames } from '../util/counted.ts'
import { shortVersion } from '../util/short-version.ts'
import { type BuiltinContext, defineBuiltinTool } from './builtin-tool.ts'
import { resultSize, roomInResult } from './shared/result-size.ts'
import { cutSections, truncatePatch } from './shared/truncate-patch.ts'

const input = z.strictObject({
  statOnly: z.optional(z.boolean().check(z.describe('Only files and line counts'))),
  maxBytes: z.optional(z.int().check(z.minimum(1))),
  paths: z.optional(z.array(z.string()).check(z.minLength(1), z.maxLength(1000))),
  base: z.optional(z.string().check(z.minLength(1), z.maxLength(300), z.describe('Commit, branch or tag'))),
})

const output = z.object({
  baseCommit: z.nullable(z.string()).check(z.describe('null: compared with the workspace when it was opened')),
  filesChanged: z.number(),
  insertions: z.number(),
  deletions: z.number(),
  stat: z.array(
    z.object({
      path: z.string(),
      oldPath: z.optional(z.string()),
      status: z.enum(['added', 'deleted', 'modified', 'renamed']),
      insertions: z.number(),
      deletions: z.number(),
      binary: z.boolean(),
    }),
  ),
  diff: z.string(),
  truncated: z.boolean(),
  diffSha256: z.string(),
})

/** Returns the changes since HEAD as a patch. */
export const diffWorkspace = defineBuiltinTool({
  name: 'diff_workspace',
  title: 'Diff workspace',
  description: 'Show the changes since HEAD as a patch, without ignored and secret files.',
  input,
  output,
  permission: 'file:diff',
  mutates: false,
  idempotent: true,
  plan: ({ paths }) =>
    (paths ?? ['.']).map((path) => ({ permission: 'file:diff', path, recursive: true, noFollow: true })),
  async draft(input, context) {
    const { limits, warnings, accesses } = context
    const maxBytes = clamp('maxBytes', input.maxBytes ?? limits.diffBytes, limits.diffBytesHard, warnings)
    const workspaceDiff = await context.workspaceDiff({
      base: input.base,
      wants: input.paths === undefined ? () => true : (path) => accesses.some((access) => isWithin(path, access.path)),
    })
    const { sections, insertions, deletions, hidden, leftOut, unknown } = workspaceDiff
    warnings.push(...leftOutNames(leftOut))
    if (hidden > 0)
      warnings.push(`${counted(hidden, 'changed file')} hidden by policy ${hidden === 1 ? 'is' : 'are'} left out`)
    if (unknown > 0)
      warnings.push(
        `${counted(unknown, 'changed file')} had an original too large to keep and ${unknown === 1 ? 'is' : 'are'} left out`,
      )
    if (input.paths !== undefined) warnings.push(...(await missingPaths(context, sections)))
    const redactedPaths = sections.filter(({ redacted }) => redacted).map(({ path }) => quote(path))
    if (redactedPaths.length > 0) {
      warnings.push(
        `Secrets in ${redactedPaths.slice(0, 5).join(', ')} are shown as marks, so the patch does not reproduce these files exactly`,
      )
    }
    const room = roomInResult(limits.projectionBytes)
    const stat = statsWithin(
      sections.slice(0, limits.diffFiles),
      input.statOnly === true ? Math.min(room, maxBytes) : room / 2,
    )
    if (stat.length < sections.length)
      warnings.push(`stat lists ${stat.length} of ${counted(sections.length, 'file')}; use paths`)
    // The bound of a result holds for every maxBytes, so that a larger one never shows less.
    const maxDiff = Math.min(maxBytes, Math.max(0, room - resultSize(stat)))
    const cut = input.statOnly === true ? { text: '', truncated: false } : truncatePatch(sections, maxDiff)
    if (cut.truncated) warnings.push(describeCut(sections, cut.text, maxDiff, maxBytes))
    const whole = { extension: 'diff', text: () => sections.map(({ text }) => text).join('') }
    const base = workspaceDiff.baseCommit === null ? 'the workspace was opened' : shortVersion(workspaceDiff.baseCommit)
    return {
      summary: `${counted(sections.length, 'file')} changed since ${base}: +${insertions} -${deletions}`,
      ...(cut.truncated ? { fullOutput: whole } : {}),
      result: () => ({
        baseCommit: workspaceDiff.baseCommit,
        filesChanged: sections.length,
        insertions,
        deletions,
        stat,
        diff: cut.text,
        truncated: cut.truncated,
        diffSha256: workspaceDiff.sha256(),
      }),
    }
  },
})

/**
 * Returns a warning for each path of the call that has no change and does not exist.
 *
 * @throws ToolError `INVALID_INPUT` for a glob
 */
async function missingPaths(
  { accesses, files }: Pick<BuiltinContext, 'accesses' | 'files'>,
  sections: readonly DiffSection[],
): Promise<string[]> {
  const missing: string[] = []
  for (const { path, asked } of accesses) {
    const isChanged = sections.some((section) => isWithin(section.path, path) || section.oldPath === path)
    if (isChanged || (await files.stat(path)) !== undefined) continue
    if (/[*?[{]/.test(asked)) {
      throw new ToolError(
        'INVALID_INPUT',
        `Invalid input: paths: ${quote(asked)} does not exist, and globs do not work`,
        {
          field: 'paths',
          hint: 'Name files and directories.',
        },
      )
    }
    missing.push(`${quote(display(asked))} does not exist, and did not exist before the changes`)
  }
  return missing
}

/** Returns the first stats that fit into `maxBytes`. */
function statsWithin(sections: readonly DiffSection[], maxBytes: number): ReturnType<typeof statOf>[] {
  const stats: ReturnType<typeof statOf>[] = []
  let bytes = 2
  for (const section of sections) {
    const stat = statOf(section)
    bytes += resultSize(stat) + 1
    if (bytes > maxBytes) break
    stats.push(stat)
  }
  return stats
}

const MAX_NAMES = 10

/** Says where a diff was cut, which files it shows in part or not at all, and how to see them. */
function describeCut(sections: readonly DiffSection[], text: string, maxDiff: number, maxBytes: number): string {
  const { partial, omitted } = cutSections(sections, text)
  const names = omitted.slice(0, MAX_NAMES).map(({ path }) => quote(path))
  const more = omitted.length - names.length
  const parts = [
    ...partial.map(({ path }) => `${quote(path)} is shown in part`),
    ...(names.length === 0
      ? []
      : [`left out: ${names.join(', ')}${more > 0 ? ` and ${counted(more, 'more file')}` : ''}`]),
  ]
  // No larger maxBytes shows more than fits into a result.
  const advice = maxDiff < maxBytes ? 'use paths to see the rest' : 'use paths or a larger maxBytes to see the rest'
  return `The diff was cut at ${counted(maxDiff, 'byte')}; ${advice}${parts.length === 0 ? '' : ` (${parts.join('; ')})`}`
}

function statOf({ path, oldPath, status, insertions, deletions, binary }: DiffSection) {
  return { path, ...(oldPath === undefined ? {} : { oldPath }), status, insertions, deletions, binary }
}
