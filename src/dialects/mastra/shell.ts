import * as z from 'zod'
import type { ToolOutput } from '../../tools/index.ts'
import { call, defineDialectTool } from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'
import type { DialectTool } from '../runtime/types.ts'

const pid = z.string().min(1).describe('As it was told when the command was started')

export const shellTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'mastra_workspace_execute_command',
    description: 'Run a shell command line, with background beside the other calls.',
    input: z.object({
      command: z.string().min(1),
      timeout: z.number().positive().nullish().describe('Seconds that it may take'),
      cwd: z.string().nullish().describe('Directory to run it in'),
      background: z.boolean().optional(),
    }),
    uses: ['run_command'],
    mayUse: ['start_command'],
    *steps({ command, timeout, cwd, background }, pathMapping) {
      const asked = {
        command,
        ...(cwd == null ? {} : { cwd: pathMapping.inward(cwd) }),
        ...(timeout == null ? {} : { timeoutMs: Math.ceil(timeout * 1000) }),
      }
      if (background === true) {
        const { id } = yield* call('start_command', asked)
        return { output: `Started background process (PID: ${id})` }
      }
      const ran = yield* call('run_command', asked)
      return { output: ended(ran) }
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
        output: checked.state === 'running' ? formatCommandOutput(checked) || '(no output yet)' : ended(checked),
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

/** What a command put out, and how it ended where it failed. */
function ended(ran: ToolOutput<'run_command'> | ToolOutput<'check_command'>): string {
  const text = formatCommandOutput(ran)
  if (ran.exitCode === 0) return text === '' ? '(no output)' : text
  return `${text === '' ? '' : `${text.replace(/\n?$/, '\n')}\n`}Exit code: ${ran.exitCode}`
}
