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
  EditorProperties,
  ElementClass,
  ElementWith,
  FileMarks,
  FilesProperties,
  PaintedLine,
  PolicyProperties,
  TerminalProperties,
  TimelineProperties,
} from './properties.ts'

/** The pending approvals as cards, each with its effect and its answers. */
export type WardspaceApprovals = ElementWith<ApprovalsProperties>

/** The class of `<wardspace-approvals>`. */
export const WardspaceApprovals = createElement<ApprovalsProperties>(
  () => import('./approvals/approvals-view.tsx'),
  'saying',
  'drafts',
)

/**
 * A conversation with an agent, with its calls and a field for messages. Dispatches `wardspace-open-call`. Slots: `bar` above it, `empty` for what
 * is said before the first message, `before-ID` before a message of the person, by the id of its item, `end` after the last item, `composer` above the field, `actions` beside Send, `footer` below.
 */
export type WardspaceChat = ElementWith<ChatProperties>

/** The class of `<wardspace-chat>`. */
export const WardspaceChat = createElement<ChatProperties>(
  () => import('./chat/chat-view.tsx'),
  'timeline',
  'approvals',
  'draft',
  'drafts',
  'prompt',
  'disabled',
  'suggest',
)

/** The changed files with their differences, as a review. Dispatches `wardspace-open-change`, `wardspace-open-file`. */
export type WardspaceDiff = ElementWith<DiffProperties>

/** The class of `<wardspace-diff>`. */
export const WardspaceDiff = createElement<DiffProperties>(
  () => import('./diff/diff-view.tsx'),
  'view',
  'disabled',
  'paint',
  'drafts',
  'unsendable',
)

/**
 * The text of one file, which is never saved over a newer one. Has colours, marked lines, differences and a search if the packages of CodeMirror
 * are installed; otherwise it is a plain field. Slots: `empty` for what is shown without a file, `marks` beside the path, `actions`
 * before the buttons, `menu` after them, `text`.
 */
export type WardspaceEditor = ElementWith<EditorProperties>

/** The class of `<wardspace-editor>`. */
export const WardspaceEditor = createElement<EditorProperties>(
  () => import('./editor/editor-view.tsx'),
  'ownText',
  'change',
  'lines',
  'goTo',
  'wraps',
  'find',
)

/** The files as a tree, with what a person does to them. Dispatches `wardspace-open-file`. */
export type WardspaceFiles = ElementWith<FilesProperties>

/** The class of `<wardspace-files>`. */
export const WardspaceFiles = createElement<FilesProperties>(
  () => import('./files/files-view.tsx'),
  'selected',
  'disabled',
  'ownBar',
  'marks',
)

/** The policy as rows and as text, checked while it is typed. The slot `bar` is for further controls. */
export type WardspacePolicy = ElementWith<PolicyProperties>

/** The class of `<wardspace-policy>`. */
export const WardspacePolicy = createElement<PolicyProperties>(
  () => import('./policy/policy-view.tsx'),
  'disabled',
  'revision',
  'ownText',
)

/** Commands of a person and their output. Needs the packages @xterm/xterm and @xterm/addon-fit. Dispatches `wardspace-open-file`. */
export type WardspaceTerminal = ElementWith<TerminalProperties>

/** The class of `<wardspace-terminal>`. */
export const WardspaceTerminal = createElement<TerminalProperties>(
  () => import('./terminal/terminal-view.tsx'),
  'greeting',
)

/** All calls in order, with their outcome. Dispatches `wardspace-open-call`. */
export type WardspaceTimeline = ElementWith<TimelineProperties>

/** The class of `<wardspace-timeline>`. */
export const WardspaceTimeline = createElement<TimelineProperties>(
  () => import('./timeline/timeline-view.tsx'),
  'selected',
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
  /** The person has chosen a file, perhaps at a line. */
  'wardspace-open-file': CustomEvent<{ readonly path: string; readonly line?: number | undefined }>
  /** The person has chosen a changed file in the list. */
  'wardspace-open-change': CustomEvent<{ readonly path: string }>
  /** The person has chosen a call, by its key in the timeline. */
  'wardspace-open-call': CustomEvent<{ readonly key: string }>
}

/** The attributes of any element in JSX. */
export interface JsxAttributes<Element> {
  readonly key?: string | number | null
  /** Receives the element, and null when it is removed. */
  readonly ref?: ((element: Element | null) => void) | { current: Element | null }
  readonly id?: string
  readonly class?: string
  readonly className?: string
  readonly style?: string | object
  readonly hidden?: boolean
  readonly slot?: string
  readonly title?: string
}

/** The elements with their properties and the listeners of their events, for the types of JSX. */
export type JsxElements = {
  readonly [Name in keyof WardspaceElements]: JsxAttributes<WardspaceElements[Name]> &
    Omit<WardspaceElements[Name], keyof HTMLElement> & {
      readonly [Type in keyof WardspaceElementEvents as `on${Type}`]?: (event: WardspaceElementEvents[Type]) => void
    }
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
    'wardspace-open-file': CustomEvent<{ readonly path: string; readonly line?: number | undefined }>
    'wardspace-open-change': CustomEvent<{ readonly path: string }>
    'wardspace-open-call': CustomEvent<{ readonly key: string }>
  }
}
