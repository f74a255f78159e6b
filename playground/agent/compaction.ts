import type { ModelMessage } from 'ai'
import { counted } from '../../src/util/counted.ts'

/**
 * The parts of a conversation that a model receives shortened, so that the rest fits its context. The conversation itself
 * stays complete. All numbers are indexes of messages.
 */
export interface Compaction {
  /** Before it, results of calls are replaced by their addresses. */
  readonly results: number
  /** Before it, long texts in the input of calls are replaced by addresses too. */
  readonly inputs: number
  /** Before it, messages are left out, except for the first one of the person. */
  readonly left: number
}

export const noCompaction: Compaction = { results: 0, inputs: 0, left: 0 }

/** Addresses of what a conversation contains begin with it. */
export const CONVERSATION = 'artifact://conversation/'

/** Texts up to this length are shorter than what replaces them, or not much longer. */
const MIN_REPLACED = 400
/** Characters that an image counts as, whatever its size: about 1,500 tokens. */
const IMAGE_CHARACTERS = 5_000

/** Returns the messages that a model gets. */
export function messagesFor(messages: readonly ModelMessage[], compaction: Compaction): readonly ModelMessage[] {
  const sent = numbered(messages).flatMap(({ message, at, numbers }) => {
    if (at < compaction.left) return []
    if (message.role === 'tool' && at < compaction.results) return [withoutResults(message, numbers)]
    if (message.role === 'assistant' && at < compaction.inputs) return [withoutInputs(message, numbers)]
    return [message]
  })
  return compaction.left === 0 ? sent : [firstWithNote(messages, compaction.left), ...sent]
}

/** The number of characters of messages, as the context of a model counts them. */
export function charactersOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, { content }) => sum + charactersOfContent(content), 0)
}

/** Characters of the messages after a compaction. */
export interface Room {
  /** As many remain, so that the next compaction is far away. */
  readonly target: number
  /** Messages are left out only if there would be more otherwise. */
  readonly max: number
}

/** What is compacted in turn, and how many of the last messages stay whole. */
const stages = [
  { kind: 'results', kept: 8 },
  { kind: 'inputs', kept: 8 },
  { kind: 'results', kept: 2 },
  { kind: 'inputs', kept: 2 },
  { kind: 'left', kept: 8 },
  { kind: 'left', kept: 2 },
] as const

/**
 * Returns a compaction after which the messages fit, or are as short as possible: results go first, then inputs, then whole
 * messages, and the oldest before the newer ones.
 */
export function compact(messages: readonly ModelMessage[], start: Compaction, { target, max }: Room): Compaction {
  let compaction = start
  const size = (changed: Compaction) => charactersOf(messagesFor(messages, changed))
  if (size(start) <= max) return start
  for (const { kind, kept } of stages) {
    if (kind === 'left' && size(compaction) <= max) return compaction
    // The first of the kept messages must not be a result whose call is left out.
    const isBoundary = (at: number) => kind !== 'left' || messages[at]?.role !== 'tool'
    const boundaries = range(compaction[kind] + 1, messages.length - kept).filter(isBoundary)
    const changed = (at: number): Compaction => ({ ...compaction, [kind]: at })
    const first = firstWhere(boundaries, (at) => size(changed(at)) <= target) ?? boundaries.at(-1)
    if (first !== undefined) compaction = changed(first)
    if (size(compaction) <= target) return compaction
  }
  return compaction
}

/** Returns the text at an address of the conversation, or undefined for any other address. */
export function textAt(messages: readonly ModelMessage[], address: string): string | undefined {
  const [, number, kind] = /^artifact:\/\/conversation\/(\d+)-(result|input)\.json$/.exec(address) ?? []
  for (const { message, numbers } of numbered(messages)) {
    if (typeof message.content === 'string') continue
    for (const part of message.content) {
      const isResult = part.type === 'tool-result'
      if (!isResult && part.type !== 'tool-call') continue
      if (numbers.get(part.toolCallId) !== Number(number) || isResult !== (kind === 'result')) continue
      const value: unknown = isResult ? contentOf(part.output) : part.input
      return JSON.stringify(value, null, 1)
    }
  }
  return undefined
}

/** The messages with the numbers of their calls, by id. A server may use an id again, in a later message. */
function numbered(messages: readonly ModelMessage[]) {
  let count = 0
  let numbers: ReadonlyMap<string, number> = new Map()
  return messages.map((message, at) => {
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      const calls = message.content.filter((part) => part.type === 'tool-call')
      const start = count
      numbers = new Map(calls.map(({ toolCallId }, index) => [toolCallId, start + index + 1]))
      count += calls.length
    }
    return { message, at, numbers }
  })
}

type Numbers = ReadonlyMap<string, number>
type ToolMessage = Extract<ModelMessage, { role: 'tool' }>
type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>

function withoutResults(message: ToolMessage, numbers: Numbers): ToolMessage {
  const content = message.content.map((part): (typeof message.content)[number] => {
    if (part.type !== 'tool-result' || JSON.stringify(part.output).length <= MIN_REPLACED) return part
    const value = {
      ok: part.output.type !== 'error-json' && part.output.type !== 'error-text',
      artifactUri: `${CONVERSATION}${numbers.get(part.toolCallId)}-result.json`,
      note: 'Left out to save context. Read the address with read_file, or make the call again for the present state.',
    }
    return { ...part, output: { type: 'json', value } }
  })
  return { ...message, content }
}

function withoutInputs(message: AssistantMessage, numbers: Numbers): AssistantMessage {
  if (typeof message.content === 'string') return message
  const content = message.content.flatMap((part): (typeof part)[] => {
    if (part.type === 'reasoning') return []
    if (part.type !== 'tool-call') return [part]
    return [{ ...part, input: shorten(part.input, `${CONVERSATION}${numbers.get(part.toolCallId)}-input.json`) }]
  })
  return { ...message, content }
}

/** Replaces the long texts of a value. */
function shorten(value: unknown, address: string): unknown {
  if (typeof value === 'string') {
    return value.length <= MIN_REPLACED ? value : `(${value.length} characters, left out; whole at ${address})`
  }
  if (Array.isArray(value)) return value.map((one) => shorten(one, address))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one, address)]))
}

function firstWithNote(messages: readonly ModelMessage[], left: number): ModelMessage {
  const first = messages.slice(0, left).find(({ role }) => role === 'user')
  const note = {
    type: 'text' as const,
    text: `(Left out to save context: ${counted(left, 'message')} after this one.)`,
  }
  if (first?.role !== 'user') return { role: 'user', content: [note] }
  const said = typeof first.content === 'string' ? [{ type: 'text' as const, text: first.content }] : first.content
  return { role: 'user', content: [...said.filter((part) => part.type === 'text'), note] }
}

function charactersOfContent(content: ModelMessage['content']): number {
  if (typeof content === 'string') return content.length
  return content.reduce((sum, part) => {
    if (part.type === 'image' || part.type === 'file') return sum + IMAGE_CHARACTERS
    return sum + ('text' in part ? part.text.length : JSON.stringify(part).length)
  }, 0)
}

function contentOf(output: object): unknown {
  return 'value' in output ? output.value : output
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

/** Returns the first of ordered candidates that fits, when all after it fit too. */
function firstWhere(candidates: readonly number[], fits: (one: number) => boolean): number | undefined {
  let [low, high] = [0, candidates.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(candidates[middle] as number)) high = middle
    else low = middle + 1
  }
  return candidates[low]
}
