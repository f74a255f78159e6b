import {
  convertToModelMessages,
  createUIMessageStream,
  createUIMessageStreamResponse,
  type LanguageModel,
  stepCountIs,
  streamText,
  type UIMessage,
  type UIMessageStreamWriter,
} from 'ai'
import type { Workspace } from 'wardspace'
import { aiSdkTools } from 'wardspace/ai-sdk'

/** Messages with the changes that wait for an answer, as parts `data-change`. */
export type ChatMessage = UIMessage<unknown, { change: { callId: string; diff: string } }>

interface Chat {
  /** Without `approve`: the page answers. */
  readonly workspace: Workspace
  readonly model: LanguageModel
  /** With it, the SDK signs its requests, so that an answer also belongs to the request that the page has shown. */
  readonly secret?: string
}

/**
 * Returns a function that answers the requests of one chat. The tools are created once: they know which calls were asked about, and
 * an answer counts for these alone.
 */
export function createChat({ workspace, model, secret }: Chat): (request: Request) => Promise<Response> {
  let writer: UIMessageStreamWriter<ChatMessage> | undefined
  const tools = aiSdkTools(workspace, {
    approvals: 'framework',
    onPending({ callId, request: { diff = '' } }) {
      writer?.write({ type: 'data-change', id: callId, data: { callId, diff } })
    },
  })
  return async (request) => {
    const { messages } = (await request.json()) as { messages: ChatMessage[] }
    const prompt = await convertToModelMessages(messages)
    const stream = createUIMessageStream<ChatMessage>({
      originalMessages: messages,
      execute(options) {
        writer = options.writer
        const result = streamText({
          model,
          tools,
          messages: prompt,
          stopWhen: stepCountIs(20),
          abortSignal: request.signal,
          ...(secret !== undefined && { experimental_toolApprovalSecret: secret }),
        })
        writer.merge(result.toUIMessageStream({ originalMessages: messages }))
      },
    })
    return createUIMessageStreamResponse({ stream })
  }
}
