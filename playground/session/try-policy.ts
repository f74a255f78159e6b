import { createWorkspace, type Explanation, type PolicyInput } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import { bash } from 'wardspace/shells/bash'
import type { SessionProject } from './types.ts'

/** The result of parsing a policy: the policy or the error message. */
export type ReadPolicy =
  | { readonly ok: true; readonly policy: PolicyInput }
  | { readonly ok: false; readonly message: string }

/** Parses a policy from JSON: an object or the name of a preset. */
export function readPolicy(text: string): ReadPolicy {
  try {
    return { ok: true, policy: JSON.parse(text) as PolicyInput }
  } catch (error) {
    return { ok: false, message: `This is not JSON: ${(error as Error).message}` }
  }
}

/** Returns the verdict of a policy on a call, without executing, counting or recording the call. */
export async function tryPolicy(
  { backend }: Pick<SessionProject, 'backend'>,
  policy: PolicyInput,
  tool: string,
  input: unknown,
): Promise<Explanation | { readonly ok: false; readonly message: string }> {
  try {
    const workspace = await createWorkspace({
      backend: { ...backend, close: async () => {} },
      policy,
      shell: bash(),
      audit: callbackSink(() => {}),
    })
    const explanation = await workspace.explainTool(tool, input)
    await workspace.close()
    return explanation
  } catch (error) {
    return { ok: false, message: (error as Error).message }
  }
}
