import type { LanguageModel } from 'ai'
import type { ToolInput, ToolName } from '../tools/index.ts'
import {
  checkArgument,
  checkOptions,
  isAnything,
  isFunction,
  isListOf,
  isText,
  refuseSurplus,
  shape,
} from '../util/check-options.ts'
import type { ToolResult } from '../workspace/create-workspace.ts'
import { parseModelText } from './parse-model-text.ts'

/** A model of the AI SDK, version 3 of its contract. */
export type ScriptedModel = Extract<LanguageModel, { readonly specificationVersion: 'v3' }>
type CallOptions = Parameters<ScriptedModel['doStream']>[0]
type StreamResult = Awaited<ReturnType<ScriptedModel['doStream']>>
type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never
type Message = CallOptions['prompt'][number]
type Content = Extract<
  Awaited<ReturnType<ScriptedModel['doGenerate']>>['content'][number],
  { readonly type: 'text' | 'tool-call' }
>[]
type Usage = Extract<StreamPart, { type: 'finish' }>['usage']

/** One answer of the model: text and calls. An answer without calls ends its turn. */
export interface Said {
  readonly words: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
}

/** The answer to the model: the results of its calls in order, or the next message of the user. */
export type Reply = { readonly results: readonly unknown[] } | { readonly request: string }

/**
 * The texts and calls of a model, as a generator that receives the message of the user and uses {@link call}, {@link calls} and
 * {@link say}. It runs again from its start for every request to the model, so it must depend only on its input. Its return
 * value is the last text.
 */
export type Script = (request: string) => Generator<Said, string, Reply>

/** Says a text and calls one tool: `const file = yield* call('Let me read it.', 'read_file', { path })`. */
export function* call<N extends ToolName>(
  words: string,
  name: N,
  input: ToolInput<N>,
): Generator<Said, NoInfer<ToolResult<N>>, Reply> {
  checkArgument('call()', 'words', words, isText)
  checkArgument('call()', 'name', name, isText)
  const [result] = yield* calls(words, { name, input })
  return result as ToolResult<N>
}

/** Says a text and calls several tools at once. */
export function* calls(
  words: string,
  ...toolCalls: readonly { readonly name: string; readonly input: unknown }[]
): Generator<Said, readonly { readonly ok: boolean; readonly [field: string]: unknown }[], Reply> {
  checkArgument('calls()', 'words', words, isText)
  checkArgument('calls()', 'toolCalls', toolCalls, isListOf(shape({ name: isText, input: isAnything }, 'name')))
  const reply = yield { words, calls: toolCalls }
  const results = 'results' in reply ? reply.results : []
  return toolCalls.map((_, i) => (results[i] ?? interrupted) as { readonly ok: boolean })
}

/** Says a text and waits for the next message of the user. */
export function* say(words: string): Generator<Said, string, Reply> {
  checkArgument('say()', 'words', words, isText)
  const reply = yield { words, calls: [] }
  return 'request' in reply ? reply.request : ''
}

const interrupted = { ok: false, code: 'ABORTED', message: 'The call has no result', hint: 'Check what it changed.' }

/** Model id and streaming delay. */
export interface ScriptedModelOptions {
  /** Default: `scripted`. */
  readonly modelId?: string
  /** Called before each streamed piece of text, for example to imitate the speed of a model. */
  readonly wait?: (piece: string, signal: AbortSignal | undefined) => Promise<void>
}

/**
 * A deterministic model of the AI SDK that follows a script: for tests and demonstrations of agents, without a network. The script
 * contains only the texts and calls of the model; the results come from the real tools. The model has no state besides the
 * conversation that it receives, so a stored conversation can be continued. Four characters count as one token. From the text of a
 * result, the script gets the fields that the text shows; with `aiSdkTools(workspace, { results: 'json' })`, it gets all of them.
 *
 * @example
 * const model = scriptedModel(function* () {
 *   const file = yield* call('Let me look.', 'read_file', { path: 'src/app.ts' })
 *   return file.ok ? `It has ${file.totalLines} line.` : `I may not: ${file.code}.`
 * })
 */
export function scriptedModel(script: Script, requested?: ScriptedModelOptions): ScriptedModel {
  refuseSurplus('scriptedModel()', 2, arguments)
  checkArgument('scriptedModel()', 'script', script, isFunction)
  const table = { modelId: isText, wait: isFunction }
  const options = checkOptions<ScriptedModelOptions>('scriptedModel()', requested, table)
  let calledBefore = 0
  const answer = ({ prompt }: CallOptions): Answer => {
    // Ids stay unique even if a part of the conversation was dropped and is repeated.
    calledBefore = Math.max(calledBefore, callsIn(prompt))
    const { words, calls: toolCalls } = nextOf(script, prompt)
    const content: Content = words === '' ? [] : [{ type: 'text', text: words }]
    for (const { name, input } of toolCalls) {
      calledBefore += 1
      content.push({
        type: 'tool-call',
        toolCallId: `call-${calledBefore}`,
        toolName: name,
        input: JSON.stringify(input),
      })
    }
    return {
      content,
      finishReason: { unified: toolCalls.length === 0 ? 'stop' : 'tool-calls', raw: undefined },
      usage: usageOf(JSON.stringify(prompt).length, JSON.stringify(content).length),
    }
  }
  return {
    specificationVersion: 'v3',
    provider: 'wardspace',
    modelId: options.modelId ?? 'scripted',
    supportedUrls: {},
    async doGenerate(request) {
      return { ...answer(request), warnings: [] }
    },
    async doStream(request) {
      return { stream: streamOf(answer(request), request.abortSignal, options.wait) }
    },
  }
}

interface Answer {
  readonly content: Content
  readonly finishReason: Extract<StreamPart, { type: 'finish' }>['finishReason']
  readonly usage: Usage
}

/** Runs the script over the conversation and returns its next answer. */
function nextOf(script: Script, prompt: readonly Message[]): Said {
  let run: ReturnType<Script> | undefined
  let step: IteratorResult<Said, string> | undefined
  // Whether the conversation already contains the current answer of the script.
  let isSaid = false
  for (const [at, message] of prompt.entries()) {
    if (message.role === 'user') {
      const request = textOf(message)
      if (run === undefined || (step?.done === true && isSaid)) {
        run = script(request)
        step = run.next()
        isSaid = false
      } else if (isSaid) {
        step = run.next({ request })
        isSaid = false
      }
    } else if (message.role === 'assistant' && run !== undefined && step !== undefined && !isSaid) {
      const ids = message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
      // An answer that was interrupted before its calls is repeated.
      if (step.done === true || step.value.calls.length === 0) isSaid = true
      else if (ids.length > 0) step = run.next({ results: ids.map((id) => resultOf(prompt.slice(at), id)) })
    }
  }
  if (step === undefined) return { words: '', calls: [] }
  return step.done === true ? { words: step.value, calls: [] } : step.value
}

function callsIn(prompt: readonly Message[]): number {
  return prompt.flatMap(({ role, content }) =>
    role === 'assistant' ? content.filter(({ type }) => type === 'tool-call') : [],
  ).length
}

function textOf(message: Extract<Message, { role: 'user' }>): string {
  return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** Returns the result of a call as the conversation contains it. */
function resultOf(messages: readonly Message[], id: string): unknown {
  for (const message of messages) {
    if (message.role !== 'tool') continue
    for (const part of message.content) {
      if (part.type !== 'tool-result' || part.toolCallId !== id) continue
      const { output, toolName } = part
      if (output.type === 'execution-denied') {
        return { ok: false, code: 'APPROVAL_DENIED', message: output.reason ?? 'The call was not approved', hint: '' }
      }
      const isError = output.type.startsWith('error')
      if (output.type === 'json' || output.type === 'error-json') return withOk(output.value, isError)
      const text = output.type === 'content' ? contentText(output.value) : output.value
      if (text === undefined) return output
      const value = parseObject(text)
      return value === undefined ? parseModelText(toolName, text, isError) : withOk(value, isError)
    }
  }
  return undefined
}

/** Adds to the object of a dialect whether it is a success. */
function withOk(value: unknown, isError: boolean): unknown {
  const isOpen = typeof value === 'object' && value !== null && !Array.isArray(value) && !('ok' in value)
  return isOpen ? { ok: !isError, ...value } : value
}

/** Returns the text of a result that consists of texts, as clients of the Model Context Protocol pass it. */
function contentText(parts: readonly { readonly type: string; readonly text?: string }[]): string | undefined {
  const texts = parts.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))
  return texts.length === 0 || texts.length < parts.length ? undefined : texts.join('\n')
}

/** Parses a result that is JSON in a text, as some dialects have it. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function streamOf(
  { content, finishReason, usage }: Answer,
  signal: AbortSignal | undefined,
  wait: ScriptedModelOptions['wait'],
): ReadableStream<StreamPart> {
  const parts = partsOf(content)
  let isOver = false
  return new ReadableStream<StreamPart>({
    start: (controller) => controller.enqueue({ type: 'stream-start', warnings: [] }),
    async pull(controller) {
      const { value: part } = parts.next()
      if (part === undefined) {
        controller.enqueue({ type: 'finish', finishReason, usage })
        controller.close()
        return
      }
      if (part.type === 'text-delta') await wait?.(part.delta, signal)
      if (isOver) return
      signal?.throwIfAborted()
      controller.enqueue(part)
    },
    cancel() {
      isOver = true
    },
  })
}

function* partsOf(content: Content): Generator<StreamPart, undefined> {
  for (const part of content) {
    if (part.type === 'text') {
      yield { type: 'text-start', id: '0' }
      for (const [delta] of part.text.matchAll(/(?<!\s)(?:\s*\S+|\s+$)/g)) yield { type: 'text-delta', id: '0', delta }
      yield { type: 'text-end', id: '0' }
    } else {
      const { toolCallId: id, toolName, input } = part
      yield { type: 'tool-input-start', id, toolName }
      yield { type: 'tool-input-delta', id, delta: input }
      yield { type: 'tool-input-end', id }
      yield part
    }
  }
  return undefined
}

function usageOf(inputCharacters: number, outputCharacters: number): Usage {
  const input = Math.ceil(inputCharacters / 4)
  const output = Math.ceil(outputCharacters / 4)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  }
}
