import type { CallableTools } from 'wardspace/ai-sdk'

export interface EndedCall {
  readonly id: string
  readonly tool: string
  readonly ok: boolean
  /** What the model is shown. */
  readonly seen: { readonly ok: boolean }
  readonly callId?: string
  readonly code?: string
  readonly ms: number
}

export interface FollowedTools extends CallableTools {
  /** Resolves once no call runs any more. */
  settled(): Promise<void>
}

/** The same tools, and somebody who is told when a call begins and ends: also after nobody waits for it any more. */
export function followCalls(
  { tools, callTool }: CallableTools,
  on: {
    /** The call waits for it. */
    readonly begins: (id: string, tool: string, input: unknown) => Promise<void>
    readonly ended: (call: EndedCall) => void
  },
): FollowedTools {
  const running = new Set<Promise<unknown>>()

  async function followed(name: string, input: unknown, options: Parameters<typeof callTool>[2]) {
    const id = options?.step ?? ''
    await on.begins(id, name, input)
    const begun = performance.now()
    const result = await callTool(name, input, options)
    const { ok, callId, code } = result as { ok: boolean; callId?: string; code?: string }
    const ms = performance.now() - begun
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
