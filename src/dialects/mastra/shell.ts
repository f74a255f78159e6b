import * as z from 'zod'
import type { ToolOutput } from '../../tools/index.ts'
import { call, defineDialectTool } from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'
import type { DialectTool } from '../runtime/types.ts'

const pid = z.string().min(1).describe('Id that was returned when the command was started')

export const shellTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'mastra_workspace_execute_command',
    description: 'Run a shell command line, with background in parallel to the other calls.',
    input: z.object({
      command: z.string().min(1),
      timeout: z.number().positive().nullish().describe('Seconds that it may take'),
      cwd: z.string().nullish().describe('Directory to run it in'),
      background: z.boolean().optional(),
    }),
    uses: ['run_command'],
    mayUse: ['start_command'],
    *steps({ command, timeout, cwd, background }, pathMapping) {
      const options = {
        command,
        ...(cwd == null ? {} : { cwd: pathMapping.inward(cwd) }),
        ...(timeout == null ? {} : { timeoutMs: Math.ceil(timeout * 1000) }),
      }
      if (background === true) {
        const { id } = yield* call('start_command', options)
        return { output: `Started background process (PID: ${id})` }
      }
      const result = yield* call('run_command', options)
      return { output: formatEnd(result) }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_get_process_output',
    description: 'New output of a background command since the last call, and its exit code once it has ended.',
    input: z.object({ pid }),
    uses: ['check_command'],
    *steps({ pid: id }) {
      const checked = yield* call('check_command', { id })
      return {
        output: checked.state === 'running' ? formatCommandOutput(checked) || '(no output yet)' : formatEnd(checked),
      }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_kill_process',
    description: 'End a background command.',
    input: z.object({ pid }),
    uses: ['stop_command'],
    *steps({ pid: id }) {
      const text = formatCommandOutput(yield* call('stop_command', { id }))
      return { output: `Process ${id} has ended.${text === '' ? '' : `\n\n${text}`}` }
    },
  }),
]

/** Formats the output of a command, and its exit code if it failed. */
function formatEnd(result: ToolOutput<'run_command'> | ToolOutput<'check_command'>): string {
  const text = formatCommandOutput(result)
  if (result.exitCode === 0) return text === '' ? '(no output)' : text
  return `${text === '' ? '' : `${text.replace(/\n?$/, '\n')}\n`}Exit code: ${result.exitCode}`
}
