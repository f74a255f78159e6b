import * as z from 'zod/mini'
import { ToolError } from '../errors.ts'
import { sha256 } from '../files/hash/sha256.ts'
import { redact } from '../files/secrets/index.ts'
import { clamp } from '../limits.ts'
import { display, GIT_DIRECTORY, isWithin, type Path } from '../paths/logical-path.ts'
import type { CommandSession, CommandTransaction, RefusedAccess, ShellOutcome } from '../shells/types.ts'
import type { Change } from '../storage/backend.ts'
import { counted, leftOutNames } from '../util/counted.ts'
import { type BuiltinContext, defineBuiltinTool } from './builtin-tool.ts'
import type { ShownVersion } from './define-tool.ts'
import { requireDirectory } from './shared/command-directory.ts'
import { boundOutput } from './shared/command-output.ts'
import { reason, refused } from './shared/fields.ts'
import { sessionOf, targetOf } from './shared/target.ts'

const input = z.strictObject({
  command: z.string().check(z.minLength(1)),
  cwd: z.optional(z.string()),
  timeoutMs: z.optional(z.int().check(z.minimum(1))),
  reason,
})

const output = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exitCode: z.number(),
  cwd: z.string(),
  durationMs: z.number(),
  truncated: z.boolean(),
  outputUri: z.optional(z.string()),
  filesChanged: z.array(z.string()),
  refused,
})

type Output = z.input<typeof output>

/** Runs a command line. Its changes form one change set, which is committed and undone as a whole. */
export const runCommand = defineBuiltinTool({
  name: 'run_command',
  title: 'Run command',
  description:
    'Run a shell command line. File changes apply when it ends, with any exit code; a timeout drops them. Protected files cannot be opened.',
  input,
  output,
  permission: 'command:run',
  mutates: true,
  idempotent: false,
  commandLine: ({ command }) => command,
  plan: ({ cwd }, state) => [{ permission: 'command:run', path: cwd ?? display(state.cwd) }],
  async draft(input, context) {
    const session = sessionOf(context)
    const timeoutMs = clamp(
      'timeoutMs',
      input.timeoutMs ?? context.limits.commandTimeoutMs,
      context.limits.commandTimeoutMsHard,
      context.warnings,
    )
    const started = context.now()
    const { transaction, outcome } = await runApproved(input.command, timeoutMs, session, context)
    const durationMs = Math.max(0, context.now() - started)
    const { changes, accesses } = await transaction.changes()
    const { flow } = transaction
    const { stdout, stderr, warnings = [] } = outcome
    context.warnings.push(...leftOutNames(transaction.leftOut.size), ...(await transaction.hideSecrets(warnings)))
    const bounded = boundOutput(await transaction.hideSecrets({ stdout, stderr }), context)
    const refusals = await transaction.refusals()
    const filesChanged = reportedPaths(changes)
    return {
      summary: summaryOf(outcome.exitCode, filesChanged.length),
      changes,
      accesses,
      ...(flow === undefined ? {} : { flow }),
      shown: () => {
        session.setCwd(outcome.cwd)
        return versionsIn(bounded.stdout, transaction)
      },
      result: () => resultOf(outcome, bounded, durationMs, filesChanged, refusals),
    }
  },
})

/** Maximum number of approvals that one command may wait for. */
const MAX_APPROVALS = 100

/** Runs a line. Runs it again from the start after each approval that it had to wait for. */
async function runApproved(
  line: string,
  timeoutMs: number,
  session: CommandSession,
  context: BuiltinContext,
): Promise<{ transaction: CommandTransaction; outcome: ShellOutcome }> {
  const { path: cwd } = targetOf(context)
  const onOutput = countLines(context)
  for (let approvals = 0; approvals <= MAX_APPROVALS; approvals++) {
    const transaction = session.open(context.signal)
    await requireDirectory(transaction.files, cwd)
    let outcome: ShellOutcome | undefined
    let failure: unknown
    // If there are too many, the output is not shown.
    await transaction.findSecrets().catch(() => {})
    try {
      outcome = await session.shell.run({
        line,
        cwd,
        env: {},
        timeoutMs,
        signal: transaction.signal,
        onOutput,
        files: transaction.files,
        git: transaction.git,
        startedBy: transaction.startedBy,
        onCommit: transaction.onCommit,
        visibility: transaction.visibility,
        noteReadable: transaction.noteReadable,
        tree: transaction.tree,
        now: context.now,
      })
    } catch (error) {
      failure = error
    }
    // The run stopped at a pending approval, or was refused an access without noticing.
    if (await transaction.resolvePendingApproval()) continue
    if (outcome !== undefined) return { transaction, outcome }
    throw await withRefusals(failure, transaction)
  }
  throw new ToolError('LIMIT_EXCEEDED', `The command asked for more than ${MAX_APPROVALS} approvals`)
}

/**
 * Reports the number of lines instead of their text: a secret may be recognisable only in the complete output.
 */
function countLines({ progress }: BuiltinContext): (stream: 'stdout' | 'stderr', text: string) => void {
  let lines = 0
  return (_, text) => {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
    progress(lines, 'lines of output')
  }
}

/** Adds the refused accesses to an error of the shell, and replaces secrets in names that a program chose. */
async function withRefusals(error: unknown, transaction: CommandTransaction): Promise<unknown> {
  if (!(error instanceof ToolError)) return error
  const refused = await transaction.refusals()
  const { message, details } = await transaction.hideSecrets({ message: error.message, details: error.details })
  return new ToolError(error.code, message, { ...details, ...(refused.length === 0 ? {} : { refused }) })
}

/** Returns the changed paths. All files of git count as `.git`, because their names have no meaning for a caller. */
function reportedPaths(changes: readonly Change[]): string[] {
  return [...new Set(changes.map(({ path }) => (isWithin(path, GIT_DIRECTORY) ? GIT_DIRECTORY : path)))]
}

function summaryOf(exitCode: number, changed: number): string {
  const ended = exitCode === 0 ? 'Command succeeded' : `Command ended with exit code ${exitCode}`
  return changed === 0 ? ended : `${ended}, ${counted(changed, 'path')} changed`
}

function resultOf(
  outcome: ShellOutcome,
  output: ReturnType<typeof boundOutput>,
  durationMs: number,
  filesChanged: string[],
  refusals: readonly RefusedAccess[],
): Output {
  return {
    stdout: output.stdout,
    stderr: output.stderr,
    exitCode: outcome.exitCode,
    cwd: display(outcome.cwd),
    durationMs,
    truncated: output.truncated,
    ...(output.uri === undefined ? {} : { outputUri: output.uri }),
    filesChanged,
    ...(refusals.length === 0 ? {} : { refused: [...refusals] }),
  }
}

/** Maximum number of files to find in the output. */
const MAX_SHOWN_FILES = 50

/** Returns the versions that the output contains as a whole, such as the output of `cat`. The run has seen these. */
function versionsIn(stdout: string, { readContents }: CommandTransaction): ShownVersion[] {
  const versions: ShownVersion[] = []
  for (const [path, { stored, shown: bytes }] of [...readContents].slice(0, MAX_SHOWN_FILES)) {
    if (bytes.length === 0 || bytes.length > stdout.length * 3) continue
    const text = decoder.decode(bytes)
    if (text !== '' && stdout.includes(redact(text).text)) {
      versions.push({ path: path as Path, sha256: sha256(stored), lines: 'all' })
    }
  }
  return versions
}

const decoder = new TextDecoder('utf-8')
