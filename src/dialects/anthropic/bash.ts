import * as z from 'zod/mini'
import { ToolError } from '../../errors.ts'
import { call, defineDialectTool } from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'

/** The bash tool, version 2025-01-24. */
export const bash = defineDialectTool({
  name: 'bash',
  title: 'Bash',
  description: 'Run a command line in a shell. restart begins at the root of the workspace again.',
  input: z.object({
    command: z.optional(
      z.string().check(z.minLength(1), z.describe('The command line; needed unless restart is given')),
    ),
    restart: z.optional(z.boolean().check(z.describe('Start the shell again'))),
  }),
  native: { anthropic: { type: 'bash_20250124' } },
  uses: ['run_command'],
  *steps({ command, restart }) {
    if (restart === true) {
      // No shell process survives a command. Only the working directory does, and this resets it.
      yield* call('run_command', { command: 'true', cwd: '.' })
      if (command === undefined) return { output: 'tool has been restarted.' }
    }
    if (command === undefined) throw new ToolError('INVALID_INPUT', 'No command was given', { field: 'command' })
    const result = yield* call('run_command', { command })
    const output = formatCommandOutput(result)
    return result.exitCode === 0
      ? { output }
      : { output: output === '' ? `exit ${result.exitCode}` : output, isError: true }
  },
})
