import * as z from 'zod/mini'
import { ToolError } from '../errors.ts'
import { clamp } from '../limits.ts'
import { compileGlob } from '../paths/glob.ts'
import { display, quote } from '../paths/logical-path.ts'
import { spellingWarnings } from '../paths/pattern-spelling.ts'
import { counted } from '../util/counted.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { directoryPath, filters } from './shared/fields.ts'
import { relativeTo, targetOf } from './shared/target.ts'

const input = z.strictObject({
  pattern: z.string(),
  path: directoryPath,
  maxResults: z.optional(z.int().check(z.minimum(1))),
  ...filters,
})

const output = z.object({
  path: z.string(),
  files: z.array(z.string()),
  totalFound: z.number(),
  truncated: z.boolean(),
})

/** Finds files and links whose path matches a glob. */
export const findFiles = defineBuiltinTool({
  name: 'find_files',
  title: 'Find files',
  description: 'Find files by a glob on their path: `**/*.ts` at any depth, `*.ts` only directly in `path`.',
  input,
  output,
  permission: 'file:list',
  mutates: false,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:list', path, recursive: true }],
  async draft(input, context) {
    const { path, asked: requestedPath } = targetOf(context)
    const { limits, warnings, files } = context
    const maxResults = clamp('maxResults', input.maxResults ?? limits.findResults, limits.findResultsHard, warnings)
    const glob = compileGlob(input.pattern, { caseInsensitive: !files.capabilities.caseSensitive })
    warnings.push(...spellingWarnings(input.pattern))
    const stat = await files.stat(path)
    if (stat !== undefined && stat.type !== 'directory') {
      throw new ToolError('NOT_A_DIRECTORY', `Cannot list ${quote(path)}: it is not a directory`, { path })
    }
    const relative = relativeTo(path)
    const matches = await files.visible(path, input, (candidate) => glob.matches(relative(candidate)))
    const total = matches.length
    const page = matches.slice(0, maxResults)
    const truncated = total > page.length
    if (truncated)
      warnings.push(`${total - page.length} of ${total} paths are not shown; use a narrower pattern or path`)
    if (total === 0 && !input.pattern.includes('/')) {
      warnings.push(
        `A pattern without a slash matches only entries directly in ${quote(display(requestedPath))}; for any depth use ${quote(`**/${input.pattern}`)}`,
      )
    }
    return {
      summary: `Found ${counted(total, 'file')} for ${quote(input.pattern)} in ${display(requestedPath)}`,
      result: () => ({ path: display(requestedPath), files: page, totalFound: total, truncated }),
    }
  },
})
