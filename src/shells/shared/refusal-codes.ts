import type { ErrorCode } from '../../errors.ts'

/** What an access of a command is refused with, where policy or guard refuses it: this is listed in the result. */
export const refusing: ReadonlySet<ErrorCode> = new Set([
  'PATH_REJECTED',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'READ_ONLY',
  'TAINT_DENIED',
  'APPROVAL_DENIED',
  'UNSUPPORTED_ENCODING',
  'LIMIT_EXCEEDED',
])
