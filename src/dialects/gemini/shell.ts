import * as z from 'zod/mini'
import { call, defineDialectTool, renamedFields } from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'

export const runShellCommand = defineDialectTool({
  name: 'run_shell_command',
  description: 'Run a shell command line. Its output comes with its exit code, where that is not 0.',
  input: z.object({
    command: z.string().check(z.minLength(1), z.describe('The command line')),
    description: z.optional(z.string().check(z.maxLength(2000), z.describe('What it is for'))),
    dir_path: z.optional(z.string().check(z.describe('Directory to run it in'))),
    is_background: z.optional(z.boolean().check(z.describe('Let it run on, without its output'))),
  }),
  normalizeInput: (input) => renamedFields(input, { directory: 'dir_path' }),
  uses: ['run_command'],
  mayUse: ['start_command'],
  *steps({ command, description, dir_path, is_background }, pathMapping) {
    const options = {
      command,
      ...(dir_path === undefined ? {} : { cwd: pathMapping.inward(dir_path) }),
      ...(description === undefined ? {} : { reason: description }),
    }
    if (is_background === true) {
      const { id } = yield* call('start_command', options)
      return { output: `Command is running in background. ID: ${id}.` }
    }
    const result = yield* call('run_command', options)
    const output = `Output: ${formatCommandOutput(result) || '(empty)'}`
    if (result.exitCode === 0) return { output }
    return { output: `${output}${output.endsWith('\n') ? '' : '\n'}Exit Code: ${result.exitCode}`, isError: true }
  },
})
