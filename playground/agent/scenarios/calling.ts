import type { ToolInput, ToolName, ToolResult } from 'wardspace'
import { calls as callOnce, type Reply, type Said } from 'wardspace/testing/scripted-model'

interface ToolCall {
  readonly name: string
  readonly input: unknown
}

type Result = { readonly ok: boolean; readonly [field: string]: unknown }

/** Says a text and calls a tool. Repeats a call that a person or a reload interrupted. */
export function* call<N extends ToolName>(
  words: string,
  name: N,
  input: ToolInput<N>,
): Generator<Said, NoInfer<ToolResult<N>>, Reply> {
  const [result] = yield* calls(words, { name, input })
  return result as ToolResult<N>
}

/** Says a text and makes several calls at once. Repeats those that were interrupted. */
export function* calls(words: string, ...requests: readonly ToolCall[]): Generator<Said, readonly Result[], Reply> {
  const results = yield* callOnce(words, ...requests)
  const again = requests.filter((_, i) => isInterrupted(results[i]))
  if (again.length === 0) return results
  const second = [...(yield* callOnce('That was interrupted, so once more.', ...again))]
  return results.map((result) => (isInterrupted(result) ? (second.shift() ?? result) : result))
}

function isInterrupted(result: Result | undefined): boolean {
  return result?.ok === false && result.code === 'ABORTED'
}
