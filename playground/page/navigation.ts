import { effect } from '@preact/signals'
import type { ProjectSession } from '../session/project-session.ts'
import { focusView } from '../ui/focus-view.ts'
import { app } from './app-state.ts'
import { layout, type PanelName, type PhoneTab, page, type StageName } from './page-state.ts'

/** Where a person goes in the page. Each of these steps ends following, so that the agent does not drag the person away. */

/** A person who looks at something else is not dragged back to what the agent works on. */
export function leaveAgent(): void {
  app.projectSession.value?.following.leave()
}

/** Shows a view on the stage, without ending following. */
export function putOnStage(view: StageName): void {
  page.stage.value = view
  if (view !== 'editor' && view !== 'terminal' && !page.tabs.value.includes(view)) {
    page.tabs.value = [...page.tabs.value, view]
  }
}

export function showStage(view: StageName): void {
  leaveAgent()
  putOnStage(view)
  page.isStageUp.value = true
  // The panel covers the stage where there is little space.
  if (layout.value === 'middle') page.panel.value = undefined
}

/** Shows the files as they were at a point of the history. */
export function showPast(point: string): void {
  const before = page.past.value?.before ?? page.stage.value
  page.past.value = { point, before }
  showStage('past')
}

/** Shows what was on the stage before the files of the past. */
export function leavePast(): void {
  const { before } = page.past.value ?? {}
  if (before === undefined || page.stage.value !== 'past') return
  const { activeElement, body } = document
  // A button that was pressed and is disabled since has lost the focus to the body.
  if (activeElement === body || activeElement?.closest('.past-view') != null) focusHistory()
  page.stage.value = before === 'editor' || page.tabs.value.includes(before) ? before : 'editor'
  // A phone had the line of the history there.
  if (layout.value === 'phone') page.isStageUp.value = false
}

/** Focuses the line of the history, which stays where it is while the stage changes. */
export function focusHistory(): void {
  document.getElementById('history')?.focus()
}

/** Focuses the button that restores the files on the stage. */
export function focusGoBack(): void {
  document.getElementById('go-back')?.focus()
}

// The past lasts as long as it is on the stage.
effect(() => {
  if (page.stage.value === 'past') return
  page.past.value = undefined
  page.tabs.value = page.tabs.peek().filter((tab) => tab !== 'past')
})

/** Focuses the tab in front, or what is beside the tabs if none is left. */
export function focusTab(): void {
  focusView('.file-tabs [aria-current="true"], .terminal-switch')
}

/** Closes the tab of a view. */
export function closeStage(view: StageName): void {
  if (view === 'past') {
    leavePast()
    return
  }
  leaveAgent()
  const tabs = page.tabs.value
  const at = tabs.indexOf(view)
  page.tabs.value = tabs.filter((tab) => tab !== view)
  if (page.stage.value === view) page.stage.value = tabs[at + 1] ?? tabs[at - 1] ?? 'editor'
}

/** The views that a panel brings onto the stage. */
const stageOfPanel: Partial<Record<PanelName, StageName>> = { changes: 'changes', policy: 'policy', report: 'report' }

/** The activity of the rail that is open: its panel or, where panels float, its view on the stage. */
export function openActivity(): PanelName | undefined {
  if (page.panel.value !== undefined || layout.value !== 'middle') return page.panel.value
  return (Object.keys(stageOfPanel) as PanelName[]).find((panel) => stageOfPanel[panel] === page.stage.value)
}

export function showPanel(panel: PanelName): void {
  const stage = stageOfPanel[panel]
  if (layout.value !== 'phone') {
    const isNew = stage !== undefined && page.stage.value !== stage
    if (stage !== undefined) {
      leaveAgent()
      putOnStage(stage)
    }
    // A panel that floats would cover what it brings onto the stage: the next press opens it. The list of changes is chosen from.
    page.panel.value = layout.value === 'middle' && isNew && panel !== 'changes' ? undefined : panel
    return
  }
  page.panel.value = panel
  page.phone.value = panel === 'files' || panel === 'changes' ? panel : 'more'
  page.isStageUp.value = false
}

/** Opens the panel of a button of the rail, or closes it if it is open. */
export function togglePanel(panel: PanelName): void {
  const isOpen = page.panel.value === panel
  const stage = stageOfPanel[panel]
  const isShown = stage === undefined || page.stage.value === stage
  if (isOpen && isShown) page.panel.value = undefined
  else showPanel(panel)
}

export function showPhoneTab(tab: PhoneTab): void {
  leaveAgent()
  page.phone.value = tab
  page.sheet.value = false
  page.isStageUp.value = false
  if (tab !== 'agent') page.panel.value = tab
}

export function showAgent(): void {
  page.agent.value = true
  page.phone.value = 'agent'
  page.isStageUp.value = false
}

export function closeTerminal(): void {
  leaveAgent()
  page.terminal.value = false
  const isPhone = layout.value === 'phone'
  focusView(isPhone ? '.phone-tabs [aria-current]' : '.terminal-switch')
  if (isPhone) page.isStageUp.value = false
}

export function showTerminal(): void {
  page.terminal.value = true
  if (layout.value === 'phone') showStage('terminal')
}

/** Opens a file in the editor, at a line if one is given. */
export function openFile(
  { files, following }: Pick<ProjectSession, 'files' | 'following'>,
  path: string,
  line?: number,
): void {
  showStage('editor')
  following.clear()
  void files.open(path)
  if (line !== undefined) page.goTo.value = { path, line, at: Date.now() }
}

/** Shows a call of the timeline with all details. */
export function showCall(key: string): void {
  page.call.value = key
  showStage('call')
}

/** Shows the changes of a file since the project was first opened. */
export function showChange(path: string): void {
  page.change.value = { path }
  showStage('changes')
}

/** A tab of the stage: an open file or a view. */
type Tab = { readonly path: string } | { readonly view: StageName }

function openTabs(): readonly Tab[] {
  const files = app.projectSession.value?.files.all.value.filter(({ isOpen }) => isOpen) ?? []
  return [...files.map(({ path }) => ({ path })), ...page.tabs.value.map((view) => ({ view }))]
}

function activeTab(): number {
  const active = app.projectSession.value?.files.active.value
  const stage = page.stage.value
  return openTabs().findIndex((tab) => ('view' in tab ? tab.view === stage : stage === 'editor' && tab.path === active))
}

/** Shows the tab before or after the active one, around the ends. */
export function stepTab(by: number): void {
  const tabs = openTabs()
  const projectSession = app.projectSession.value
  const tab = tabs[(activeTab() + by + tabs.length) % tabs.length]
  if (tab === undefined || projectSession === undefined) return
  if ('view' in tab) showStage(tab.view)
  else openFile(projectSession, tab.path)
}

/** Moves the tab of the active file. */
export function moveTab(by: number): void {
  const { files } = app.projectSession.value ?? {}
  const path = files?.active.value
  if (page.stage.value === 'editor' && path !== undefined) files?.reorder(path, { by })
}

/** Closes the active tab. A draft is kept. */
export function closeTab(): void {
  const tab = openTabs()[activeTab()]
  if (tab === undefined) return
  if (document.activeElement?.closest('.stage-body, .stage-tabs') != null) focusTab()
  if ('view' in tab) closeStage(tab.view)
  else app.projectSession.value?.files.close(tab.path)
}
