import type { Success } from '../../call/state/call.ts'
import { type Failure, isRefusal } from '../../errors.ts'
import type { TimelineEntry } from '../timeline.ts'
import { codeWords, wordsOf } from './code-words.ts'
import { pathInWords } from './person-words.ts'

/** The outcome of a call in a word. */
export interface CallOutcome {
  readonly text: string
  readonly tone: '' | 'good' | 'warn' | 'bad'
}

/** Returns the outcome of a call in a word. */
export function outcomeOf(entry: TimelineEntry): CallOutcome {
  if (entry.state === 'waiting') return { text: 'waiting for you', tone: 'warn' }
  if (entry.state === 'running') return { text: 'running', tone: '' }
  const { result, record } = entry
  if (result === undefined) return { text: 'interrupted', tone: 'warn' }
  if (!result.ok) return { text: failureInWord(result), tone: 'bad' }
  const approved = record?.approvals?.some(({ how }) => how !== 'denied') === true
  const exit = (result as Success & { exitCode?: number }).exitCode
  if (record?.refusals !== undefined && record.refusals.length > 0) return { text: 'blocked in part', tone: 'warn' }
  if (exit !== undefined && exit !== 0) return { text: `exit ${exit}`, tone: 'warn' }
  return { text: approved ? 'you approved' : 'allowed', tone: 'good' }
}

function failureInWord(failure: Failure): string {
  if (failure.code === 'APPROVAL_DENIED') return 'refused'
  // A tool of one's own may have another code.
  if (codeWords[failure.code] === undefined) return 'failed'
  return isRefusal(failure) ? 'blocked' : wordsOf(failure).title
}

/** Describes the input of a call in one line. */
export function aboutCall(tool: string, input: unknown): string {
  const fields = (input ?? {}) as Record<string, unknown>
  const first = [
    typeof fields.path === 'string' ? pathInWords(fields.path) : undefined,
    fields.command,
    fields.query,
    fields.pattern,
    fields.plan,
    fields.checkpoint,
    fields.callId,
  ].find((value) => typeof value === 'string')
  if (tool === 'apply_patch') return patchedFiles(String(fields.patch ?? ''))
  if (typeof first !== 'string') return ''
  const to = typeof fields.to === 'string' ? ` → ${pathInWords(fields.to)}` : ''
  return `${first.split('\n')[0]?.slice(0, 160)}${to}`
}

function patchedFiles(patch: string): string {
  const names = [...patch.matchAll(/^(?:\+\+\+ b\/|\*\*\* (?:Update|Add|Delete) File: )(.+)$/gm)].map(
    ([, name]) => name,
  )
  return [...new Set(names)].join(', ')
}
