import { ToolError } from '../errors.ts'

/** The error for a repository that is damaged or in an unsupported format. */
export function corrupt(why: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot read the repository of the workspace: ${why}`, {
    hint: 'Report this to the user: the repository may be damaged or in an unsupported format.',
  })
}
