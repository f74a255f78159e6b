import * as z from 'zod'
import type { ToolOutput } from '../../tools/index.ts'
import { call, defineDialectTool } from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'
import type { Answer, DialectTool } from '../runtime/types.ts'
import { failed, succeeded } from './results.ts'

const command = z.string().min(1).describe('The command line')
const cwd = z.string().optional().describe('Directory to run it in')
const processId = z.string().min(1).describe('Id that start_command returned')

export const shellTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'run_command',
    description: 'Run a shell command line and wait for its end.',
    input: z.object({ command, cwd, timeout: z.number().positive().optional().describe('Seconds that it may take') }),
    uses: ['run_command'],
    *steps({ command, cwd, timeout }, pathMapping) {
      const result = yield* call('run_command', {
        command,
        ...(cwd === undefined ? {} : { cwd: pathMapping.inward(cwd) }),
        ...(timeout === undefined ? {} : { timeoutMs: Math.max(1, Math.ceil(timeout * 1000)) }),
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
    input: z.object({ process_id: processId }),
    uses: ['check_command'],
    *steps({ process_id: id }) {
      return progress(yield* call('check_command', { id }))
    },
  }),
  defineDialectTool({
    name: 'stop_command',
    description: 'End a background command.',
    input: z.object({ process_id: processId }),
    uses: ['stop_command'],
    *steps({ process_id: id }) {
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
