import type { AuditRecord, Success } from 'wardspace'
import { isRefusal } from '../../session/refusals.ts'
import type { TimelineEntry } from '../../session/types.ts'

/** Returns the outcome of a call in a word. */
export function outcomeOf(entry: TimelineEntry): {
  readonly text: string
  readonly tone: '' | 'good' | 'warn' | 'bad'
} {
  if (entry.state === 'waiting') return { text: 'needs approval', tone: 'warn' }
  if (entry.state === 'running') return { text: 'running', tone: '' }
  const { result, record } = entry
  if (result === undefined) return { text: 'interrupted', tone: 'warn' }
  if (!result.ok) return { text: failureInWord(result.code), tone: 'bad' }
  const approved = record?.approvals?.some(({ how }) => how !== 'denied') === true
  const exit = (result as Success & { exitCode?: number }).exitCode
  if (record?.refusals !== undefined && record.refusals.length > 0) return { text: 'partly refused', tone: 'warn' }
  if (exit !== undefined && exit !== 0) return { text: `exit ${exit}`, tone: 'warn' }
  return { text: approved ? 'approved' : 'allowed', tone: 'good' }
}

function failureInWord(code: string): string {
  if (code === 'APPROVAL_DENIED') return 'refused'
  return isRefusal(code) ? 'blocked' : code
}

export function Outcome({ entry }: { readonly entry: TimelineEntry }) {
  const { text, tone } = outcomeOf(entry)
  return <span class={`tag ${tone}`}>{text}</span>
}

/** Describes the input of a call in one line. */
export function aboutCall(tool: string, input: unknown): string {
  const fields = (input ?? {}) as Record<string, unknown>
  const first = [
    fields.path,
    fields.command,
    fields.query,
    fields.pattern,
    fields.plan,
    fields.checkpoint,
    fields.callId,
  ].find((value) => typeof value === 'string')
  if (tool === 'apply_patch') return patchedFiles(String(fields.patch ?? ''))
  if (typeof first !== 'string') return ''
  const to = typeof fields.to === 'string' ? ` → ${fields.to}` : ''
  return `${first.split('\n')[0]?.slice(0, 160)}${to}`
}

function patchedFiles(patch: string): string {
  const names = [...patch.matchAll(/^(?:\+\+\+ b\/|\*\*\* (?:Update|Add|Delete) File: )(.+)$/gm)].map(
    ([, name]) => name,
  )
  return [...new Set(names)].join(', ')
}

export interface RulesProps {
  readonly rules: AuditRecord['policyDecision']['rules']
}

/** The rules that took part in a decision. */
export function Rules({ rules }: RulesProps) {
  if (rules.length === 0) return <p class="muted">No rule took part.</p>
  return (
    <ul class="rules">
      {rules.map((rule) => (
        <li key={`${rule.source} ${rule.name} ${rule.path} ${rule.action}`}>
          <span class={`tag ${rule.action === 'allow' ? 'good' : rule.action === 'ask' ? 'warn' : 'bad'}`}>
            {rule.action}
          </span>
          <span>
            {rule.source === undefined ? '' : `${rule.source} `}
            <strong>{rule.name}</strong>
            {rule.path === undefined || rule.path === '' ? '' : ` on ${rule.path}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
