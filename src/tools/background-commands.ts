import * as z from 'zod'
import { clamp } from '../limits.ts'
import { display } from '../paths/logical-path.ts'
import type { RunningCommand } from '../shells/shared/background-processes.ts'
import { defineTool, type ToolContext } from './define-tool.ts'
import { requireDirectory } from './shared/command-directory.ts'
import { boundOutput } from './shared/command-output.ts'
import { reason } from './shared/fields.ts'
import { deskOf, targetOf } from './shared/target.ts'

const id = z.string().min(1).max(100).describe('As start_command gave it')

const state = {
  id: z.string(),
  state: z.enum(['running', 'ended']),
  exitCode: z.number().optional(),
}

const progress = z.object({
  ...state,
  stdout: z.string().describe('Since the last check'),
  stderr: z.string(),
  truncated: z.boolean(),
  outputUri: z.string().optional(),
})

/** A command that runs on while other calls are made. */
export const startCommand = defineTool({
  name: 'start_command',
  title: 'Start background command',
  description: 'Start a shell command line that runs in the background; check_command tells how it goes.',
  input: z.strictObject({
    command: z.string().min(1).describe('Command line'),
    cwd: z.string().optional().describe('Directory to run in'),
    timeoutMs: z.int().min(1).optional().describe('Milliseconds that it may take'),
    reason,
  }),
  output: z.object(state),
  permission: 'command:background',
  mutates: true,
  idempotent: false,
  commandLine: ({ command }) => command,
  plan: ({ cwd }, at) => [{ permission: 'command:background', path: cwd ?? display(at.cwd) }],
  async draft(asked, context) {
    const { processes, limits, warnings } = context
    const desk = deskOf(context)
    processes.requireRoom()
    const { path: cwd } = targetOf(context)
    await requireDirectory(desk.open(context.signal).files, cwd)
    const timeoutMs = clamp(
      'timeoutMs',
      asked.timeoutMs ?? limits.backgroundTimeoutMs,
      limits.backgroundTimeoutMs,
      warnings,
    )
    const process = await desk.start(asked.command, cwd, timeoutMs)
    const command = await processes.add(asked.command, process, context.now())
    return { summary: `Started ${command.id}`, result: () => stateOf(command) }
  },
})

/** What a background command has put out since the last time, and whether it has ended. */
export const checkCommand = defineTool({
  name: 'check_command',
  title: 'Check background command',
  description: 'New output of a background command since the last check, and whether it has ended.',
  input: z.strictObject({ id }),
  output: progress,
  permission: 'command:background',
  mutates: false,
  idempotent: false,
  plan: () => [],
  async draft(asked, context) {
    const command = context.processes.get(asked.id)
    return { summary: summaryOf(command), result: () => progressOf(command, context) }
  },
})

/** Ends a background command and all its children. */
export const stopCommand = defineTool({
  name: 'stop_command',
  title: 'Stop background command',
  description: 'End a background command and its children; an ended one stays as it is.',
  input: z.strictObject({ id, reason }),
  output: progress,
  permission: 'command:background',
  mutates: true,
  idempotent: true,
  plan: () => [],
  async draft(asked, context) {
    const command = context.processes.get(asked.id)
    await command.process.stop()
    return { summary: summaryOf(command), result: () => progressOf(command, context) }
  },
})

function stateOf({ id, process }: RunningCommand): z.output<z.ZodObject<typeof state>> {
  const { exitCode } = process
  return exitCode === undefined ? { id, state: 'running' } : { id, state: 'ended', exitCode }
}

function progressOf(command: RunningCommand, context: ToolContext): z.output<typeof progress> {
  const { stdout, stderr, truncated, uri } = boundOutput(command.process.output(), context)
  return { ...stateOf(command), stdout, stderr, truncated, ...(uri === undefined ? {} : { outputUri: uri }) }
}

function summaryOf({ id, process: { exitCode } }: RunningCommand): string {
  return exitCode === undefined ? `${id} is running` : `${id} has ended with exit code ${exitCode}`
}
