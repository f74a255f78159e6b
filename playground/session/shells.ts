import type { WorkspaceOptions } from 'wardspace'
import { bash } from 'wardspace/shells/bash'
import type { WorkspaceSettings } from './types.ts'

/** A shell, and what became of the wish for it. */
export interface OpenShell {
  readonly shell: NonNullable<WorkspaceOptions['shell']>
  /** What runs the commands, and why where it is another one; for people. */
  readonly state: Promise<string>
}

/** The shell of a project: kept while one workspace after another is opened over the files, and ended at last. */
export interface ShellHolder {
  use(kind: WorkspaceSettings['shell']): Promise<OpenShell>
  close(): Promise<void>
}

export function createShellHolder(): ShellHolder {
  let current: (OpenShell & { readonly kind: WorkspaceSettings['shell'] }) | undefined
  return {
    async use(kind) {
      if (current?.kind !== kind) {
        await current?.shell.close()
        current = { kind: kind, ...(await openShell(kind)) }
      }
      const { shell, state } = current
      return { shell: { ...shell, close: async () => {} }, state }
    },
    close: async () => current?.shell.close(),
  }
}

/** The shell that commands run in: bash at once; a container when it has booted, and bash where it cannot. */
async function openShell(kind: WorkspaceSettings['shell']): Promise<OpenShell> {
  if (kind === 'bash') return { shell: bash(), state: Promise.resolve('bash, in this page') }
  const { webcontainer } = await import('wardspace/shells/webcontainer')
  const shell = webcontainer()
  const state = shell.ready().then(
    (now) =>
      now.runs === 'webcontainer'
        ? 'Node in a WebContainer'
        : now.runs === 'fallback'
          ? `${now.name}, since no WebContainer could start: ${now.reason}`
          : now.reason,
    () => 'closed',
  )
  return { shell, state }
}
