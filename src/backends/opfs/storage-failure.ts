import { ToolError } from '../../errors.ts'

/** A failure of the browser's storage as one of ours: by the name of its error, which all browsers share. */
export function storageFailure(cannot: string, error: unknown, path?: string): ToolError {
  if (error instanceof ToolError) return error
  const details = path === undefined ? {} : { path }
  const name = (error as { readonly name?: unknown } | null)?.name
  switch (name) {
    case 'QuotaExceededError':
      return new ToolError('NO_SPACE', `${cannot}: the storage of this site is full`, details)
    case 'NotAllowedError':
    case 'SecurityError':
      return new ToolError('BACKEND_ERROR', `${cannot}: the browser does not permit it`, {
        ...details,
        hint: 'Nothing was changed. The person in charge must give permission for this folder again.',
      })
    case 'NoModificationAllowedError':
    case 'InvalidStateError':
      return new ToolError('BACKEND_ERROR', `${cannot}: it is open elsewhere`, {
        ...details,
        hint: 'Nothing was changed. Another tab or program holds it open: close that, then try again.',
      })
    case 'NotReadableError':
      return new ToolError('BACKEND_ERROR', `${cannot}: it was changed while it was read`, {
        ...details,
        hint: 'Nothing was changed. Try again.',
      })
    default:
      return new ToolError(
        'BACKEND_ERROR',
        `${cannot}: the storage failed${typeof name === 'string' ? ` (${name})` : ''}`,
        details,
      )
  }
}
