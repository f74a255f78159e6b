import type { ToolInput, ToolName, ToolResult } from 'wardspace'
import { calls as callOnce, type Reply, type Said } from 'wardspace/testing/scripted-model'

interface Asked {
  readonly name: string
  readonly input: unknown
}

type Result = { readonly ok: boolean; readonly [field: string]: unknown }

/** Says something and calls a tool. What was interrupted, by a person or a reload, is called once more. */
export function* call<N extends ToolName>(
  words: string,
  name: N,
  input: ToolInput<N>,
): Generator<Said, NoInfer<ToolResult<N>>, Reply> {
  const [result] = yield* calls(words, { name, input })
  return result as ToolResult<N>
}

/** Several calls at once, each of them again where it was interrupted. */
export function* calls(words: string, ...asked: readonly Asked[]): Generator<Said, readonly Result[], Reply> {
  const results = yield* callOnce(words, ...asked)
  const again = asked.filter((_, i) => isInterrupted(results[i]))
  if (again.length === 0) return results
  const second = [...(yield* callOnce('That was interrupted, so once more.', ...again))]
  return results.map((result) => (isInterrupted(result) ? (second.shift() ?? result) : result))
}

function isInterrupted(result: Result | undefined): boolean {
  return result?.ok === false && result.code === 'ABORTED'
}
