import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import type { Path } from 'wardspace'
import type { TimelineEntry } from 'wardspace/ui'
import { changesOfCall } from './changes.ts'
import { textOf } from './text.ts'
import type { Session } from './types.ts'

/** The file that the agent reads or changes. */
export interface FollowedFile {
  readonly path: string
  /** The lines that it reads, from 1. */
  readonly lines?: readonly [first: number, last: number]
  /** The text before and after a change, also while the change is being made. */
  readonly change?: { readonly before: string; readonly after: string }
}

/** What the agent works on, for a display that follows it. */
export interface Following {
  /** The switch. While it is off, the display stays where the person is. */
  readonly isOn: ReadonlySignal<boolean>
  readonly file: ReadonlySignal<FollowedFile | undefined>
  /** The newest call of the agent that runs or has ended. */
  readonly call: ReadonlySignal<TimelineEntry | undefined>
  /** Counts the commands that the agent has started. */
  readonly commands: ReadonlySignal<number>
  /** Switches following on, or off until it is switched on. */
  turn(isOn: boolean): void
  /** The person goes elsewhere: following is off until the next run. */
  leave(): void
  /** Forgets the file, so that it is shown as it is. */
  clear(): void
  close(): void
}

type FollowedSession = Pick<Session, 'project' | 'timeline' | 'workspace' | 'revision'>

const commandTools: ReadonlySet<string> = new Set(['run_command', 'start_command'])

export function createFollowing(session: FollowedSession, isWorking: ReadonlySignal<boolean>): Following {
  return new AgentFollowing(session, isWorking)
}

class AgentFollowing implements Following {
  readonly isOn = computed(() => this.#isWanted.value && !this.#isAway.value)
  readonly file = signal<FollowedFile | undefined>(undefined)
  readonly call = signal<TimelineEntry | undefined>(undefined)
  readonly commands = signal(0)
  readonly #isWanted = signal(true)
  readonly #isAway = signal(false)
  readonly #session: FollowedSession
  readonly #isWorking: ReadonlySignal<boolean>
  /** The state in which each call was seen last. */
  readonly #seen: Map<string, TimelineEntry['state']>
  readonly close: () => void

  constructor(session: FollowedSession, isWorking: ReadonlySignal<boolean>) {
    this.#session = session
    this.#isWorking = isWorking
    this.#seen = new Map(session.timeline.peek().map(({ key, state }) => [key, state]))
    const endRuns = effect(() => {
      if (!isWorking.value) return
      this.#isAway.value = false
    })
    const endCalls = effect(() => {
      for (const entry of session.timeline.value) {
        const isSeen = this.#seen.get(entry.key) === entry.state
        if (entry.actor === 'person' || isSeen) continue
        this.#seen.set(entry.key, entry.state)
        untracked(() => this.#take(entry))
      }
    })
    let revision = session.revision.peek()
    const endChanges = effect(() => {
      const isNew = session.revision.value !== revision
      revision = session.revision.value
      // What the agent has changed may be taken back by now.
      if (isNew && !isWorking.peek()) untracked(() => this.clear())
    })
    this.close = () => {
      endRuns()
      endChanges()
      endCalls()
    }
  }

  turn(isOn: boolean): void {
    this.#isWanted.value = isOn
    this.#isAway.value = false
  }

  leave(): void {
    if (this.#isWorking.peek()) this.#isAway.value = true
  }

  clear(): void {
    this.file.value = undefined
  }

  #take(entry: TimelineEntry): void {
    this.call.value = entry
    if (commandTools.has(entry.tool)) {
      if (entry.state === 'running') this.commands.value = this.commands.peek() + 1
    } else if (entry.state !== 'done') void this.#showPlanned(entry)
    else if (entry.result?.ok === true) void this.#showDone(entry)
    else if (this.file.peek()?.change !== undefined) this.file.value = undefined
  }

  /** Shows the change that a call is about to make, as far as its input says so. */
  async #showPlanned(entry: TimelineEntry): Promise<void> {
    const { path } = (entry.input ?? {}) as { path?: unknown }
    if (typeof path !== 'string') return
    const before = await this.#textOf(path)
    const after = before === undefined ? undefined : plannedText(entry, before)
    const isCurrent = this.call.peek()?.key === entry.key && this.call.peek()?.state !== 'done'
    if (before !== undefined && after !== undefined && after !== before && isCurrent) {
      this.file.value = { path, change: { before, after } }
    }
  }

  async #showDone({ key, input, tool, record, result }: TimelineEntry): Promise<void> {
    const { path } = (input ?? {}) as { path?: unknown }
    if (tool === 'read_file') {
      const { startLine, endLine } = result as { startLine?: unknown; endLine?: unknown }
      if (typeof path !== 'string' || path.startsWith('artifact:')) return
      this.file.value = { path, lines: [Number(startLine ?? 1), Number(endLine ?? startLine ?? 1)] }
      return
    }
    const callId = record?.toolCallId ?? (result as { callId?: string }).callId
    if (callId === undefined || (record !== undefined && record.pathsWritten.length === 0)) return
    const changes = await changesOfCall(this.#session.project, this.#session.workspace.peek(), callId)
    const file = changes.find(({ status }) => status !== 'deleted')
    if (file === undefined || this.call.peek()?.key !== key) return
    const before = file.before === undefined ? '' : textOf(file.before)?.text
    const after = file.after === undefined ? undefined : textOf(file.after)?.text
    if (before !== undefined && after !== undefined) this.file.value = { path: file.path, change: { before, after } }
  }

  async #textOf(path: string): Promise<string | undefined> {
    const { backend } = this.#session.project
    const read = await backend.read(path as Path).catch(() => undefined)
    return read === undefined ? '' : textOf(read.bytes)?.text
  }
}

/** Returns the text of a file after a call that has not been carried out yet, or undefined when its input does not show it. */
function plannedText({ tool, input }: TimelineEntry, before: string): string | undefined {
  const { content, oldText, newText, edits } = input as Readonly<Record<string, unknown>>
  if (tool === 'write_file' && typeof content === 'string') return content
  if (tool === 'append_file' && typeof content === 'string') return before + content
  if (tool !== 'edit_file') return undefined
  let text = before
  for (const edit of Array.isArray(edits) ? edits : [{ oldText, newText }]) {
    if (typeof edit?.oldText !== 'string' || typeof edit.newText !== 'string') return undefined
    if (!text.includes(edit.oldText)) return undefined
    text = text.replace(edit.oldText, () => edit.newText)
  }
  return text
}
