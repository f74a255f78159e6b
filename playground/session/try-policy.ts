import { createWorkspace, type Explanation, type PolicyInput } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import { bash } from 'wardspace/shells/bash'
import type { SessionProject } from './types.ts'

/** A policy as text, read: the policy, or what is wrong with it. */
export type ReadPolicy =
  | { readonly ok: true; readonly policy: PolicyInput }
  | { readonly ok: false; readonly message: string }

/** A policy's text is JSON: an object, or a preset's name. */
export function readPolicy(text: string): ReadPolicy {
  try {
    return { ok: true, policy: JSON.parse(text) as PolicyInput }
  } catch (error) {
    return { ok: false, message: `This is no JSON: ${(error as Error).message}` }
  }
}

/** What a policy would say to a call, without anything being done, counted or written down. */
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
    const explanation = await workspace.explain(tool, input)
    await workspace.close()
    return explanation
  } catch (error) {
    return { ok: false, message: (error as Error).message }
  }
}
