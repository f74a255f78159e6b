import * as z from 'zod'
import { ToolError } from '../errors.ts'
import { sha256 } from '../files/hash/sha256.ts'
import { redact } from '../files/secrets/index.ts'
import { clamp } from '../limits.ts'
import { display, GIT_DIRECTORY, isWithin, type Path } from '../paths/logical-path.ts'
import type { CommandSession, CommandTransaction, ShellOutcome } from '../shells/types.ts'
import type { Change } from '../storage/backend.ts'
import { defineTool, type ShownVersion, type ToolContext } from './define-tool.ts'
import { requireDirectory } from './shared/command-directory.ts'
import { boundOutput } from './shared/command-output.ts'
import { reason } from './shared/fields.ts'
import { deskOf, targetOf } from './shared/target.ts'

const input = z.strictObject({
  command: z.string().min(1).describe('Command line'),
  cwd: z.string().optional().describe('Directory to run in'),
  timeoutMs: z.int().min(1).optional().describe('Milliseconds that it may take'),
  reason,
})

const refusal = z.object({ permission: z.string(), path: z.string(), code: z.string(), message: z.string() })

const output = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exitCode: z.number(),
  cwd: z.string().describe('Where it ended'),
  durationMs: z.number(),
  truncated: z.boolean().describe('Only the end of the output is shown'),
  outputUri: z.string().optional().describe('Where the whole output can be read'),
  filesChanged: z.array(z.string()),
  refused: z.array(refusal).optional().describe('What it tried and was not allowed, though it may not say so'),
})

type Output = z.input<typeof output>

/** A command line, whose changes are one change set: all of it is kept and undone together. */
export const runCommand = defineTool({
  name: 'run_command',
  title: 'Run command',
  description:
    'Run a shell command line. Its file changes are applied together when it ends, whatever its exit code; a timeout drops them. Protected files cannot be opened by any command.',
  input,
  output,
  permission: 'command:run',
  mutates: true,
  idempotent: false,
  commandLine: ({ command }) => command,
  plan: ({ cwd }, state) => [{ permission: 'command:run', path: cwd ?? display(state.cwd) }],
  async draft(asked, context) {
    const desk = deskOf(context)
    const timeoutMs = clamp(
      'timeoutMs',
      asked.timeoutMs ?? context.limits.commandTimeoutMs,
      context.limits.commandTimeoutMsHard,
      context.warnings,
    )
    const started = context.now()
    const { transaction, outcome } = await runApproved(asked.command, timeoutMs, desk, context)
    const durationMs = Math.max(0, context.now() - started)
    const { changes, accesses } = await transaction.changes()
    context.warnings.push(...(outcome.warnings ?? []))
    const shown = boundOutput(outcome, context)
    const told = toldPaths(changes)
    return {
      summary: summaryOf(outcome.exitCode, told.length),
      changes,
      accesses,
      shown: () => {
        desk.setCwd(outcome.cwd)
        return shownWhole(transaction, shown.stdout)
      },
      result: () => resultOf(outcome, shown, durationMs, told, transaction),
    }
  },
})

/** Ends after this many questions: a command that asks for ever is none. */
const MOST_QUESTIONS = 100

/** Runs a line, once more from the start whenever an approval was got that it waited for. */
async function runApproved(
  line: string,
  timeoutMs: number,
  desk: CommandSession,
  context: ToolContext,
): Promise<{ transaction: CommandTransaction; outcome: ShellOutcome }> {
  const { path: cwd } = targetOf(context)
  const onOutput = countLines(context)
  for (let questions = 0; questions <= MOST_QUESTIONS; questions++) {
    const transaction = desk.open(context.signal)
    await requireDirectory(transaction.files, cwd)
    let outcome: ShellOutcome | undefined
    let failure: unknown
    try {
      outcome = await desk.shell.run({
        line,
        cwd,
        env: {},
        timeoutMs,
        signal: transaction.signal,
        onOutput,
        files: transaction.files,
        git: transaction.git,
        onCommit: transaction.onCommit,
        visibility: transaction.visibility,
        noteReadable: transaction.noteReadable,
        tree: transaction.tree,
        now: context.now,
      })
    } catch (error) {
      failure = error
    }
    // A question stopped it, or it was told no where it was not looking.
    if (await transaction.resolvePendingApproval()) continue
    if (outcome !== undefined) return { transaction, outcome }
    throw withRefusals(failure, transaction)
  }
  throw new ToolError('LIMIT_EXCEEDED', `The command asked for more than ${MOST_QUESTIONS} approvals`)
}

/** The output itself may hold secrets that show only when all of it is there. */
function countLines({ progress }: ToolContext): (stream: 'stdout' | 'stderr', text: string) => void {
  let lines = 0
  return (_, text) => {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
    progress(lines, 'lines of output')
  }
}

/** A failure tells what was refused before it. */
function withRefusals(error: unknown, { refusals }: CommandTransaction): unknown {
  if (!(error instanceof ToolError) || refusals.length === 0) return error
  return new ToolError(error.code, error.message, { ...error.details, refused: refusals })
}

/** Git's own files as one: which ones they are tells nobody anything. */
function toldPaths(changes: readonly Change[]): string[] {
  return [...new Set(changes.map(({ path }) => (isWithin(path, GIT_DIRECTORY) ? GIT_DIRECTORY : path)))]
}

function summaryOf(exitCode: number, changed: number): string {
  const ended = exitCode === 0 ? 'Command succeeded' : `Command ended with exit code ${exitCode}`
  return changed === 0 ? ended : `${ended}, ${changed} ${changed === 1 ? 'path' : 'paths'} changed`
}

function resultOf(
  outcome: ShellOutcome,
  shown: ReturnType<typeof boundOutput>,
  durationMs: number,
  filesChanged: string[],
  { refusals }: CommandTransaction,
): Output {
  return {
    stdout: shown.stdout,
    stderr: shown.stderr,
    exitCode: outcome.exitCode,
    cwd: display(outcome.cwd),
    durationMs,
    truncated: shown.truncated,
    ...(shown.uri === undefined ? {} : { outputUri: shown.uri }),
    filesChanged,
    ...(refusals.length === 0 ? {} : { refused: [...refusals] }),
  }
}

/** Files to look for in the output. */
const MOST_SHOWN = 50

/** The files that the output shows whole, as `cat` does: these the run has seen. */
function shownWhole({ readContents: given }: CommandTransaction, stdout: string): ShownVersion[] {
  const shown: ShownVersion[] = []
  for (const [path, { stored, shown: bytes }] of [...given].slice(0, MOST_SHOWN)) {
    if (bytes.length === 0 || bytes.length > stdout.length * 3) continue
    const text = decoder.decode(bytes)
    if (text !== '' && stdout.includes(redact(text).text)) {
      shown.push({ path: path as Path, sha256: sha256(stored), lines: 'all' })
    }
  }
  return shown
}

const decoder = new TextDecoder('utf-8')
