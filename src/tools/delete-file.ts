import * as z from 'zod/mini'
import { ToolError } from '../errors.ts'
import { display, notFound, quote } from '../paths/logical-path.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { checkExpected, comparing, refuseVersion } from './shared/expected-version.ts'
import { expectedSha256, filePath, reason } from './shared/fields.ts'
import { hashFile } from './shared/file-version.ts'
import { refuseRoot, targetOf } from './shared/target.ts'

const input = z.strictObject({ path: filePath, expectedSha256, reason })

const output = z.object({ path: z.string(), type: z.enum(['file', 'link']), oldSha256: z.nullable(z.string()) })

/** Deletes a file or a link. The target of a link stays. */
export const deleteFile = defineBuiltinTool({
  name: 'delete_file',
  title: 'Delete file',
  description: 'Delete a file, or a link (its target stays). Never a directory.',
  input,
  output,
  permission: 'file:delete',
  mutates: true,
  idempotent: true,
  plan: ({ path, expectedSha256 }) => [
    { permission: 'file:delete', path, noFollow: true, ...comparing(expectedSha256) },
  ],
  async draft(input, context) {
    const { path, asked: requestedPath, classification } = targetOf(context)
    refuseRoot(path, 'delete')
    const stat = await context.files.stat(path)
    if (stat === undefined) throw notFound(path)
    if (stat.type === 'directory') {
      throw new ToolError('IS_DIRECTORY', `Cannot delete ${quote(path)}: it is a directory`, {
        path,
        hint: 'delete_file removes single files and links; delete the files of the directory one by one.',
      })
    }
    if (stat.type === 'other') {
      throw new ToolError('PATH_REJECTED', `Cannot delete ${quote(path)}: it is not a regular file`, { path })
    }
    const isLarge = stat.size > context.limits.textFileBytes && input.expectedSha256 === undefined
    let oldSha256: string | null = null
    if (stat.type === 'link') refuseVersion(path, input.expectedSha256, 'link')
    else if (!isLarge || context.staleGuard === 'shown') {
      oldSha256 = await hashFile(context, path, stat)
      checkExpected(context, path, input.expectedSha256, oldSha256, { mustKnow: false })
    }
    const { type } = stat
    return {
      summary: `Deleted ${display(requestedPath)}`,
      changes: [{ path, expect: oldSha256 === null ? { tag: stat.tag } : { sha256: oldSha256 }, to: null }],
      // The hash of a protected file would confirm a guess of its content.
      result: () => ({ path: display(requestedPath), type, oldSha256: classification.redacted ? null : oldSha256 }),
    }
  },
})
