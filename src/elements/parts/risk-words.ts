import type { ApprovalRequest } from '../../policy/approval.ts'
import { ownValue } from '../../util/own-value.ts'

const flags: Readonly<Record<string, string>> = {
  touchesBuildFile: 'touches a build file',
  touchesSecuritySensitivePath: 'touches a security-sensitive path',
  deletesFile: 'deletes a file',
  changesPublicApi: 'changes a public API',
  deletesOrSkipsTests: 'deletes or skips tests',
}

/** A risk of a call in a person's words. */
export function riskInWords({ flag }: ApprovalRequest['risks'][number]): string {
  return ownValue(flags, flag) ?? flag
}
