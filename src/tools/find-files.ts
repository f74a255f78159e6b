import * as z from 'zod'
import { ToolError } from '../errors.ts'
import { clamp } from '../limits.ts'
import { compileGlob } from '../paths/glob.ts'
import { display, quote } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
import { directoryPath, filters } from './shared/fields.ts'
import { relativeTo, targetOf } from './shared/target.ts'

const input = z.strictObject({
  pattern: z.string().describe('Glob on the path relative to `path`, such as **/*.test.ts'),
  path: directoryPath,
  maxResults: z.int().min(1).optional().describe('Paths at most'),
  ...filters,
})

const output = z.object({
  path: z.string(),
  files: z.array(z.string()).describe('Paths from the workspace root, sorted'),
  totalFound: z.number(),
  truncated: z.boolean(),
})

/** Files and links whose path matches a glob. */
export const findFiles = defineTool({
  name: 'find_files',
  title: 'Find files',
  description:
    'Find files by a glob on their path: `**/*.ts` at any depth, `*.ts` only directly in `path`. Same filters as list_directory.',
  input,
  output,
  permission: 'file:list',
  mutates: false,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:list', path, recursive: true }],
  async draft(asked, context) {
    const { path, asked: named } = targetOf(context)
    const { limits, warnings, files } = context
    const most = clamp('maxResults', asked.maxResults ?? limits.findResults, limits.findResultsHard, warnings)
    const glob = compileGlob(asked.pattern, { caseInsensitive: !files.capabilities.caseSensitive })
    const stat = await files.stat(path)
    if (stat !== undefined && stat.type !== 'directory') {
      throw new ToolError('NOT_A_DIRECTORY', `Cannot find files in ${quote(path)}: it is not a directory`, { path })
    }
    const relative = relativeTo(path)
    const matching = await files.visible(path, asked, (candidate) => glob.matches(relative(candidate)))
    const total = matching.length
    const found = matching.slice(0, most)
    const truncated = total > found.length
    if (truncated)
      warnings.push(`${total - found.length} of ${total} paths are not shown; use a narrower pattern or path`)
    if (total === 0 && !asked.pattern.includes('/')) {
      warnings.push(
        `A pattern without a slash matches only directly in ${display(named)}; for any depth use ${quote(`**/${asked.pattern}`)}`,
      )
    }
    return {
      summary: `Found ${total} ${total === 1 ? 'file' : 'files'} for ${quote(asked.pattern)} in ${display(named)}`,
      result: () => ({ path: display(named), files: found, totalFound: total, truncated }),
    }
  },
})
