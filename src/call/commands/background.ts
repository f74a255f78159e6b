import * as z from 'zod/mini'
import type { Failure } from '../../errors.ts'
import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import { createLineProcess } from '../../shells/shared/line-process.ts'
import type { CommandTransaction, Shell, ShellOutcome, ShellProcess } from '../../shells/types.ts'
import { type BuiltinDraft, defineBuiltinTool } from '../../tools/builtin-tool.ts'
import type { Tool } from '../../tools/define-tool.ts'
import { counted } from '../../util/counted.ts'

export interface BackgroundOptions {
  readonly shell: Shell
  readonly open: (signal: AbortSignal) => CommandTransaction
  /** Commits the changes of the command, as a call of its own. */
  readonly commit: (tool: Tool) => Promise<{ readonly ok: true } | Failure>
  readonly line: string
  readonly cwd: Path
  readonly timeoutMs: number
  readonly now: () => number
}

/**
 * Runs a command in the background, in a shell without processes. Its changes are committed when it ends, as one call of
 * its own. A stopped command changes nothing.
 */
export function runInBackground(options: BackgroundOptions): ShellProcess {
  const { shell, open, commit, line, cwd, timeoutMs, now } = options
  return createLineProcess(shell.name, async (stopped, shown) => {
    for (;;) {
      const transaction = open(stopped)
      const { files, git, startedBy, signal } = transaction
      let outcome: ShellOutcome | undefined
      let failure: unknown
      try {
        const { add: onOutput } = shown
        const parts = { onOutput, files, git, startedBy }
        outcome = await shell.run({ line, cwd, env: {}, timeoutMs, signal, ...parts, now })
      } catch (error) {
        failure = error
      }
      if (await transaction.resolvePendingApproval()) {
        shown.restart()
        continue
      }
      if (outcome === undefined) {
        const { reads } = transaction
        await commit(backgroundCommitTool(cwd, { refusals: await transaction.refusals(), reads }))
        throw failure
      }
      const result = await commit(backgroundCommitTool(cwd, await effectOf(transaction)))
      if (!result.ok) throw new ToolError(result.code, result.message)
      // Returned after the commit, which records the reads: the caller who sees the output has then read these files.
      return outcome
    }
  })
}

/** What a background command has done: its changes, and what it read. */
type BackgroundEffect = Pick<BuiltinDraft<unknown>, 'changes' | 'accesses' | 'refusals' | 'reads' | 'flow'>

/** Returns the effect of a transaction so far. */
export async function effectOf(transaction: CommandTransaction): Promise<BackgroundEffect> {
  const { reads, flow } = transaction
  return {
    ...(await transaction.changes()),
    refusals: await transaction.refusals(),
    reads,
    ...(flow === undefined ? {} : { flow }),
  }
}

/** Makes a call of the changes of a background command, so that they are evaluated, recorded and undone like any other. */
export function backgroundCommitTool(cwd: Path, effect: BackgroundEffect): Tool {
  const paths = effect.changes?.map(({ path }) => path) ?? []
  return defineBuiltinTool({
    name: 'start_command',
    title: 'End of a background command',
    description: 'Commits the changes of a background command.',
    permission: 'command:background',
    mutates: true,
    idempotent: false,
    input: z.object({}),
    output: z.object({ paths: z.array(z.string()) }),
    plan: () => [{ permission: 'command:background', path: cwd === '' ? '.' : cwd }],
    draft: async () => ({
      summary: `A background command changed ${counted(paths.length, 'path')}`,
      ...effect,
      result: () => ({ paths }),
    }),
  }) as unknown as Tool
}
