import {
  checkOptions,
  isFunction,
  isRecordOf,
  isText,
  misplacedOptions,
  must,
  refuseSurplus,
} from '../../util/check-options.ts'
import { createLineAnalyzer } from '../shared/line-judge.ts'
import type { Shell } from '../types.ts'
import type { CommandRunner } from './command-runner.ts'
import type { BashOptions } from './options.ts'
import { areOwnCommands } from './own-commands.ts'
import { DEFAULT_ROOT, isVirtualRoot } from './virtual-paths.ts'

export type { BashOptions } from './options.ts'
export type {
  OwnCommand,
  OwnCommandContext,
  OwnCommandFiles,
  OwnCommandResult,
  OwnCommandStat,
} from './own-command.ts'

const FILES = 'pass the files to the workspace: backend: memory(files)'

/** Options of just-bash that have their place elsewhere. */
const justBashOptions = misplacedOptions({
  ...{ files: FILES, fs: FILES },
  cwd: 'pass cwd with each command, or keepCwd: true to the workspace',
  network: 'name the hosts in the policy: network: { hosts }',
  customCommands: 'pass functions by name: commands',
  executionLimits: 'pass the limits to the workspace',
  python: 'use node',
})

/**
 * Creates a bash in this process, over the workspace's own files: in the browser, at the edge and in Node. It has no
 * processes and no network; commands see the workspace at `/workspace`, or at the root of the workspace's dialect. The interpreter
 * is loaded with the first command. In a browser, commands run in a Web Worker, in Node in a child process.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', shell: bash() })
 * const result = await workspace.call('run_command', { command: 'cat a.txt | tr a b > b.txt; ls' })
 * if (result.ok) console.log(result.stdout, result.filesChanged)
 * await workspace.close()
 */
export function bash(requested?: BashOptions): Shell {
  refuseSurplus('bash()', 1, arguments)
  const options = checkOptions<BashOptions>('bash()', requested, {
    ...justBashOptions,
    root: must('an absolute path such as "/workspace", outside of the directories of a system', isVirtualRoot),
    random: isFunction,
    env: isRecordOf(isText),
    commands: areOwnCommands,
    worker: must('a function or false', (value) => value === false || typeof value === 'function'),
  })
  const { root = DEFAULT_ROOT } = options
  let runner: Promise<CommandRunner> | undefined
  return {
    name: 'bash',
    root,
    ...(options.root === undefined ? { acceptsRoot: isVirtualRoot } : {}),
    capabilities: Object.freeze({
      processes: false,
      network: false,
      background: true,
      stderr: true,
      guarded: true,
      confined: true,
      undo: true,
    }),
    judge: createLineAnalyzer({ root, shell: 'bash', confined: true }),
    async run(command) {
      runner ??= loadRunner(options).catch((error: unknown) => {
        runner = undefined
        throw error
      })
      return (await runner).run(command)
    },
    async close() {
      ;(await runner)?.close()
    },
  }
}

/** Loads what runs commands. A page that opens a workspace does not need it before the first command. */
async function loadRunner(options: BashOptions): Promise<CommandRunner> {
  const { createCommandRunner } = await import('./command-runner.ts')
  return createCommandRunner(options)
}
