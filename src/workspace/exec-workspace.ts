import { memory } from '../backends/memory/index.ts'
import { exec } from '../dialects/exec/index.ts'
import { createWorkspace, type DialectWorkspace, type DialectWorkspaceOptions } from './create-workspace.ts'

/** Options of {@link execWorkspace}: those of any workspace. Only the shell is required. */
export interface ExecWorkspaceOptions extends Partial<Omit<DialectWorkspaceOptions, 'mounts'>> {
  readonly shell: NonNullable<DialectWorkspaceOptions['shell']>
  /** The initial files, by path. Ignored if `backend` is given. */
  readonly files?: Readonly<Record<string, string>>
}

/**
 * Creates a separate workspace for loops of writing, running and fixing code: files in memory, a policy that also allows
 * changes of generated and installed files, and the tools of {@link exec}.
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
