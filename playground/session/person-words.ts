import type { Failure } from 'wardspace'

/** A refused access of a command. */
export interface Refusal {
  readonly permission: string
  readonly path: string
  readonly code: string
}

/** Describes a refused access within a command in a person's words. */
export function refusalInWords({ permission, path, code }: Refusal): string {
  const file = path === '' || path === '.' ? 'the project itself' : path
  switch (code) {
    case 'POLICY_DENIED_SECRET':
      return `Blocked: ${file} is a secret file`
    case 'READ_ONLY':
      return `Blocked: ${file} can be read and not changed`
    case 'TAINT_DENIED':
      return `Blocked: ${file} is public, and confidential files were read before`
    case 'PATH_REJECTED':
      return `Blocked: ${file} is outside of the project, or its name is not allowed`
    case 'PLAN_MODE':
      return `Waiting for you to approve the plan: ${file} is not changed before that`
    default:
      return `Blocked: ${file} is protected (${permission.replace('file:', '').replaceAll(':', ' ')})`
  }
}

/** Describes a call that was not carried out in a person's words, without the hints that are meant for models. */
export function blockedInWords({ code, message }: Failure): string {
  if (code === 'ABORTED') return 'Stopped'
  if (code === 'COMMAND_TIMEOUT') return 'Stopped: the command took too long'
  const isRefusal = code.endsWith('_DENIED') || code === 'POLICY_DENIED_SECRET' || code === 'READ_ONLY'
  if (!isRefusal) return message
  const [, path, reason] = /^Policy denies \S+ of "(.*)": it (is .*)$/s.exec(message) ?? []
  return `Blocked: ${path === undefined ? message.replace(/^Cannot run the command: /, '') : `${path} ${reason}`}`
}
