import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { TypedTexts } from '../../session/typed-texts.ts'
import type { PendingApproval } from '../../session/types.ts'
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
  texts,
}: {
  readonly pending: readonly PendingApproval[]
  readonly texts: TypedTexts
}) {
  const count = pending.length
  useEffect(() => {
    const first = pending[0]
    if (first !== undefined) announce(`Approval needed: ${first.request.tool}`)
  }, [count])
  return (
    <section class="approvals" aria-label="Approvals">
      {pending.map((question) => (
        <Card key={question.request.id} question={question} reason={texts.of(`refusal of ${question.request.id}`)} />
      ))}
    </section>
  )
}

function Card({ question, reason }: { readonly question: PendingApproval; readonly reason: Signal<string> }) {
  const { request } = question
  const refusing = useSignal(reason.value !== '')
  const answer: PendingApproval['answer'] = (approval) => {
    reason.value = ''
    question.answer(approval)
  }
  const isPlan = request.tool === 'submit_plan'
  return (
    <article class={`card ${isPlan ? 'plan' : ''}`} aria-label={`Approval of ${request.tool}`}>
      <h2 class="row">
        <Icon name={isPlan ? 'flag' : 'shield'} />
        <span class="grow">{isPlan ? 'The agent submits its plan' : `The agent wants to ${verbOf(request.tool)}`}</span>
        <span class="tag warn">{request.tool}</span>
      </h2>
      <p>{request.verdict.reason}</p>
      <RequestDetails request={request} />
      <details>
        <summary>Rules that ask for approval</summary>
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
      ) : (
        <AnswerButtons
          isPlan={isPlan}
          answer={answer}
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
  isPlan,
  answer,
  onRefuse,
}: {
  readonly isPlan: boolean
  readonly answer: PendingApproval['answer']
  readonly onRefuse: () => void
}) {
  return (
    <div class="row wrap">
      <button type="button" class="button primary" onClick={() => answer({ allow: 'once', by: 'person' })}>
        <Icon name="check" /> {isPlan ? 'Approve the plan' : 'Approve'}
      </button>
      {!isPlan && (
        <button
          type="button"
          class="button"
          title="Applies again when the same rules ask about the same paths"
          onClick={() => answer({ allow: 'run', by: 'person' })}
        >
          Approve for this run
        </button>
      )}
      <button type="button" class="button danger" onClick={onRefuse}>
        Refuse…
      </button>
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
