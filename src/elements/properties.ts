import type { Approvals } from '../ui/approvals.ts'
import type { Changes } from '../ui/changes.ts'
import type { Conversation } from '../ui/conversation.ts'
import type { Editor } from '../ui/editor.ts'
import type { Files } from '../ui/files.ts'
import type { FileRow } from '../ui/files-state.ts'
import type { Drafts, MessageDraft } from '../ui/message-draft.ts'
import type { PolicyEditor } from '../ui/policy-editor.ts'
import type { Terminal } from '../ui/terminal.ts'
import type { Timeline } from '../ui/timeline.ts'

/** An element with the properties of its view. Each is `undefined` until it is set. */
export type ElementWith<Properties> = HTMLElement & { -readonly [Name in keyof Properties]?: Properties[Name] }

/** The class of an element. */
export interface ElementClass<Element> {
  /** Creates an element, as `document.createElement` does. */
  new (): Element
}

/** The properties of `<wardspace-approvals>`. */
export interface ApprovalsProperties {
  readonly controller: Approvals
  /** What the agent said before it asked. Shown with its requests. */
  readonly saying?: string | undefined
  /** Keeps the reasons of refusals that are typed and not sent. */
  readonly drafts?: Drafts | undefined
}

/** The properties of `<wardspace-timeline>`. */
export interface TimelineProperties {
  readonly controller: Timeline
  /** Key of the call that the page shows. */
  readonly selected?: string | undefined
}

/** The properties of `<wardspace-files>`. */
export interface FilesProperties {
  readonly controller: Files
  /** The file that the page shows. */
  readonly selected?: string | undefined
  /** Whether the person cannot change files now. */
  readonly disabled?: boolean | undefined
  /** Whether the page shows the buttons for new files itself. */
  readonly ownBar?: boolean | undefined
  /** Returns what the tree shows beside a name. A new function draws the tree again. */
  readonly marks?: ((row: FileRow) => FileMarks | undefined) | undefined
}

/** What the tree shows about a file beside its name. */
export interface FileMarks {
  readonly status?: 'added' | 'changed' | 'deleted' | undefined
  /** Whether a file in a closed directory has changed. */
  readonly isChangedWithin?: boolean
  /** Whether the file has text that is not saved. */
  readonly hasDraft?: boolean
  /** The kind of the file in one word. */
  readonly kind?: string | undefined
  /** Why agents must not open or change the file. */
  readonly lock?: string | undefined
  /** Whether people normally do not edit the file. */
  readonly isQuiet?: boolean
}

/** The properties of `<wardspace-editor>`. */
export interface EditorProperties {
  readonly controller: Editor
  /** Whether the page shows something else than the text, in the slot `text`. A conflict is shown all the same. */
  readonly ownText?: boolean | undefined
  /** A change that is shown as a difference in place of the text, unless the person has changed that. */
  readonly change?: { readonly before: string; readonly after: string } | undefined
  /** The lines to mark and to show, from 1. */
  readonly lines?: readonly [first: number, last: number] | undefined
  /** The line at which the person goes on, from 1. A new `at` goes there again. */
  readonly goTo?: { readonly line: number; readonly at: number } | undefined
  /** Whether long lines wrap. */
  readonly wraps?: boolean | undefined
  /** A new number opens the panel to find and replace. */
  readonly find?: number | undefined
}

/** The parts of a line of code in order. `kind` is empty, or `code-keyword`, `code-string` and so on, as the colours are named. */
export type PaintedLine = readonly { readonly text: string; readonly kind: string }[]

/** The properties of `<wardspace-diff>`. */
export interface DiffProperties {
  readonly controller: Changes
  /** Shows only the list of changed files, or only the difference of the selected one. */
  readonly view?: 'files' | 'file' | undefined
  /** Whether no change can be taken back now. */
  readonly disabled?: boolean | undefined
  /** Returns the lines of a text with their colours, or undefined if it has none. */
  readonly paint?: ((path: string, text: string) => readonly PaintedLine[] | undefined) | undefined
  /** Keeps the comments that are typed and not added. */
  readonly drafts?: Drafts | undefined
  /** Why comments cannot be sent now. */
  readonly unsendable?: string | undefined
}

/** The properties of `<wardspace-terminal>`. */
export interface TerminalProperties {
  readonly controller: Terminal
  /** Shown above the first line. */
  readonly greeting?: string | undefined
}

/** The properties of `<wardspace-chat>`. */
export interface ChatProperties {
  readonly controller: Conversation
  /** The calls that the conversation shows. */
  readonly timeline?: Timeline | undefined
  /** The requests for approval for which the agent may wait. */
  readonly approvals?: Approvals | undefined
  /** The message that the person writes. By default, the chat creates one. */
  readonly draft?: MessageDraft | undefined
  /** Keeps a message that is typed and not sent, unless there is a `draft`. */
  readonly drafts?: Drafts | undefined
  /** A message that the person sends as it is, such as that of a demonstration, in place of one that they write. */
  readonly prompt?: string | undefined
  /** Whether nothing can be sent now. */
  readonly disabled?: boolean | undefined
  /** Returns the paths to suggest for what is typed after `@`, best first. */
  readonly suggest?: ((typed: string) => Promise<readonly string[]>) | undefined
}

/** The properties of `<wardspace-policy>`. */
export interface PolicyProperties {
  readonly controller: PolicyEditor
  /** Whether no policy can be applied now. */
  readonly disabled?: boolean | undefined
  /** A new value asks the policy again, such as after a change of the files. */
  readonly revision?: unknown
  /** Whether the page shows the text itself, in the slot `text`. */
  readonly ownText?: boolean | undefined
}
