import * as z from 'zod/mini'
import type { ToolOutput } from '../../tools/index.ts'
import { call, defineDialectTool, limitOr, renamedFields } from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'
import type { Answer, DialectTool } from '../runtime/types.ts'
import { failed, succeeded } from './results.ts'

const command = z.string().check(z.minLength(1), z.describe('The command line'))
const cwd = z.optional(z.string().check(z.describe('Directory to run it in')))
const commandId = z.string().check(z.minLength(1), z.describe('Id that start_command returned'))
const withCommandId = (input: unknown) => renamedFields(input, { process_id: 'command_id', processId: 'command_id' })

export const shellTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'run_command',
    description: 'Run a shell command line and wait for its end.',
    input: z.object({
      command,
      cwd,
      timeout_seconds: z._default(
        z.nullable(z.number().check(z.positive())).check(z.describe('Seconds that it may take')),
        30,
      ),
    }),
    normalizeInput: (input) => renamedFields(input, { timeout: 'timeout_seconds' }),
    uses: ['run_command'],
    limits: { timeout_seconds: ['commandTimeoutMs', 1000] },
    *steps({ command, cwd, timeout_seconds }, pathMapping) {
      const timeoutMs = timeout_seconds === null ? yield* limitOr('commandTimeoutMs', 30_000) : timeout_seconds * 1000
      const result = yield* call('run_command', {
        command,
        ...(cwd === undefined ? {} : { cwd: pathMapping.inward(cwd) }),
        timeoutMs: Math.max(1, Math.ceil(timeoutMs)),
      })
      const output = formatCommandOutput(result)
      return result.exitCode === 0 ? succeeded(output) : failed(output, `Exit code ${result.exitCode}`)
    },
  }),
  defineDialectTool({
    name: 'start_command',
    description: 'Start a shell command line in the background; check_command shows its state and output.',
    input: z.object({ command, cwd }),
    uses: ['start_command'],
    *steps({ command, cwd }, pathMapping) {
      const { id } = yield* call('start_command', {
        command,
        ...(cwd === undefined ? {} : { cwd: pathMapping.inward(cwd) }),
      })
      return succeeded(id)
    },
  }),
  defineDialectTool({
    name: 'check_command',
    description: 'Show whether a background command is running, and its output since the last check.',
    input: z.object({ command_id: commandId }),
    normalizeInput: withCommandId,
    uses: ['check_command'],
    *steps({ command_id: id }) {
      return progress(yield* call('check_command', { id }))
    },
  }),
  defineDialectTool({
    name: 'stop_command',
    description: 'End a background command.',
    input: z.object({ command_id: commandId }),
    normalizeInput: withCommandId,
    uses: ['stop_command'],
    *steps({ command_id: id }) {
      return progress(yield* call('stop_command', { id }))
    },
  }),
]

function progress(checked: ToolOutput<'check_command'>): Answer {
  const { state, exitCode } = checked
  return succeeded(
    `[${state}${exitCode === undefined ? '' : `, exit code ${exitCode}`}]\n${formatCommandOutput(checked)}`,
  )
}
