import { computed, signal } from '@preact/signals'
import type { Wrapping } from '../session/wrapping.ts'

/** What the side panel shows. `more` is the list of the other views on a phone. */
export type PanelName = 'files' | 'search' | 'changes' | 'timeline' | 'policy' | 'report' | 'more'
/** What the stage shows. `editor` is the active file. `terminal` fills the stage on a phone only. */
export type StageName =
  | 'start'
  | 'editor'
  | 'changes'
  | 'call'
  | 'policy'
  | 'report'
  | 'approvals'
  | 'past'
  | 'terminal'
export type DialogName = 'projects' | 'settings' | 'help' | 'quickOpen'
export type PhoneTab = 'agent' | 'files' | 'changes' | 'more'
export type Layout = 'wide' | 'middle' | 'phone'

/** Follows a media query. */
function matching(query: string) {
  const list = globalThis.matchMedia?.(query)
  const isMatching = signal(list?.matches ?? false)
  list?.addEventListener('change', ({ matches }) => {
    isMatching.value = matches
  })
  return isMatching
}

const isWide = matching('(min-width: 1200px)')
const isPhone = matching('(max-width: 759px)')

/** How much space the page has. The style sheets use the same widths. */
export const layout = computed<Layout>(() => (isPhone.value ? 'phone' : isWide.value ? 'wide' : 'middle'))

/** The views that the page shows. Independent of the project. */
export const page = {
  stage: signal<StageName>('start'),
  /** The views that have a tab on the stage, beside the open files. */
  tabs: signal<readonly StageName[]>(['start']),
  /** The open side panel, or undefined when it is closed. */
  panel: signal<PanelName | undefined>(isWide.peek() ? 'files' : undefined),
  /** Whether the agent's column is open where it is a drawer. */
  agent: signal(globalThis.matchMedia?.('(min-width: 960px)').matches ?? true),
  phone: signal<PhoneTab>('agent'),
  /** Whether the sheet with the approvals is open on a phone. */
  sheet: signal(false),
  /** Whether the stage fills a phone's screen, in front of the tab. */
  isStageUp: signal(true),
  dialog: signal<DialogName | undefined>(undefined),
  terminal: signal(false),
  /** The selected timeline entry. */
  call: signal<string | undefined>(undefined),
  /** The run whose report is shown; undefined for the last one of the agent. */
  run: signal<string | undefined>(undefined),
  /** The changed file that was chosen last. */
  change: signal<{ readonly path: string } | undefined>(undefined),
  /** Whether differences are in one column, as fits where there is little space. */
  inline: signal(!isWide.peek()),
  /** Whether long lines of the editor wrap. */
  wraps: signal<Wrapping>({ code: !isWide.peek(), prose: true }),
  /** The point of the history whose files are on the stage, and what was there before. */
  past: signal<{ readonly point: string; readonly before: StageName } | undefined>(undefined),
  /** The line to go to in the editor. */
  goTo: signal<{ readonly path: string; readonly line: number; readonly at: number } | undefined>(undefined),
  sizes: signal({ panel: 260, agent: 400, terminal: 220 }),
}
