import { OptionError } from '../util/check-options.ts'
import type { StateOptions } from './options.ts'

/** An option of `createWorkspace` that has no effect beside some values of another one. */
interface IdleOption {
  readonly option: keyof StateOptions
  /** @param runsCommands whether the set of tools has one that runs commands */
  isIdle(options: StateOptions, runsCommands: boolean): boolean
  readonly problem: string
}

export const idleOptions: readonly IdleOption[] = [
  {
    option: 'keepCwd',
    isIdle: ({ keepCwd, shell }) => keepCwd === true && shell === undefined,
    problem: 'needs a shell',
  },
  {
    option: 'checks',
    isIdle: ({ checks, shell }) => shell === undefined && hasCommand(checks),
    problem: 'has a command line, which needs a shell',
  },
  {
    option: 'checks',
    isIdle: ({ checks = [], readOnly }) => readOnly === true && checks.length > 0,
    problem: 'has no effect beside "readOnly": checks run after changes; leave out one of them',
  },
  {
    option: 'mode',
    isIdle: ({ mode, readOnly, shell }) => readOnly === true && mode === 'plan' && shell === undefined,
    problem: 'has no effect beside "readOnly": without a shell, no call waits for a plan; leave out one of them',
  },
  {
    option: 'shell',
    isIdle: ({ shell, checks }, runsCommands) => shell !== undefined && !runsCommands && !hasCommand(checks),
    problem: 'has no effect beside "tools", of which none runs commands: add "run_command", or leave out the shell',
  },
  {
    option: 'keepCwd',
    isIdle: ({ keepCwd }, runsCommands) => keepCwd === true && !runsCommands,
    problem: 'has no effect beside "tools", of which none runs commands: add "run_command", or leave it out',
  },
]

/**
 * @param tools the names of the set of tools
 * @throws TypeError that names an option without an effect, and what to do
 */
export function refuseIdleOptions(options: StateOptions, tools: readonly string[]): void {
  const runsCommands = tools.includes('run_command') || tools.includes('start_command')
  const idle = idleOptions.find(({ isIdle }) => isIdle(options, runsCommands))
  if (idle !== undefined) throw new OptionError(`Option "${idle.option}" of createWorkspace() ${idle.problem}`)
}

function hasCommand(checks: StateOptions['checks'] = []): boolean {
  return checks.some(({ command }) => command !== undefined)
}
