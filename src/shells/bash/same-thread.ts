import type { Command } from 'just-bash'
import type { ToolError } from '../../errors.ts'
import { dumpCommands } from './dump-commands.ts'
import { envCommands } from './env-commands.ts'
import type { LiveOutput } from './live-output.ts'
import { lsCommand } from './ls-command.ts'
import { missingCommands } from './missing-commands.ts'
import { nodeCommand, type ScriptRunner } from './node-command.ts'
import { npmCommand } from './npm-command.ts'
import type { PersonInput } from './person-input.ts'
import { searchCommands } from './search-command.ts'
import type { OpenSearch } from './search-files.ts'
import { shellCommands } from './shell-command.ts'
import { sqliteCommand } from './sqlite-command.ts'
import { whichCommand } from './which-command.ts'
import { xargsCommand } from './xargs-command.ts'

export { runScript } from './node-emulation/engine.ts'

/** What the commands of a line use. */
export interface InterpreterHost {
  /** Absolute path under which commands see the workspace. */
  readonly root: string
  readonly runner: ScriptRunner
  /** Ends the whole line with the error that ended a script from outside. */
  endLine(reason: ToolError): void
  readonly search: OpenSearch
  readonly live?: LiveOutput | undefined
  readonly input?: PersonInput | undefined
}

/** The commands that run in the thread of the interpreter. A page whose lines run in a worker does not load them. */
export function interpreterCommands(host: InterpreterHost): Command[] {
  const { root, search, live } = host
  const searches = searchCommands(search, root).map(({ command }) => command)
  return [
    nodeCommand(host),
    npmCommand(live),
    lsCommand(),
    xargsCommand(),
    whichCommand(),
    ...envCommands(),
    ...searches,
    ...shellCommands(),
    ...dumpCommands(),
    sqliteCommand(),
    ...missingCommands(),
  ]
}
