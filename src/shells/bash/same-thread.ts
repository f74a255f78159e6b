import type { Command } from 'just-bash'
import type { ToolError } from '../../errors.ts'
import { dumpCommands } from './dump-commands.ts'
import { nodeCommand, type ScriptRunner } from './node-command.ts'
import { npmCommand } from './npm-command.ts'
import { shellCommands } from './shell-command.ts'

export { runScript } from './node-emulation/engine.ts'

/**
 * The commands that run in the thread of the interpreter. A page whose lines run in a worker does not load them.
 *
 * @param endLine ends the whole line with the error that ended a script from outside
 */
export function interpreterCommands(runner: ScriptRunner, endLine: (reason: ToolError) => void): Command[] {
  return [nodeCommand(runner, endLine), npmCommand(), ...shellCommands(), ...dumpCommands()]
}
