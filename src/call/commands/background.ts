import * as z from 'zod'
import type { Failure } from '../../errors.ts'
import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import { createLineProcess } from '../../shells/shared/line-process.ts'
import type { CommandTransaction, Shell, ShellOutcome, ShellProcess } from '../../shells/types.ts'
import { type BuiltinDraft, defineBuiltinTool } from '../../tools/builtin-tool.ts'
import type { Tool } from '../../tools/define-tool.ts'

export interface BackgroundOptions {
  readonly shell: Shell
  readonly open: (signal: AbortSignal) => CommandTransaction
  /** Carries out what the command changed, as a call of its own. */
  readonly commit: (tool: Tool) => Promise<{ readonly ok: true } | Failure>
  readonly line: string
  readonly cwd: Path
  readonly timeoutMs: number
  readonly now: () => number
}

/**
 * A command that runs on by itself, in a shell that has no processes: what it changes is committed at its end, as one
 * call of its own. One that is stopped changes nothing.
 */
export function runInBackground(options: BackgroundOptions): ShellProcess {
  const { shell, open, commit, line, cwd, timeoutMs, now } = options
  return createLineProcess(shell.name, async (stopped) => {
    for (;;) {
      const transaction = open(stopped)
      const { files, git, signal } = transaction
      let outcome: ShellOutcome | undefined
      let failure: unknown
      try {
        outcome = await shell.run({ line, cwd, env: {}, timeoutMs, signal, files, git, now })
      } catch (error) {
        failure = error
      }
      if (await transaction.resolvePendingApproval()) continue
      const { refusals, reads } = transaction
      if (outcome === undefined) {
        await commit(backgroundCommitTool(cwd, { refusals, reads }))
        throw failure
      }
      const { changes, accesses } = await transaction.changes()
      const kept = await commit(backgroundCommitTool(cwd, { changes, accesses, refusals, reads }))
      if (!kept.ok) throw new ToolError(kept.code, kept.message)
      // Only now: what the command has read counts for whoever sees its output.
      return outcome
    }
  })
}

/** What a background command changed, in the shape of a call: judged, recorded and undone like any other. */
export function backgroundCommitTool(
  cwd: Path,
  effect: Pick<BuiltinDraft<unknown>, 'changes' | 'accesses' | 'refusals' | 'reads'>,
): Tool {
  const paths = effect.changes?.map(({ path }) => path) ?? []
  return defineBuiltinTool({
    name: 'start_command',
    title: 'End of a background command',
    description: 'Applies what a background command has changed.',
    permission: 'command:background',
    mutates: true,
    idempotent: false,
    input: z.object({}),
    output: z.object({ paths: z.array(z.string()) }),
    plan: () => [{ permission: 'command:background', path: cwd === '' ? '.' : cwd }],
    draft: async () => ({
      summary: `A background command changed ${paths.length} paths`,
      ...effect,
      result: () => ({ paths }),
    }),
  }) as unknown as Tool
}
