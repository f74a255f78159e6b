import * as z from 'zod/mini'
import type { ToolOutput } from '../../tools/index.ts'
import { call, defineDialectTool, refuseUnused } from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'
import { splitLines } from '../runtime/numbered-lines.ts'
import { numeric } from '../runtime/numeric.ts'
import type { DialectTool } from '../runtime/types.ts'

const tail = z
  .nullish(numeric(z.int()))
  .check(z.describe('Last lines of each stream to show. Default, and 0: all that is kept'))

const pid = z.string().check(z.minLength(1), z.describe('Id that was returned when the command was started'))

export const shellTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'mastra_workspace_execute_command',
    description: 'Run a shell command line, with background in parallel to the other calls.',
    input: z.object({
      command: z.string().check(z.minLength(1)),
      timeout: z.nullish(numeric(z.number().check(z.positive()))).check(z.describe('Seconds that it may take')),
      cwd: z.nullish(z.string()).check(z.describe('Directory to run it in')),
      tail,
      background: z.optional(z.boolean()),
    }),
    uses: ['run_command'],
    mayUse: ['start_command'],
    *steps({ command, timeout, cwd, tail, background }, pathMapping) {
      const options = {
        command,
        ...(cwd == null ? {} : { cwd: pathMapping.inward(cwd) }),
        ...(timeout == null ? {} : { timeoutMs: Math.ceil(timeout * 1000) }),
      }
      if (background === true) {
        refuseUnused('a background command', { tail: tail || undefined })
        const { id } = yield* call('start_command', options)
        return { output: `Started background process (PID: ${id})` }
      }
      return { output: formatEnd(lastLines(yield* call('run_command', options), tail)) }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_get_process_output',
    description: 'New output of a background command since the last call, and its exit code once it has ended.',
    input: z.object({ pid, tail, wait: z.optional(z.literal(false).check(z.describe('The answer comes at once'))) }),
    uses: ['check_command'],
    *steps({ pid: id, tail }) {
      const checked = lastLines(yield* call('check_command', { id }), tail)
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

/** Returns the result with the last lines of its output, as `tail -n` counts them. */
function lastLines<R extends { readonly stdout: string; readonly stderr: string }>(
  result: R,
  tail: number | null | undefined,
): R {
  if (tail == null || tail === 0) return result
  const cut = (text: string) => splitLines(text).slice(-Math.abs(tail)).join('\n') + (text.endsWith('\n') ? '\n' : '')
  return { ...result, stdout: cut(result.stdout), stderr: cut(result.stderr) }
}

/** Formats the output of a command, and its exit code if it failed. */
function formatEnd(result: ToolOutput<'run_command'> | ToolOutput<'check_command'>): string {
  const text = formatCommandOutput(result)
  if (result.exitCode === 0) return text === '' ? '(no output)' : text
  return `${text === '' ? '' : `${text.replace(/\n?$/, '\n')}\n`}Exit code: ${result.exitCode}`
}
