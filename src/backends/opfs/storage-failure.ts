import { ToolError } from '../../errors.ts'

/** Converts an error of the browser's storage, by its name, which is the same in all browsers. `prefix`: `Cannot …`. */
export function storageFailure(prefix: string, error: unknown, path?: string): ToolError {
  if (error instanceof ToolError) return error
  const details = path === undefined ? {} : { path }
  const name = (error as { readonly name?: unknown } | null)?.name
  switch (name) {
    case 'QuotaExceededError':
      return new ToolError('NO_SPACE', `${prefix}: the storage of this site is full`, details)
    case 'NotAllowedError':
    case 'SecurityError':
      return new ToolError('BACKEND_ERROR', `${prefix}: the browser does not permit it`, {
        ...details,
        hint: 'Nothing was changed. The user must give permission for this folder again.',
      })
    case 'NoModificationAllowedError':
    case 'InvalidStateError':
      return new ToolError('BACKEND_ERROR', `${prefix}: it is open elsewhere`, {
        ...details,
        hint: 'Nothing was changed. Another tab or program holds it open: close that, then try again.',
      })
    case 'NotReadableError':
      return new ToolError('BACKEND_ERROR', `${prefix}: it was changed while it was read`, {
        ...details,
        hint: 'Nothing was changed. Try again.',
      })
    default:
      return new ToolError(
        'BACKEND_ERROR',
        `${prefix}: the storage failed${typeof name === 'string' ? ` (${name})` : ''}`,
        details,
      )
  }
}
