import { signal } from '@preact/signals'

/** The view in the centre column. */
export type CentreView = 'editor' | 'changes' | 'call' | 'policy' | 'report'
export type SideView = 'files' | 'search'
export type AgentView = 'conversation' | 'timeline' | 'limits'
/** The column that a narrow screen shows. */
export type NarrowView = 'side' | 'centre' | 'agent'
export type DialogName = 'projects' | 'settings' | 'help'

/** The views that the page shows. Independent of the project. */
export const page = {
  centre: signal<CentreView>('editor'),
  side: signal<SideView>('files'),
  agent: signal<AgentView>('conversation'),
  narrow: signal<NarrowView>('agent'),
  dialog: signal<DialogName | undefined>(undefined),
  terminal: signal(true),
  /** The selected timeline entry. */
  call: signal<string | undefined>(undefined),
  /** The selected changed file. */
  change: signal<string | undefined>(undefined),
  inline: signal(false),
  /** The line to go to in the editor. */
  goTo: signal<{ readonly path: string; readonly line: number; readonly at: number } | undefined>(undefined),
  sizes: signal({ side: 250, agent: 420, terminal: 220 }),
}

/** Shows a call of the timeline with all details. */
export function showCall(key: string): void {
  page.call.value = key
  page.centre.value = 'call'
  page.narrow.value = 'centre'
}

/** Shows the changes of a file since the project was first opened. */
export function showChange(path: string): void {
  page.change.value = path
  page.centre.value = 'changes'
  page.narrow.value = 'centre'
}
