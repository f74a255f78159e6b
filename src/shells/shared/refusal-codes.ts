import type { ErrorCode } from '../../errors.ts'

/** Error codes of accesses and commands that policy or guard refuses. The result lists these refusals. */
export const refusing: ReadonlySet<ErrorCode> = new Set([
  'PATH_REJECTED',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'READ_ONLY',
  'TAINT_DENIED',
  'COMMAND_DENIED',
  'APPROVAL_DENIED',
  'UNSUPPORTED_ENCODING',
  'LIMIT_EXCEEDED',
])
