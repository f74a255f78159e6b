import { createElement, defineElements } from './define-element.ts'
import type {
  ApprovalsProperties,
  ChatProperties,
  DiffProperties,
  EditorProperties,
  ElementWith,
  FilesProperties,
  PolicyProperties,
  TerminalProperties,
  TimelineProperties,
} from './properties.ts'

export type {
  ApprovalsProperties,
  ChatProperties,
  DiffProperties,
  Drafts,
  EditorProperties,
  ElementClass,
  ElementWith,
  FilesProperties,
  PolicyProperties,
  TerminalProperties,
  TimelineProperties,
} from './properties.ts'

/** The pending approvals as cards, each with its effect and its answers. */
export type WardspaceApprovals = ElementWith<ApprovalsProperties>

/** The class of `<wardspace-approvals>`. */
export const WardspaceApprovals = createElement<ApprovalsProperties>(
  { controller: 'required', saying: 'optional', drafts: 'optional' },
  () => import('./approvals/approvals-view.tsx'),
)

/** A conversation with an agent, with its calls. Dispatches `wardspace-open-call`. */
export type WardspaceChat = ElementWith<ChatProperties>

/** The class of `<wardspace-chat>`. */
export const WardspaceChat = createElement<ChatProperties>(
  { controller: 'required', timeline: 'optional', drafts: 'optional' },
  () => import('./chat/chat-view.tsx'),
)

/** The changed files with their differences. Dispatches `wardspace-open-file`. */
export type WardspaceDiff = ElementWith<DiffProperties>

/** The class of `<wardspace-diff>`. */
export const WardspaceDiff = createElement<DiffProperties>(
  { controller: 'required' },
  () => import('./diff/diff-view.tsx'),
)

/** The text of one file, which is never saved over a newer one. */
export type WardspaceEditor = ElementWith<EditorProperties>

/** The class of `<wardspace-editor>`. */
export const WardspaceEditor = createElement<EditorProperties>(
  { controller: 'required' },
  () => import('./editor/editor-view.tsx'),
)

/** The files as a tree. Dispatches `wardspace-open-file`. */
export type WardspaceFiles = ElementWith<FilesProperties>

/** The class of `<wardspace-files>`. */
export const WardspaceFiles = createElement<FilesProperties>(
  { controller: 'required', selected: 'optional' },
  () => import('./files/files-view.tsx'),
)

/** The policy as JSON, checked while it is typed. */
export type WardspacePolicy = ElementWith<PolicyProperties>

/** The class of `<wardspace-policy>`. */
export const WardspacePolicy = createElement<PolicyProperties>(
  { controller: 'required' },
  () => import('./policy/policy-view.tsx'),
)

/** Commands of a person and their output. */
export type WardspaceTerminal = ElementWith<TerminalProperties>

/** The class of `<wardspace-terminal>`. */
export const WardspaceTerminal = createElement<TerminalProperties>(
  { controller: 'required' },
  () => import('./terminal/terminal-view.tsx'),
)

/** All calls in order, with their outcome. Dispatches `wardspace-open-call`. */
export type WardspaceTimeline = ElementWith<TimelineProperties>

/** The class of `<wardspace-timeline>`. */
export const WardspaceTimeline = createElement<TimelineProperties>(
  { controller: 'required', selected: 'optional' },
  () => import('./timeline/timeline-view.tsx'),
)

defineElements({
  'wardspace-approvals': WardspaceApprovals,
  'wardspace-chat': WardspaceChat,
  'wardspace-diff': WardspaceDiff,
  'wardspace-editor': WardspaceEditor,
  'wardspace-files': WardspaceFiles,
  'wardspace-policy': WardspacePolicy,
  'wardspace-terminal': WardspaceTerminal,
  'wardspace-timeline': WardspaceTimeline,
})

/** The elements by their names. */
export interface WardspaceElements {
  'wardspace-approvals': WardspaceApprovals
  'wardspace-chat': WardspaceChat
  'wardspace-diff': WardspaceDiff
  'wardspace-editor': WardspaceEditor
  'wardspace-files': WardspaceFiles
  'wardspace-policy': WardspacePolicy
  'wardspace-terminal': WardspaceTerminal
  'wardspace-timeline': WardspaceTimeline
}

/** The events of the elements. They cross shadow roots. */
export interface WardspaceElementEvents {
  /** The person has chosen a file. */
  'wardspace-open-file': CustomEvent<{ readonly path: string }>
  /** The person has chosen a call, by its key in the timeline. */
  'wardspace-open-call': CustomEvent<{ readonly key: string }>
}

declare global {
  interface HTMLElementTagNameMap {
    'wardspace-approvals': WardspaceApprovals
    'wardspace-chat': WardspaceChat
    'wardspace-diff': WardspaceDiff
    'wardspace-editor': WardspaceEditor
    'wardspace-files': WardspaceFiles
    'wardspace-policy': WardspacePolicy
    'wardspace-terminal': WardspaceTerminal
    'wardspace-timeline': WardspaceTimeline
  }

  interface HTMLElementEventMap {
    'wardspace-open-file': CustomEvent<{ readonly path: string }>
    'wardspace-open-call': CustomEvent<{ readonly key: string }>
  }
}
