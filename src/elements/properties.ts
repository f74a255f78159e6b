import type { Approvals } from '../ui/approvals.ts'

/** An element with the properties of its view. Each is `undefined` until it is set. */
export type ElementWith<Properties> = HTMLElement & { -readonly [Name in keyof Properties]?: Properties[Name] }

/** Keeps texts that a person has typed and not sent, for example over a reload. */
export interface Drafts {
  /** Returns the text of a field; empty if nothing was typed. */
  get(field: string): string
  set(field: string, text: string): void
}

/** The properties of `<wardspace-approvals>`. */
export interface ApprovalsProperties {
  readonly controller: Approvals
  /** What the agent said before it asked. Shown with its requests. */
  readonly saying?: string | undefined
  /** Keeps the reasons of refusals that are typed and not sent. */
  readonly drafts?: Drafts | undefined
}
