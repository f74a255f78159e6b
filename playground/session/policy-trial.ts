import { createWorkspace, type Path, type PolicyInput } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import { bash } from 'wardspace/shells/bash'
import type { PolicyTrial } from 'wardspace/ui'
import type { SessionProject } from './types.ts'

/** Opens a workspace with a policy, for its verdicts only: it carries out and records nothing. */
export async function openTrial(
  { backend }: Pick<SessionProject, 'backend'>,
  policy: PolicyInput,
): Promise<PolicyTrial> {
  return createWorkspace({
    backend: { ...backend, close: async () => {} },
    policy,
    shell: bash(),
    audit: callbackSink(() => {}),
  })
}

/** Yields the paths of all files. Git's own files are closed under every policy. */
export async function* pathsOf(
  { backend }: Pick<SessionProject, 'backend'>,
  directory = '' as Path,
): AsyncGenerator<string> {
  for (const { name, type } of await backend.list(directory)) {
    const path = (directory === '' ? name : `${directory}/${name}`) as Path
    if (type === 'file') yield path
    else if (type === 'directory' && name !== '.git') yield* pathsOf({ backend }, path)
  }
}
