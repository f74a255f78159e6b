import { type MemoryEntry, memory } from '../../src/backends/memory/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createCommandFiles } from '../../src/shells/shared/command-files.ts'
import type { CommandFilesOptions } from '../../src/shells/shared/command-gate.ts'
import type { Shell } from '../../src/shells/types.ts'
import type { Backend } from '../../src/storage/backend.ts'
import type { Answer } from '../../src/testing/shell/case.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../src/workspace/create-workspace.ts'
import { snapshot } from '../tools/setup.ts'

export type { Answer }

/** A shell whose lines are not evaluated, so that only its files protect anything. */
export function unjudged(shell: Shell): Shell {
  const line = { decision: 'allow', commands: [], accesses: [], reasons: [] } as const
  return {
    ...shell,
    judge: (_, { policy, call }) => ({ line, verdict: policy.evaluate({ ...call, commands: [] }), opens: [] }),
  }
}

export interface ShellBench {
  readonly workspace: Workspace
  readonly backend: Backend
  run(command: string, more?: object, options?: { signal?: AbortSignal }): Promise<Answer>
  snapshot(): Promise<Record<string, string>>
}

/** The shell of the benches that bring none. It stays open, so that one start serves all of them. */
export const sharedShell: Shell = { ...bash(), close: async () => {} }

export async function shellBench(
  tree: Readonly<Record<string, MemoryEntry>>,
  options: Partial<WorkspaceOptions> = {},
): Promise<ShellBench> {
  const backend = options.backend ?? memory(tree)
  const workspace = await createWorkspace({ policy: 'autonomous', shell: unjudged(sharedShell), ...options, backend })
  return {
    workspace,
    backend,
    run: (command, more = {}, options) =>
      workspace.call('run_command', { command, ...more }, options) as Promise<Answer>,
    snapshot: () => snapshot(backend),
  }
}

/** The files of one command over a backend, without policy. */
export function filesOver(backend: Backend, more: Partial<CommandFilesOptions> = {}) {
  return createCommandFiles({
    backend,
    judge: () => {},
    requireAllowed: () => {},
    visibility: () => ({ see: () => true, enter: () => true, revision: 'all' }),
    signal: new AbortController().signal,
    onRead: () => {},
    limits: { treeEntries: 100, fileBytes: 1000 },
    ...more,
  })
}
