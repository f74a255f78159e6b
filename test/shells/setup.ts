import { type MemoryEntry, memory } from '../../src/backends/memory.ts'
import { bash } from '../../src/shells/bash.ts'
import type { Backend } from '../../src/vfs/backend.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../src/workspace.ts'
import { snapshot } from '../tools/setup.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever field it expects
export type Answer = Record<string, any>

export interface ShellBench {
  readonly workspace: Workspace
  readonly backend: Backend
  run(command: string, more?: object, options?: { signal?: AbortSignal }): Promise<Answer>
  snapshot(): Promise<Record<string, string>>
}

export async function shellBench(
  tree: Readonly<Record<string, MemoryEntry>>,
  options: Partial<WorkspaceOptions> = {},
): Promise<ShellBench> {
  const backend = options.backend ?? memory(tree)
  const workspace = await createWorkspace({ policy: 'autonomous', shell: bash(), ...options, backend })
  return {
    workspace,
    backend,
    run: (command, more = {}, how) => workspace.call('run_command', { command, ...more }, how) as Promise<Answer>,
    snapshot: () => snapshot(backend),
  }
}
