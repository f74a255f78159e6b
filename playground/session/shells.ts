import type { WorkspaceOptions } from 'wardspace'
import { bash } from 'wardspace/shells/bash'
import { type ShellLines, TerminalShell } from './terminal-shell.ts'
import type { WorkspaceSettings } from './types.ts'

/** An open shell and its description. */
export interface OpenShell {
  readonly shell: NonNullable<WorkspaceOptions['shell']>
  /** What runs the commands, with the reason for a fallback; for display. */
  readonly state: Promise<string>
}

/** The shell of a project. It stays open while workspaces over the same files are replaced. */
export interface ShellHolder {
  /** The person's lines, in whichever shell. */
  readonly lines: ShellLines
  use(kind: WorkspaceSettings['shell']): Promise<OpenShell>
  close(): Promise<void>
}

export function createShellHolder(): ShellHolder {
  let current: (OpenShell & { readonly kind: WorkspaceSettings['shell'] }) | undefined
  const lines = new TerminalShell()
  return {
    lines,
    async use(kind) {
      if (current?.kind !== kind) {
        await current?.shell.close()
        current = { kind: kind, ...(await openShell(kind)) }
      }
      const { shell, state } = current
      return { shell: { ...lines.follow(shell, kind === 'bash'), close: async () => {} }, state }
    },
    close: async () => current?.shell.close(),
  }
}

/** Opens a shell: bash immediately, or a WebContainer, which falls back to bash if it cannot boot. */
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
