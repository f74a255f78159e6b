import type { LanguageModelMiddleware, ModelMessage } from 'ai'
import { callsOf } from './messages.ts'

/** Gives each call of a model an id of its own in the conversation: some servers number the calls of each answer anew. */
export function uniqueCallIds(conversation: readonly ModelMessage[]): LanguageModelMiddleware {
  const used = new Set(
    conversation.flatMap((message) =>
      message.role === 'assistant' ? callsOf(message).map(({ toolCallId }) => toolCallId) : [],
    ),
  )
  return {
    specificationVersion: 'v3',
    async wrapStream({ doStream }) {
      const { stream, ...rest } = await doStream()
      /** The ids of the calls that have begun, by those of the server. */
      const begun = new Map<string, string>()
      const ownId = (id: string) => {
        const own = begun.get(id) ?? (used.has(id) ? newId() : id)
        used.add(own)
        begun.set(id, own)
        return own
      }
      const parts = stream.pipeThrough(
        new TransformStream<StreamPart, StreamPart>({
          transform(part, controller) {
            if (part.type === 'tool-call') {
              controller.enqueue({ ...part, toolCallId: ownId(part.toolCallId) })
              // The next call with this id is another one.
              begun.delete(part.toolCallId)
            } else controller.enqueue(isInput(part) ? { ...part, id: ownId(part.id) } : part)
          },
        }),
      )
      return { ...rest, stream: parts }
    },
  }
}

type StreamPart =
  Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>> extends { stream: ReadableStream<infer P> }
    ? P
    : never

type InputPart = Extract<StreamPart, { type: `tool-input-${string}` }>
const isInput = (part: StreamPart): part is InputPart => part.type.startsWith('tool-input-')

/** Nine letters and digits, which every provider takes. */
const newId = () => crypto.randomUUID().replaceAll('-', '').slice(0, 9)
