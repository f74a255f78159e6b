import { memory } from '../backends/memory/index.ts'
import { exec } from '../dialects/exec/index.ts'
import { createWorkspace, type DialectWorkspace, type DialectWorkspaceOptions } from './create-workspace.ts'

/** Options of {@link execWorkspace}: those of any workspace, of which only the shell is needed. */
export interface ExecWorkspaceOptions extends Partial<Omit<DialectWorkspaceOptions, 'mounts'>> {
  readonly shell: NonNullable<DialectWorkspaceOptions['shell']>
  /** What lies there at the beginning, where no `backend` is given. */
  readonly files?: Readonly<Record<string, string>>
}

/**
 * A workspace of its own for loops of writing, running and mending: files in memory that no other workspace sees, a
 * policy under which also what is generated or installed may be changed, and the tools of {@link exec}.
 *
 * @example
 * const scratch = await execWorkspace({ shell: bash(), files: { 'sum.txt': '1 + 1' } })
 * await scratch.call('exec.run', { command: 'cat sum.txt' })
 */
export function execWorkspace({ files = {}, ...options }: ExecWorkspaceOptions): Promise<DialectWorkspace> {
  return createWorkspace({
    backend: memory(files),
    policy: {
      preset: 'autonomous',
      rules: [
        {
          name: 'nothing here is kept',
          action: 'allow',
          paths: ['**'],
          overrides: ['generated', 'vendored', 'lockfile'],
        },
      ],
    },
    dialect: exec(),
    ...options,
  })
}
