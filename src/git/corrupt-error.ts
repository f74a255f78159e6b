import { ToolError } from '../errors.ts'

/** The error for an object or a file of git that is larger than what is read. */
export class TooLargeError extends ToolError {
  constructor(label: string) {
    super('BACKEND_ERROR', `Cannot read the repository of the workspace: ${label} is too large`, {
      hint: 'Report this to the user: the repository has an object that is too large to read here.',
    })
  }
}

/** The error for a repository that is damaged or in an unsupported format. */
export function corrupt(reason: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot read the repository of the workspace: ${reason}`, {
    hint: 'Report this to the user: the repository may be damaged or in an unsupported format.',
  })
}
