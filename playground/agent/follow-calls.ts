import type { Failure, Success } from 'wardspace'
import type { CallableTools } from 'wardspace/ai-sdk'
import type { Repetition } from './repetition.ts'

export interface EndedCall {
  readonly id: string
  readonly tool: string
  readonly ok: boolean
  /** The result as the model sees it. */
  readonly seen: { readonly ok: boolean }
  readonly callId?: string
  readonly code?: string
  readonly ms: number
}

export interface FollowedTools extends CallableTools {
  /** Resolves when no call is running. */
  settled(): Promise<void>
}

export interface CallOptions {
  readonly repetition: Repetition
  /** Answers a call that is not for the workspace. */
  readonly answer: (tool: string, input: unknown) => Promise<Success | Failure> | undefined
}

/** Wraps tools to report when a call begins and ends, even if its caller no longer waits for it. */
export function followCalls(
  { tools, callTool }: CallableTools,
  on: {
    /** The call starts once the returned promise resolves. */
    readonly begins: (id: string, tool: string, input: unknown) => Promise<void>
    readonly ended: (call: EndedCall) => void
  },
  { repetition, answer }: CallOptions,
): FollowedTools {
  const running = new Set<Promise<unknown>>()

  async function followed(name: string, input: unknown, options: Parameters<typeof callTool>[2]) {
    const id = options?.step ?? ''
    await on.begins(id, name, input)
    const startedAt = performance.now()
    const result = repetition.refuse(name, input) ?? (await (answer(name, input) ?? callTool(name, input, options)))
    repetition.note(name, input, result)
    const { ok, callId, code } = result as { ok: boolean; callId?: string; code?: string }
    const ms = performance.now() - startedAt
    on.ended({ id, tool: name, ok, seen: result, ...(callId && { callId }), ...(code && { code }), ms })
    return result
  }

  return {
    tools,
    callTool(name, input, options) {
      const result = followed(name, input, options)
      running.add(result)
      return result.finally(() => running.delete(result))
    },
    async settled() {
      while (running.size > 0) await Promise.allSettled([...running])
    },
  }
}
