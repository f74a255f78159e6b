import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { type NodeShellOptions, nodeShell } from '../../../src/shells/node/index.ts'
import type { WorkspaceOptions } from '../../../src/workspace/create-workspace.ts'
import { writeFiles } from '../../write-files.ts'
import { type ShellBench, shellBench, unjudged } from '../setup.ts'

export interface NodeBench extends ShellBench {
  /** Physical root of the workspace. */
  readonly root: string
  close(): Promise<void>
}

/** A workspace in a new directory, whose lines are all allowed. */
export async function nodeBench(
  tree: Readonly<Record<string, string>> = {},
  shellOptions: Partial<NodeShellOptions> = {},
  options: Partial<WorkspaceOptions> = {},
  parent = tmpdir(),
): Promise<NodeBench> {
  const base = realpathSync(mkdtempSync(join(parent, 'node-shell-')))
  const root = join(base, 'root')
  mkdirSync(root)
  writeFiles(root, tree)
  const stateDir = join(base, 'state')
  const shell = nodeShell({ root, stateDir, sandbox: 'none', ...shellOptions })
  const policy = { preset: 'autonomous', tools: { run_command: 'allow', start_command: 'allow' } } as const
  const bench = await shellBench(
    {},
    { backend: nodeBackend(root, { stateDir }), shell: unjudged(shell), policy, ...options },
  )
  const close = async () => {
    await bench.workspace.close()
    await shell.close()
  }
  onTestFinished(async () => {
    await close()
    rmSync(base, { recursive: true, force: true })
  })
  return { ...bench, root, close }
}

/** Whether a process runs. A zombie has ended. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
