import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { canHavePattern, createPattern, proposePaths } from '../../session/approvals-pattern.ts'
import type { TypedTexts } from '../../session/typed-texts.ts'
import type { PendingApproval, Session } from '../../session/types.ts'
import { announce } from '../../ui/announce.tsx'
import { scrollable } from '../../ui/focusable.ts'
import { Icon } from '../../ui/icon.tsx'
import './approvals.css'
import { UnifiedDiff } from '../changes/unified-diff.tsx'
import { aboutCall, Rules } from '../timeline/verdict.tsx'

const flags: Readonly<Record<string, string>> = {
  touchesBuildFile: 'touches a build file',
  touchesSecuritySensitivePath: 'touches a security-sensitive path',
  deletesFile: 'deletes a file',
  changesPublicApi: 'changes a public API',
  deletesOrSkipsTests: 'deletes or skips tests',
}

/** The pending approvals: a card for each call, with its effect. */
export function Approvals({
  pending,
  patterns,
  texts,
  saying,
}: {
  readonly pending: readonly PendingApproval[]
  readonly patterns: Session['approvalPatterns']
  readonly texts: TypedTexts
  /** What the agent said before it asked. */
  readonly saying: string | undefined
}) {
  const count = pending.length
  useEffect(() => {
    const first = pending[0]
    if (first !== undefined) announce(`${questionOf(first.request)} ${count === 1 ? '' : `${count} approvals wait`}`)
  }, [count])
  return (
    <section class="approvals" aria-label="Approvals">
      {count > 1 && <AnswerAll pending={pending} />}
      {pending.map((question) => (
        <Card
          key={question.request.id}
          question={question}
          patterns={patterns}
          pending={pending}
          saying={question.actor === 'agent' ? saying : undefined}
          reason={texts.of(`refusal of ${question.request.id}`)}
        />
      ))}
      {patterns.patterns.value.map((pattern) => (
        <p key={`${pattern.tool} ${pattern.paths}`} class="approved-pattern row">
          <span class="grow">
            Approved in this task without asking: {verbOf(pattern.tool)}, in <code>{pattern.paths}</code>
          </span>
          <button type="button" class="button" onClick={() => patterns.endPatterns(pattern)}>
            Ask again
          </button>
        </p>
      ))}
    </section>
  )
}

/** Answers all that wait. */
function AnswerAll({ pending }: { readonly pending: readonly PendingApproval[] }) {
  const all = (answer: Parameters<PendingApproval['answer']>[0]) => {
    for (const question of pending) question.answer(answer)
  }
  return (
    <div class="answer-all row wrap">
      <strong class="grow">{pending.length} approvals wait</strong>
      <button type="button" class="button" onClick={() => all({ allow: 'once', by: 'person' })}>
        <Icon name="check" /> Approve all {pending.length}
      </button>
      <button type="button" class="button danger" onClick={() => all({ deny: 'Not this way', by: 'person' })}>
        Refuse all {pending.length}
      </button>
    </div>
  )
}

interface CardProps {
  readonly question: PendingApproval
  readonly pending: readonly PendingApproval[]
  readonly patterns: Session['approvalPatterns']
  readonly saying: string | undefined
  readonly reason: Signal<string>
}

/** One question with its effect. A approves, R refuses while the card has the focus. */
function Card({ question, pending, patterns, saying, reason }: CardProps) {
  const { request } = question
  const refusing = useSignal(reason.value !== '')
  const spreading = useSignal(false)
  const answer: PendingApproval['answer'] = (approval) => {
    reason.value = ''
    question.answer(approval)
  }
  const isPlan = request.tool === 'submit_plan'
  return (
    <article
      class={`card ${isPlan ? 'plan' : ''}`}
      aria-label={`Approval of ${request.tool}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys answer the question
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key === 'a') answer({ allow: 'once', by: 'person' })
        else if (event.key === 'r') refusing.value = true
        else return
        event.preventDefault()
      }}
    >
      <h2 class="row">
        <Icon name={isPlan ? 'flag' : 'shield'} />
        <span class="grow">{questionOf(request)}</span>
      </h2>
      {saying !== undefined && <p class="says">The agent says: {saying}</p>}
      <RequestDetails request={request} />
      <details>
        <summary>Why you are asked</summary>
        <p>{request.verdict.reason}</p>
        <Rules rules={request.verdict.rules} />
      </details>
      {refusing.value ? (
        <RefusalForm
          reason={reason}
          onRefuse={() => answer({ deny: reason.value || 'Not this way', by: 'person' })}
          onCancel={() => {
            refusing.value = false
          }}
        />
      ) : spreading.value ? (
        <PatternForm question={question} pending={pending} patterns={patterns} open={spreading} />
      ) : (
        <AnswerButtons
          request={request}
          answer={answer}
          onPattern={() => {
            spreading.value = true
          }}
          onRefuse={() => {
            refusing.value = true
          }}
        />
      )}
    </article>
  )
}

/** Shows what the call would do: its reason, risks, command, plan and diff. */
function RequestDetails({ request }: { readonly request: PendingApproval['request'] }) {
  const { command, plan, paths, reason: why } = request.input as Record<string, unknown>
  return (
    <>
      {typeof why === 'string' && <p class="muted">Reason: {why}</p>}
      {request.risks.length > 0 && (
        <ul class="row wrap">
          {request.risks.map(({ flag, path }) => (
            <li key={`${flag} ${path}`} class="tag bad">
              {flags[flag] ?? flag}: {path}
            </li>
          ))}
        </ul>
      )}
      {typeof command === 'string' && (
        <pre class="box" {...scrollable}>
          $ {command}
        </pre>
      )}
      {typeof plan === 'string' && (
        <pre class="box wrapped" {...scrollable}>
          {plan}
          {Array.isArray(paths) ? `\n\nPaths: ${paths.join(', ')}` : ''}
        </pre>
      )}
      {request.diff !== undefined && request.diff !== '' ? (
        <UnifiedDiff text={request.diff} />
      ) : (
        typeof command !== 'string' &&
        typeof plan !== 'string' && <p class="mono cut">{aboutCall(request.tool, request.input)}</p>
      )}
    </>
  )
}

function RefusalForm({
  reason,
  onRefuse,
  onCancel,
}: {
  readonly reason: Signal<string>
  readonly onRefuse: () => void
  readonly onCancel: () => void
}) {
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        onRefuse()
      }}
    >
      <input
        ref={field}
        class="field"
        aria-label="Reason for the agent"
        placeholder="Reason for the agent"
        value={reason.value}
        onInput={({ currentTarget }) => {
          reason.value = currentTarget.value
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
        }}
      />
      <button type="submit" class="button danger">
        Refuse
      </button>
    </form>
  )
}

function AnswerButtons({
  request,
  answer,
  onPattern,
  onRefuse,
}: {
  readonly request: PendingApproval['request']
  readonly onPattern: () => void
  readonly answer: PendingApproval['answer']
  readonly onRefuse: () => void
}) {
  const isPlan = request.tool === 'submit_plan'
  return (
    <div class="row wrap">
      <button type="button" class="button primary" onClick={() => answer({ allow: 'once', by: 'person' })}>
        <Icon name="check" /> {isPlan ? 'Approve the plan' : 'Approve'}
      </button>
      {!isPlan && (
        <button
          type="button"
          class="button"
          title={coverageOf(request)}
          onClick={() => answer({ allow: 'run', by: 'person' })}
        >
          Approve for this run
        </button>
      )}
      {canHavePattern(request) && (
        <button type="button" class="button" onClick={onPattern}>
          Approve the rest like this…
        </button>
      )}
      <button type="button" class="button danger" onClick={onRefuse}>
        Refuse…
      </button>
      {!isPlan && <p class="muted small coverage">{coverageOf(request)}</p>}
    </div>
  )
}

const verbs: Readonly<Record<string, string>> = {
  run_command: 'run a command',
  start_command: 'start a command in the background',
  write_file: 'write a file',
  edit_file: 'edit a file',
  replace_range: 'edit a file',
  append_file: 'append to a file',
  apply_patch: 'apply a patch',
  delete_file: 'delete a file',
  move_file: 'move a file',
  copy_file: 'copy a file',
  create_directory: 'create a directory',
}

function verbOf(tool: string): string {
  return verbs[tool] ?? `call ${tool}`
}

/** The question in a person's words. */
function questionOf({ tool, input }: PendingApproval['request']): string {
  if (tool === 'submit_plan') return 'Approve this plan?'
  const verb = verbs[tool] ?? `call ${tool}`
  const { command } = input as { command?: unknown }
  if (typeof command === 'string') return `${verb[0]?.toUpperCase()}${verb.slice(1)}?`
  const verbOnly = verb.replace(/ an? (file|patch|directory)$/, '')
  return `${verbOnly[0]?.toUpperCase()}${verbOnly.slice(1)} ${aboutCall(tool, input)}?`
}

/** Says what the approval for this run covers. */
function coverageOf({ tool, input, accesses }: PendingApproval['request']): string {
  const { command } = input as { command?: unknown }
  if (typeof command === 'string') return '“For this run” covers exactly this command, until the run ends.'
  const paths = [...new Set(accesses.map(({ path }) => path))].join(', ')
  return `“For this run” covers: ${verbOf(tool)}, ${paths} only, until the run ends.`
}

/** Shows the paths of a pattern, which count only when the person confirms them. */
function PatternForm({
  question,
  pending,
  patterns,
  open,
}: Pick<CardProps, 'question' | 'pending' | 'patterns'> & { readonly open: Signal<boolean> }) {
  const paths = useSignal(proposePaths(question.request))
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const pattern = patternOf(question, paths.value)
  const isCovering = pattern?.covers(question.request) === true
  const covered = pending.filter(({ actor, request }) => actor === question.actor && pattern?.covers(request)).length
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (pattern !== undefined && isCovering) patterns.addPattern(pattern)
      }}
    >
      <label class="row">
        <span>Paths</span>
        <input
          ref={field}
          class="field mono"
          aria-label="Paths to approve"
          aria-invalid={!isCovering}
          value={paths.value}
          onInput={({ currentTarget }) => {
            paths.value = currentTarget.value
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') open.value = false
          }}
        />
      </label>
      <p class="muted" role="status">
        {isCovering
          ? `Covers ${covered} of ${pending.length} that ${pending.length === 1 ? 'waits' : 'wait'}, and later calls that ${verbOf(question.request.tool)} on these paths, until the task ends or the policy changes. Other risks are still asked.`
          : 'These paths do not cover this call.'}
      </p>
      <div class="row wrap">
        <button type="submit" class="button primary" disabled={!isCovering}>
          Approve these
        </button>
        <button
          type="button"
          class="button quiet"
          onClick={() => {
            open.value = false
          }}
        >
          Cancel
        </button>
      </div>
    </form>
  )
}

function patternOf(question: PendingApproval, paths: string) {
  try {
    return createPattern(question, paths)
  } catch {
    return undefined
  }
}
