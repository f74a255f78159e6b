import * as z from 'zod/mini'
import { clamp } from '../limits.ts'
import { display } from '../paths/logical-path.ts'
import type { RunningCommand } from '../shells/shared/background-processes.ts'
import { type BuiltinContext, defineBuiltinTool } from './builtin-tool.ts'
import { requireDirectory } from './shared/command-directory.ts'
import { boundOutput } from './shared/command-output.ts'
import { reason, refused } from './shared/fields.ts'
import { sessionOf, targetOf } from './shared/target.ts'

const id = z.string().check(z.minLength(1), z.maxLength(100))

const state = {
  id: z.string(),
  state: z.enum(['running', 'ended']),
  exitCode: z.optional(z.number()),
}

const progress = z.object({
  ...state,
  stdout: z.string().check(z.describe('Since the last check')),
  stderr: z.string(),
  truncated: z.boolean(),
  outputUri: z.optional(z.string()),
  refused,
})

/** Starts a command that runs while other calls are made. */
export const startCommand = defineBuiltinTool({
  name: 'start_command',
  title: 'Start background command',
  description: 'Start a shell command line that runs in the background; check_command shows its output and state.',
  input: z.strictObject({
    command: z.string().check(z.minLength(1)),
    cwd: z.optional(z.string()),
    timeoutMs: z.optional(z.int().check(z.minimum(1))),
    reason,
  }),
  output: z.object(state),
  permission: 'command:background',
  mutates: true,
  idempotent: false,
  commandLine: ({ command }) => command,
  plan: ({ cwd }, at) => [{ permission: 'command:background', path: cwd ?? display(at.cwd) }],
  async draft(input, context) {
    const { processes, limits, warnings } = context
    const session = sessionOf(context)
    processes.requireRoom()
    const { path: cwd } = targetOf(context)
    await requireDirectory(session.open(context.signal).files, cwd)
    const timeoutMs = clamp(
      'timeoutMs',
      input.timeoutMs ?? limits.backgroundTimeoutMs,
      limits.backgroundTimeoutMs,
      warnings,
    )
    const process = await session.start(input.command, cwd, timeoutMs)
    const command = await processes.add(input.command, process, context.now())
    return { summary: `Started ${command.id}`, result: () => stateOf(command) }
  },
})

/** Returns the output of a background command since the last check, and its state. */
export const checkCommand = defineBuiltinTool({
  name: 'check_command',
  title: 'Check background command',
  description: 'New output of a background command since the last check, and whether it has ended.',
  input: z.strictObject({ id }),
  output: progress,
  permission: 'command:background',
  mutates: false,
  idempotent: false,
  plan: () => [],
  async draft(input, context) {
    const command = context.processes.get(input.id)
    noteOutput(command, context)
    return { summary: summaryOf(command), result: () => progressOf(command, context) }
  },
})

/** Stops a background command and its children. */
export const stopCommand = defineBuiltinTool({
  name: 'stop_command',
  title: 'Stop background command',
  description: 'Stop a background command and its children. No effect on an ended command.',
  input: z.strictObject({ id, reason }),
  output: progress,
  permission: 'command:background',
  mutates: true,
  idempotent: true,
  plan: () => [],
  async draft(input, context) {
    const command = context.processes.get(input.id)
    await command.process.stop()
    noteOutput(command, context)
    return { summary: summaryOf(command), result: () => progressOf(command, context) }
  },
})

function stateOf({ id, process }: RunningCommand): z.output<z.ZodMiniObject<typeof state>> {
  const { exitCode } = process
  return exitCode === undefined ? { id, state: 'running' } : { id, state: 'ended', exitCode }
}

async function progressOf(command: RunningCommand, context: BuiltinContext): Promise<z.output<typeof progress>> {
  // Both at once: the output of an ended command is complete.
  const commandState = stateOf(command)
  const { process } = command
  const made = { ...command.output.take(), refusals: (await process.refusals?.()) ?? [] }
  const hidden = (await process.hideSecrets?.(made)) ?? made
  // The files may hold others by now.
  const transaction = context.commands?.open(context.signal)
  const { refusals, ...output } = (await transaction?.hideSecrets(hidden)) ?? hidden
  const { stdout, stderr, truncated, uri } = boundOutput(output, context)
  noteOutput(command, context)
  return {
    ...{ ...commandState, stdout, stderr, truncated },
    ...(uri === undefined ? {} : { outputUri: uri }),
    ...(refusals.length === 0 ? {} : { refused: [...refusals] }),
  }
}

/** Records the label of the output. It is higher if the command has read more since. */
function noteOutput({ process }: RunningCommand, context: BuiltinContext): void {
  const content = process.label?.()
  if (content !== undefined) context.addLabel(content.label, content.path)
}

function summaryOf({ id, process: { exitCode } }: RunningCommand): string {
  return exitCode === undefined ? `${id} is running` : `${id} has ended with exit code ${exitCode}`
}
