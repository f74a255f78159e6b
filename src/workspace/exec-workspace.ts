import { memory } from '../backends/memory/index.ts'
import { exec } from '../dialects/exec/index.ts'
import { checkOptions, isRecordOf, isText, type OptionTable } from '../util/check-options.ts'
import { createWorkspace, type DialectWorkspace, type DialectWorkspaceOptions } from './create-workspace.ts'
import { workspaceOptions } from './options.ts'

/** Options of {@link execWorkspace}: those of any workspace. Only the shell is required. */
export interface ExecWorkspaceOptions extends Partial<Omit<DialectWorkspaceOptions, 'mounts'>> {
  readonly shell: NonNullable<DialectWorkspaceOptions['shell']>
  /** The initial files, by path, in memory. Give either these or a `backend`. */
  readonly files?: Readonly<Record<string, string>>
}

const { mounts: _, ...ownOptions } = workspaceOptions
const optionTable: OptionTable<ExecWorkspaceOptions> = { ...ownOptions, files: isRecordOf(isText) }

/**
 * Creates a separate workspace for loops of writing, running and fixing code: files in memory, a policy that also allows
 * changes of generated and installed files, and the tools of {@link exec}.
 *
 * @example
 * const scratch = await execWorkspace({ shell: bash(), files: { 'sum.txt': '1 + 1' } })
 * await scratch.call('exec.run', { command: 'cat sum.txt' })
 */
export async function execWorkspace(requested: ExecWorkspaceOptions): Promise<DialectWorkspace> {
  const { files, ...options } = checkOptions<ExecWorkspaceOptions>('execWorkspace()', requested, optionTable)
  if (files !== undefined && options.backend !== undefined) {
    throw new TypeError('execWorkspace() takes either files or a backend')
  }
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
