import { type Failure, isRefusal } from '../../errors.ts'
import type { Permission } from '../../policy/permissions.ts'
import { NO_REASON } from '../../util/no-reason.ts'
import { wordsOf } from './code-words.ts'

/** A refused access of a command. */
export interface Refusal {
  readonly permission: string
  readonly path: string
  readonly code: string
}

/** What is done to a path, by the permission that it needs. */
const acts: Readonly<Record<Permission, string>> = {
  'file:list': 'listed',
  'file:read': 'read',
  'file:search': 'searched',
  'file:info': 'looked at',
  'file:write:create': 'created',
  'file:write:replace': 'overwritten',
  'file:append': 'added to',
  'file:delete': 'deleted',
  'file:move': 'moved',
  'file:copy': 'copied',
  'file:patch:apply': 'patched',
  'file:diff': 'compared',
  'command:run': 'run',
  'command:background': 'started',
  'memory:read': 'read',
  'memory:write': 'written',
  'plan:submit': 'submitted',
  'git:write': 'written by git',
  'git:push': 'sent by git',
}

/** A path in a person's words. The root has no name of its own. */
export function pathInWords(path: string): string {
  return path === '' || path === '.' ? 'the project folder' : path
}

/** Describes a refused access within a command in a person's words. */
export function refusalInWords({ permission, path, code }: Refusal): string {
  const file = pathInWords(path)
  switch (code) {
    case 'POLICY_DENIED_SECRET':
      return `Blocked: ${file} is a secret file`
    case 'READ_ONLY':
      return `Blocked: ${file} is read-only here`
    case 'TAINT_DENIED':
      return `Blocked: ${file} is public, and confidential files were read before`
    case 'PATH_REJECTED':
      return `Blocked: ${file} is outside of the project, or its name is not allowed`
    case 'PLAN_MODE':
      return `Waiting for you to approve the plan: ${file} is not changed before that`
    default:
      return `Blocked: ${file} cannot be ${acts[permission as Permission] ?? 'used'}`
  }
}

/** Says in a few words what happened to a call that was not carried out, without the words that are meant for models. */
export function headlineOf({ code, message, path }: Pick<Failure, 'code' | 'message' | 'path'>): string {
  const [, denied, reason] = /^Policy denies \S+ of "(.*)": it (is .*)$/s.exec(message) ?? []
  if (isRefusal({ code }) && denied !== undefined) return `Blocked: ${pathInWords(denied)} ${reason}`
  const [, cause] = /^Cannot run the command: (.*)$/s.exec(message) ?? []
  if (code === 'COMMAND_DENIED' && cause !== undefined) {
    return `Blocked: ${cause.replace(/^Policy denies (the operator )?"(.*)"$/s, '$1$2 is not allowed here')}`
  }
  const { title } = wordsOf({ code, message })
  const [, ownReason] = /^The approval of \S+ was refused: (.*)$/s.exec(message) ?? []
  if (code === 'APPROVAL_DENIED' && ownReason !== undefined)
    return ownReason === NO_REASON ? title : `${title}: ${ownReason}`
  return path === undefined || path === '' ? title : `${title} (${pathInWords(path)})`
}

/** Describes a call that was not carried out in a person's words, with the reason. */
export function blockedInWords(failure: Pick<Failure, 'code' | 'message' | 'path'>): string {
  return `${headlineOf(failure)}. ${wordsOf(failure).why}`
}
