import { objectOf, verbOf } from '../../src/elements/chat/call-verbs.ts'
import type { DoneReason } from '../agent/types.ts'
import type { ConversationItem } from './conversation.ts'

/** What is said at the end of a turn, by its reason. A turn that is simply finished needs no words. */
export const endWords: Readonly<Record<string, string>> = {
  stopped: 'Stopped',
  paused: 'Waits for the next step',
  limit: 'Stopped: as many steps as one turn may have. Go on for as many again, or change the number in the settings.',
  tokens: 'Stopped: the next step would exceed the budget of tokens. Raise it in the settings, then go on.',
  cost: 'Stopped: the next step would exceed the budget of dollars. Raise it in the settings, then go on.',
  cut: 'The answer was cut off: it reached the model’s limit of output. Go on for the rest.',
  filtered: 'The provider withheld the rest of the answer (content filter).',
  early: 'The answer ended early: the server broke it off. Go on for the rest.',
  empty: 'The model answered with nothing. Try again, or choose another model.',
  repeated: 'Stopped: the model made the same calls again and again, with the same results.',
}

/** The head of the card of a turn, by the reason why the turn is not finished. */
const endHeads: Readonly<Record<Exclude<DoneReason, 'finished'>, string>> = {
  stopped: 'Stopped',
  paused: 'Paused before the next step',
  limit: 'Stopped by the limit of steps',
  tokens: 'Stopped by the budget of tokens',
  cost: 'Stopped by the budget of dollars',
  cut: 'Cut off by the model’s limit of output',
  filtered: 'Cut off by the provider’s filter',
  early: 'Cut off by the server',
  empty: 'Ended without an answer',
  repeated: 'Stopped for repeating itself',
  error: 'Ended by an error',
}

/** A message of the person with what came of it. */
export interface Turn {
  /** What follows the message. */
  readonly items: readonly ConversationItem[]
  /** The model's ids of the calls. */
  readonly steps: readonly string[]
  /** The position after the turn. */
  readonly end: number
}

/** Splits a conversation into its turns. */
export function turnsOf(items: readonly ConversationItem[]): readonly Turn[] {
  const starts = items.flatMap(({ kind }, at) => (kind === 'person' ? [at] : []))
  return starts.map((start, at) => {
    const end = starts[at + 1] ?? items.length
    const turn = items.slice(start + 1, end)
    return { items: turn, steps: turn.flatMap((item) => (item.kind === 'call' ? [item.id] : [])), end }
  })
}

/** Returns the head of the card of a turn, or undefined if the turn is finished. */
export function endHead(items: readonly ConversationItem[]): string | undefined {
  const last = items.at(-1)
  if (last?.kind === 'error') return endHeads.error
  if (last?.kind !== 'end' || last.reason === 'finished') return undefined
  return last.reason === undefined ? 'Interrupted' : endHeads[last.reason]
}

/** The title of the card of a turn, with the time that its steps took. No step has ended where the time is nothing. */
export function endTitle(head: string | undefined, ms: number): string {
  const seconds = (ms / 1000).toFixed(1)
  if (seconds === '0.0') return head ?? 'Done'
  return `${head === undefined ? 'Done in' : `${head} after`} ${seconds} s`
}

/** Whether the last answer lacks its end, which the model can be asked for. */
export function isCutOff(items: readonly ConversationItem[]): boolean {
  const last = items.at(-1)
  return last?.kind === 'end' && (last.reason === 'cut' || last.reason === 'early')
}

/** Says where the turn was when the page was closed. @param isAsking whether it waited for an approval */
export function describeInterruption(items: readonly ConversationItem[], isAsking = false): string {
  const open = items.findLast((item) => item.kind === 'call')
  const isCalling = open?.kind === 'call' && open.ok === undefined
  const doing = isCalling
    ? `${verbOf(open.tool, 'does').toLowerCase()} ${objectOf(open.tool, open.input)}`.trim()
    : 'the agent was answering'
  return `Interrupted while ${isAsking ? 'waiting for your approval of ' : ''}${doing}: the page was closed or reloaded, or another tab took over`
}

/** What a message asks of the page itself. */
export type Command = 'stop' | 'go on' | 'retry'

const commands: Readonly<Record<string, Command>> = {
  stop: 'stop',
  'go on': 'go on',
  continue: 'go on',
  retry: 'retry',
  'try again': 'retry',
}

/** Returns the command that a message is, or undefined when it is a message. */
export function commandOf(text: string): Command | undefined {
  return commands[
    text
      .trim()
      .toLowerCase()
      .replace(/(?<![.!])[.!]+$/, '')
  ]
}

/** The title of a conversation: the beginning of its first message. */
export function titleOf(items: readonly ConversationItem[]): string {
  const first = items.find((item) => item.kind === 'person')
  const line = first?.kind === 'person' ? first.text.replaceAll('`', '').trim().replaceAll(/\s+/g, ' ') : ''
  return line.length > 60 ? `${line.slice(0, 59)}…` : line || 'Conversation'
}
