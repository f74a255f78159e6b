import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { type PendingApproval, questionInWords } from 'wardspace/ui'
import { focusedElement, isField } from '../../src/elements/parts/focusable.ts'
import { Icon } from '../../src/elements/parts/icon.tsx'
import { riskInWords } from '../../src/elements/parts/risk-words.ts'
import { useSettled } from '../../src/elements/parts/use-settled.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { announce } from '../ui/announce.tsx'
import { focusView } from '../ui/focus-view.ts'
import { lazyView } from '../ui/lazy-view.tsx'
import { page } from './page-state.ts'

const ApprovalsView = lazyView(async () => (await import('../views/approvals/approvals-view.tsx')).Approvals)

/** The approvals that wait, on a phone: a bar with the first question, which opens into a sheet with all of them. */
export function ApprovalSheet({
  projectSession,
  pending,
}: {
  readonly projectSession: ProjectSession
  readonly pending: readonly PendingApproval[]
}) {
  const [first] = pending
  const isOpen = page.sheet.value
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { current } = place
    return () => {
      page.sheet.value = false
      // The last answer takes the sheet away with the button that was pressed.
      if (current?.contains(document.activeElement)) document.querySelector<HTMLElement>('.phone-tabs button')?.focus()
    }
  }, [])
  useEffect(() => {
    if (first !== undefined && !isOpen) announce(`${questionInWords(first.request)}${othersInWords(pending)}`)
  }, [pending.length])
  if (first === undefined) return null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what its button closes
    <div
      ref={place}
      class={isOpen ? 'sheet open' : 'sheet'}
      onKeyDown={(event) => {
        // A key that is held down answers no further question.
        if (event.repeat && (event.key === 'Enter' || event.key === ' ')) event.preventDefault()
        // In a form it closes the form.
        if (event.key !== 'Escape' || !isOpen || isField(focusedElement())) return
        closeSheet()
        place.current?.querySelector('button')?.focus()
      }}
    >
      <ApprovalBar first={first} pending={pending} isOpen={isOpen} />
      {isOpen && (
        <div class="sheet-body" id="approval-sheet">
          <ApprovalsView projectSession={projectSession} />
        </div>
      )}
    </div>
  )
}

/** The question in a line, with the answers to it while the sheet is closed. */
function ApprovalBar({
  first,
  pending,
  isOpen,
}: {
  readonly first: PendingApproval
  readonly pending: readonly PendingApproval[]
  readonly isOpen: boolean
}) {
  const question = questionInWords(first.request)
  const risks = [...new Set(first.request.risks.map(riskInWords))]
  const isSettled = useSettled(`${first.request.id} ${isOpen}`)
  const answer: PendingApproval['answer'] = (approval) => {
    if (isSettled) first.answer(approval)
  }
  return (
    <section class="approval-bar" aria-label="Waiting for you">
      <button
        type="button"
        class="approval-question"
        aria-expanded={isOpen}
        aria-controls={isOpen ? 'approval-sheet' : undefined}
        onClick={isOpen ? closeSheet : openSheet}
      >
        <Icon name="shield" />
        <span class="approval-words">
          <strong class="cut" title={question}>
            {isOpen ? 'Waiting for you' : question}
          </strong>
          {risks.length > 0 && !isOpen && <span class="approval-risk small cut">{risks.join(', ')}</span>}
          <span class="muted small cut">
            {isOpen ? 'Close, and answer later' : `See what it does${othersInWords(pending)}`}
          </span>
        </span>
        <Icon name="chevron" />
      </button>
      {!isOpen && (
        <>
          <button
            type="button"
            class="button danger"
            aria-label={`Refuse: ${question}`}
            aria-disabled={!isSettled}
            onClick={() => answer({ deny: '', by: 'person' })}
          >
            Refuse
          </button>
          <button
            type="button"
            class="button primary"
            aria-label={`Approve: ${question}`}
            aria-disabled={!isSettled}
            onClick={() => answer({ allow: 'once', by: 'person' })}
          >
            Approve
          </button>
        </>
      )}
    </section>
  )
}

/** Opens the sheet for keys. */
export function openSheet(): void {
  page.sheet.value = true
  focusView('.sheet wardspace-approvals', 'article')
}

function closeSheet(): void {
  page.sheet.value = false
}

function othersInWords({ length }: readonly PendingApproval[]): string {
  return length > 1 ? `, and ${length - 1} more` : ''
}
