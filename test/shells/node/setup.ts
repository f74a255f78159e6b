import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { nodeBackend as directory } from '../../../src/backends/node/index.ts'
import { type NodeShellOptions, nodeShell } from '../../../src/shells/node/index.ts'
import type { WorkspaceOptions } from '../../../src/workspace/create-workspace.ts'
import { type ShellBench, shellBench, unjudged } from '../setup.ts'

export interface NodeBench extends ShellBench {
  /** The physical root. */
  readonly root: string
  close(): Promise<void>
}

/** A workspace in a directory of its own, whose lines nobody judges. */
export async function nodeBench(
  tree: Readonly<Record<string, string>> = {},
  how: Partial<NodeShellOptions> = {},
  options: Partial<WorkspaceOptions> = {},
  where = tmpdir(),
): Promise<NodeBench> {
  const base = realpathSync(mkdtempSync(join(where, 'node-shell-')))
  const root = join(base, 'root')
  mkdirSync(root)
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const stateDir = join(base, 'state')
  const shell = nodeShell({ root, stateDir, sandbox: 'none', ...how })
  const policy = { preset: 'autonomous', tools: { run_command: 'allow', start_command: 'allow' } } as const
  const bench = await shellBench(
    {},
    { backend: directory(root, { stateDir }), shell: unjudged(shell), policy, ...options },
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

/** Whether a process is there and has not ended: one that only waits to be reaped has. */
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

/** Waits until something is so: the test's own time limit ends it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}
