import { signal } from '@preact/signals'

/** What the middle of the screen shows. */
export type CentreView = 'editor' | 'changes' | 'call' | 'policy' | 'report'
export type SideView = 'files' | 'search'
export type AgentView = 'conversation' | 'timeline' | 'limits'
/** On a narrow screen, one column is there at a time. */
export type NarrowView = 'side' | 'centre' | 'agent'
export type DialogName = 'projects' | 'settings' | 'help'

/** What is shown where. Of the page, and not of a project. */
export const page = {
  centre: signal<CentreView>('editor'),
  side: signal<SideView>('files'),
  agent: signal<AgentView>('conversation'),
  narrow: signal<NarrowView>('agent'),
  dialog: signal<DialogName | undefined>(undefined),
  terminal: signal(true),
  /** The timeline entry that is looked at. */
  call: signal<string | undefined>(undefined),
  /** The changed file that is looked at. */
  change: signal<string | undefined>(undefined),
  inline: signal(false),
  /** The line to go to in the editor. */
  goTo: signal<{ readonly path: string; readonly line: number; readonly at: number } | undefined>(undefined),
  sizes: signal({ side: 250, agent: 420, terminal: 220 }),
}

/** Shows a call of the timeline with everything that is known of it. */
export function showCall(key: string): void {
  page.call.value = key
  page.centre.value = 'call'
  page.narrow.value = 'centre'
}

/** Shows how a file differs from what it was at first. */
export function showChange(path: string): void {
  page.change.value = path
  page.centre.value = 'changes'
  page.narrow.value = 'centre'
}
