import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { canHavePattern, createPattern, proposePaths } from '../../ui/approval-pattern.ts'
import type { ApprovalPattern, Approvals, PendingApproval } from '../../ui/approvals.ts'
import type { Drafts } from '../../ui/message-draft.ts'
import { questionInWords, verbOf } from '../../ui/words/approval-words.ts'
import { aboutCall } from '../../ui/words/call-words.ts'
import { pathInWords } from '../../ui/words/person-words.ts'
import { escapeInvisible } from '../../util/escape-invisible.ts'
import { CodeSpans } from '../parts/code-spans.tsx'
import { useDraft } from '../parts/drafts.ts'
import { isField, scrollable, showForm } from '../parts/focusable.ts'
import { Icon } from '../parts/icon.tsx'
import markdownStyles from '../parts/markdown.css?inline'
import { Markdown } from '../parts/markdown.tsx'
import { riskInWords } from '../parts/risk-words.ts'
import { UnifiedDiff } from '../parts/unified-diff.tsx'
import { useSettled } from '../parts/use-settled.ts'
import { useSnapshot } from '../parts/use-snapshot.ts'
import { Rules } from '../parts/verdict.tsx'
import type { ApprovalsProperties } from '../properties.ts'
import ownStyles from './approvals.css?inline'

export const styles = ownStyles + markdownStyles

/** The pending approvals: a card for each call, with its effect. */
export function View({ controller, saying, drafts }: ApprovalsProperties) {
  const { pending, patterns } = useSnapshot(controller)
  return (
    <section class="approvals" part="approvals" aria-label="Approvals">
      <Waiting pending={pending} />
      {pending.length > 1 && <AnswerAll pending={pending} />}
      {pending.map((question) => (
        <Card
          key={question.request.id}
          question={question}
          controller={controller}
          pending={pending}
          saying={question.actor === 'agent' ? saying : undefined}
          drafts={drafts}
        />
      ))}
      {pending.length === 0 && patterns.length === 0 && <p class="empty">What the agent asks you appears here.</p>}
      {patterns.map((pattern) => (
        <ApprovedPattern key={`${pattern.tool} ${pattern.paths}`} pattern={pattern} controller={controller} />
      ))}
    </section>
  )
}

/** Announces the first question and how many wait, whenever their number changes. */
function Waiting({ pending }: { readonly pending: readonly PendingApproval[] }) {
  const [text, setText] = useState('')
  const count = pending.length
  useEffect(() => {
    const first = pending[0]
    const others = count > 1 ? ` ${count} approvals wait` : ''
    setText(first === undefined ? '' : `${questionInWords(first.request)}${others}`)
  }, [count])
  return (
    <div class="visually-hidden" role="status">
      {text}
    </div>
  )
}

function ApprovedPattern({
  pattern,
  controller,
}: {
  readonly pattern: ApprovalPattern
  readonly controller: Approvals
}) {
  return (
    <p class="approved-pattern row">
      <span class="grow">
        Approved in this task without asking: {verbOf(pattern.tool)}, in <code>{pattern.paths}</code>
      </span>
      <button type="button" class="button" onClick={() => controller.endPatterns(pattern)}>
        Ask again
      </button>
    </p>
  )
}

/** Answers all that wait. */
function AnswerAll({ pending }: { readonly pending: readonly PendingApproval[] }) {
  const isSettled = useSettled(keyOf(pending))
  const all = (answer: Parameters<PendingApproval['answer']>[0]) => {
    if (isSettled) for (const question of pending) question.answer(answer)
  }
  return (
    <div class="answer-all row wrap">
      <strong class="grow">{pending.length} approvals wait</strong>
      <button
        type="button"
        class="button"
        aria-disabled={!isSettled}
        onClick={() => all({ allow: 'once', by: 'person' })}
      >
        <Icon name="check" /> Approve all {pending.length}
      </button>
      <button
        type="button"
        class="button danger"
        aria-disabled={!isSettled}
        onClick={() => all({ deny: '', by: 'person' })}
      >
        Refuse all {pending.length}
      </button>
    </div>
  )
}

function keyOf(pending: readonly PendingApproval[]): string {
  return pending.map(({ request }) => request.id).join(' ')
}

interface CardProps {
  readonly question: PendingApproval
  readonly pending: readonly PendingApproval[]
  readonly controller: Approvals
  readonly saying: string | undefined
  readonly drafts: Drafts | undefined
}

/** One question with its effect. A approves, R refuses while the card has the focus. */
function Card({ question, pending, controller, saying, drafts }: CardProps) {
  const { request } = question
  const [reason, setReason] = useDraft(drafts, `refusal of ${request.id}`)
  const [form, setForm] = useState<'refusal' | 'pattern' | undefined>(reason === '' ? undefined : 'refusal')
  const card = useRef<HTMLElement>(null)
  // The cards below move up when one goes.
  const isSettled = useSettled(keyOf(pending.slice(0, pending.indexOf(question) + 1)))
  const answer: PendingApproval['answer'] = (approval) => {
    setReason('')
    const cards = card.current?.matches(':focus-within') === true ? card.current.parentElement : undefined
    question.answer(approval)
    // Its keys go on to the next question.
    if (cards != null) requestAnimationFrame(() => cards.querySelector('article')?.focus())
  }
  const approve = (allow: 'once' | 'run') => {
    if (isSettled) answer({ allow, by: 'person' })
  }
  const isPlan = request.tool === 'submit_plan'
  return (
    <article
      ref={card}
      class={`card ${isPlan ? 'plan' : ''}`}
      aria-label={`Approval of ${request.tool}`}
      // A click or a program focuses it, Tab goes to its buttons.
      tabIndex={-1}
      onKeyDown={(event) => {
        // A key that is held down answers no further question.
        if (event.repeat || isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key === 'a') approve('once')
        else if (event.key === 'r') setForm('refusal')
        else return
        event.preventDefault()
      }}
    >
      <h2 class="row">
        <Icon name={isPlan ? 'flag' : 'shield'} />
        <span class="grow">{escapeInvisible(questionInWords(request))}</span>
      </h2>
      {saying !== undefined && (
        <p class="says">
          The agent says: <CodeSpans text={escapeInvisible(saying)} />
        </p>
      )}
      <RequestDetails request={request} />
      <details>
        <summary>Why you are asked</summary>
        <p>{request.verdict.reason}</p>
        <Rules rules={request.verdict.rules} />
      </details>
      {form === 'refusal' && (
        <RefusalForm
          reason={reason}
          onReason={setReason}
          onRefuse={() => answer({ deny: reason, by: 'person' })}
          onCancel={() => setForm(undefined)}
        />
      )}
      {form === 'pattern' && (
        <PatternForm
          question={question}
          pending={pending}
          controller={controller}
          onCancel={() => setForm(undefined)}
        />
      )}
      {form === undefined && (
        <AnswerButtons
          request={request}
          isSettled={isSettled}
          approve={approve}
          onPattern={() => setForm('pattern')}
          onRefuse={() => setForm('refusal')}
        />
      )}
    </article>
  )
}

/** Shows what the call would do: its reason, risks, command, plan and diff. */
function RequestDetails({ request }: { readonly request: PendingApproval['request'] }) {
  const { command, cwd, plan, paths, reason: why } = request.input as Record<string, unknown>
  return (
    <>
      {typeof why === 'string' && <p class="muted">Reason: {escapeInvisible(why)}</p>}
      {request.risks.length > 0 && (
        <ul class="row wrap">
          {request.risks.map((risk) => (
            <li key={`${risk.flag} ${risk.path}`} class="tag bad">
              {riskInWords(risk)}: {escapeInvisible(risk.path)}
            </li>
          ))}
        </ul>
      )}
      {typeof command === 'string' && (
        <pre class="box" {...scrollable}>
          $ {escapeInvisible(command)}
        </pre>
      )}
      {typeof command === 'string' && typeof cwd === 'string' && (
        <p class="muted">
          In: <span class="mono">{escapeInvisible(pathInWords(cwd))}</span>
        </p>
      )}
      {typeof plan === 'string' && (
        <section class="box" aria-label="Plan" {...scrollable}>
          <Markdown text={escapeInvisible(plan)} />
        </section>
      )}
      {typeof plan === 'string' && Array.isArray(paths) && (
        <p class="muted">
          Paths: <span class="mono">{escapeInvisible(paths.join(', '))}</span>
        </p>
      )}
      {request.diff !== undefined && request.diff !== '' ? (
        <UnifiedDiff text={escapeInvisible(request.diff)} />
      ) : (
        typeof command !== 'string' &&
        typeof plan !== 'string' && <p class="mono">{escapeInvisible(aboutCall(request.tool, request.input))}</p>
      )}
    </>
  )
}

function RefusalForm({
  reason,
  onReason,
  onRefuse,
  onCancel,
}: {
  readonly reason: string
  readonly onReason: (reason: string) => void
  readonly onRefuse: () => void
  readonly onCancel: () => void
}) {
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => showForm(field.current), [])
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
        value={reason}
        onInput={({ currentTarget }) => onReason(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
        }}
      />
      <button type="submit" class="button danger">
        Refuse
      </button>
      <button type="button" class="button quiet" onClick={onCancel}>
        Cancel
      </button>
    </form>
  )
}

function AnswerButtons({
  request,
  isSettled,
  approve,
  onPattern,
  onRefuse,
}: {
  readonly request: PendingApproval['request']
  readonly isSettled: boolean
  readonly approve: (allow: 'once' | 'run') => void
  readonly onPattern: () => void
  readonly onRefuse: () => void
}) {
  const isPlan = request.tool === 'submit_plan'
  return (
    <div class="row wrap">
      <button type="button" class="button primary" aria-disabled={!isSettled} onClick={() => approve('once')}>
        <Icon name="check" /> {isPlan ? 'Approve the plan' : 'Approve'}
      </button>
      {!isPlan && (
        <button
          type="button"
          class="button"
          title={coverageOf(request)}
          aria-disabled={!isSettled}
          onClick={() => approve('run')}
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
  controller,
  onCancel,
}: Pick<CardProps, 'question' | 'pending' | 'controller'> & { readonly onCancel: () => void }) {
  const [paths, setPaths] = useState(() => proposePaths(question.request))
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => showForm(field.current), [])
  const { pattern, fault = 'These paths do not cover this call.' } = patternOf(question, paths)
  const isCovering = pattern?.covers(question.request) === true
  const covered = pending.filter(({ actor, request }) => actor === question.actor && pattern?.covers(request)).length
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (pattern !== undefined && isCovering) controller.addPattern(pattern)
      }}
    >
      <label class="row">
        <span>Paths</span>
        <input
          ref={field}
          class="field mono"
          aria-label="Paths to approve"
          aria-invalid={!isCovering}
          value={paths}
          onInput={({ currentTarget }) => setPaths(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onCancel()
          }}
        />
      </label>
      <p class="muted" role="status">
        {isCovering
          ? `Covers ${covered} of ${pending.length} that ${pending.length === 1 ? 'waits' : 'wait'}, and later calls that ${verbOf(question.request.tool)} on these paths, until the task ends or the policy changes. Other risks are still asked.`
          : fault}
      </p>
      <div class="row wrap">
        <button type="submit" class="button primary" disabled={!isCovering}>
          Approve these
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}

function patternOf(question: PendingApproval, paths: string): { pattern?: ApprovalPattern; fault?: string } {
  try {
    return { pattern: createPattern(question, paths) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}
