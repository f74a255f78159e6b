import { createWorkspace, type Explanation, type PolicyInput, type Workspace } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import { lintPolicy } from 'wardspace/policy'
import { bash } from 'wardspace/shells/bash'
import { type JsonNode, type JsonPath, lineAt, parseJson, placeOfField } from './json-text.ts'
import type { SessionProject } from './types.ts'

/** The result of parsing a policy: the policy, or the error with its place. */
export type ReadPolicy =
  | { readonly ok: true; readonly policy: PolicyInput; readonly root: JsonNode }
  | {
      readonly ok: false
      readonly message: string
      readonly line: number
      /** The field or the nearest value around it. */
      readonly path: JsonPath
      /** Undefined if the text is not JSON. */
      readonly root?: JsonNode
    }

/** Parses a policy and checks it by the engine. */
export function readPolicy(text: string): ReadPolicy {
  const json = parseJson(text)
  if (!json.ok) return { ok: false, message: json.message, line: lineAt(text, json.at), path: [] }
  const policy = JSON.parse(text) as PolicyInput
  try {
    lintPolicy(policy)
    return { ok: true, policy, root: json.root }
  } catch (error) {
    const { message } = error as Error
    const [, field = ''] = /^Policy field "((?:[^"\\]|\\.)*)"/.exec(message) ?? []
    const { path, at } = placeOfField(json.root, field)
    const words = message.replace(/^Policy field "((?:[^"\\]|\\.)*)"/, '“$1”')
    return { ok: false, message: words, line: lineAt(text, at), path, root: json.root }
  }
}

/** Opens a workspace with a policy, for its verdicts only: it carries out and records nothing. */
export async function openTrial(
  { backend }: Pick<SessionProject, 'backend'>,
  policy: PolicyInput,
): Promise<Pick<Workspace, 'explainTool' | 'close'>> {
  return createWorkspace({
    backend: { ...backend, close: async () => {} },
    policy,
    shell: bash(),
    audit: callbackSink(() => {}),
  })
}

/** Returns the verdict of a policy on a call, without executing, counting or recording the call. */
export async function tryPolicy(
  project: Pick<SessionProject, 'backend'>,
  policy: PolicyInput,
  tool: string,
  input: unknown,
): Promise<Explanation | { readonly ok: false; readonly message: string }> {
  try {
    const workspace = await openTrial(project, policy)
    const explanation = await workspace.explainTool(tool, input)
    await workspace.close()
    return explanation
  } catch (error) {
    return { ok: false, message: (error as Error).message }
  }
}
