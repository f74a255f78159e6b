import { ToolError } from '../errors.ts'

/** The refusal of a repository that cannot be read as git wrote it. */
export function corrupt(why: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot read the repository of the workspace: ${why}`, {
    hint: 'Tell the person in charge: the repository may be damaged, or use a format that is not supported.',
  })
}
