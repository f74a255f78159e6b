import { IconButton } from '../../src/elements/parts/icon-button.tsx'
import type { ProjectSession } from '../session/project-session.ts'
import { lazyView } from '../ui/lazy-view.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { EditorView } from '../views/editor/editor-view.tsx'
import { StartView } from '../views/start/start-view.tsx'
import { runScenario, useOwnModel } from './app-state.ts'
import { FollowStrip } from './follow-strip.tsx'
import { History } from './history.tsx'
import { closeTerminal, leaveAgent, leavePast, openFile, putOnStage, showCall, showChange } from './navigation.ts'
import { layout, page, type StageName } from './page-state.ts'
import { StageTabs } from './stage-tabs.tsx'

const ApprovalsView = lazyView(async () => (await import('../views/approvals/approvals-view.tsx')).Approvals)
const ChangesView = lazyView(async () => (await import('../views/changes/changes-view.tsx')).ChangesView)
const CallView = lazyView(async () => (await import('../views/timeline/call-view.tsx')).CallView)
const PastView = lazyView(async () => (await import('../views/timeline/past-view.tsx')).PastView)
const PolicyView = lazyView(async () => (await import('../views/policy/policy-view.tsx')).PolicyView)
const ReportView = lazyView(async () => (await import('../views/report/report-view.tsx')).ReportView)
const TerminalView = lazyView(async () => (await import('../views/terminal/terminal-view.tsx')).TerminalView)

/** The middle of the page: what the agent or the person works on, and the terminal. */
export function Stage({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const view = page.stage.value
  return (
    <section class="column stage" aria-label="Stage">
      <h2 class="visually-hidden">Stage</h2>
      <StageTabs projectSession={projectSession} />
      {projectSession !== undefined && (
        <FollowStrip projectSession={projectSession} onApprovals={() => putOnStage('approvals')} />
      )}
      {view !== 'terminal' && (
        // A person who works on the stage is not dragged away from there.
        <div class="column-body stage-body" onPointerDown={view === 'approvals' ? undefined : leaveAgent}>
          <ActiveView projectSession={projectSession} view={view} key={projectSession?.project.info.id} />
        </div>
      )}
      <TerminalPlace projectSession={projectSession} />
    </section>
  )
}

/** The terminal below the stage, or on a phone in place of it. */
function TerminalPlace({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const { terminal } = page.sizes.value
  const isPhone = layout.value === 'phone'
  if (isPhone ? page.stage.value !== 'terminal' : !page.terminal.value) return null
  return (
    <>
      {!isPhone && (
        <Splitter
          label="Height of the terminal"
          orientation="horizontal"
          isAfter
          size={terminal}
          min={80}
          max={600}
          onSize={(size) => {
            page.sizes.value = { ...page.sizes.value, terminal: size }
          }}
        />
      )}
      <div class="terminal-place" style={isPhone ? { flex: 1 } : { height: `${terminal}px` }}>
        <div class="terminal-head">
          <h3 class="grow">Terminal</h3>
          <IconButton icon="close" label="Close the terminal" onClick={closeTerminal} />
        </div>
        {projectSession === undefined ? (
          <div class="skeleton" />
        ) : (
          <TerminalView
            terminal={projectSession.terminal}
            onFile={(path, line) => openFile(projectSession, path, line)}
            key={projectSession.project.info.id}
          />
        )}
      </div>
    </>
  )
}

function ActiveView({
  projectSession,
  view,
}: {
  readonly projectSession: ProjectSession | undefined
  readonly view: StageName
}) {
  if (view === 'start') {
    return (
      <StartView
        pick={projectSession?.conversation.pick.value ?? { kind: 'scripted', scenario: '' }}
        onStart={(id) => void runScenario(id)}
        onOwnModel={useOwnModel}
        onOpenProject={() => {
          page.dialog.value = 'projects'
        }}
      />
    )
  }
  if (projectSession === undefined) return <div class="skeleton" />
  const { session } = projectSession
  switch (view) {
    case 'editor':
      return (
        <EditorView
          projectSession={projectSession}
          goTo={page.goTo.value}
          wraps={page.wraps}
          onShowChange={showChange}
        />
      )
    case 'changes':
      return (
        <ChangesView
          projectSession={projectSession}
          selected={page.change}
          onOpen={(path) => openFile(projectSession, path)}
        />
      )
    case 'call':
      return (
        <CallView projectSession={projectSession} selected={page.call.value} inline={page.inline} onCall={showCall} />
      )
    case 'policy':
      return <PolicyView projectSession={projectSession} />
    case 'report':
      return <ReportView session={session} selected={page.run} />
    case 'approvals':
      return <ApprovalsView projectSession={projectSession} />
    case 'past':
      return (
        <>
          <PastView projectSession={projectSession} point={page.past.value?.point ?? ''} onLeave={leavePast} />
          {layout.value === 'phone' && <History projectSession={projectSession} />}
        </>
      )
    case 'terminal':
      return null
  }
}
