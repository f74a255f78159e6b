import * as z from 'zod/mini'
import type { ToolOutput } from '../../tools/index.ts'
import { call, createPathMapping, defineDialectTool, refuseUnused } from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import type { Answer, DialectError } from '../runtime/types.ts'
import { patchGrammar } from './patch-grammar.ts'
import { normalizePatch, placePatch } from './patch-text.ts'
import { commandLine, patchCommandOf } from './shell-line.ts'

/**
 * Codex' `apply_patch` and `shell`. `apply_patch` takes the patch as the field `input`, or as plain text like a custom tool with
 * a grammar (`nativeTools` of `wardspace/json-schema`). docs/dialects.md lists the differences from the original.
 *
 * @param roots virtual roots of absolute working directories. Default: the root of the workspace as `/workspace`
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: codex() })
 * await workspace.call('apply_patch', '*** Begin Patch\n*** Add File: a.txt\n+Hello\n*** End Patch')
 */
export const codex: DialectFactory = createDialectFactory('codex()', { '/workspace': '' }, (roots) => ({
  name: 'codex',
  description: "Codex' apply_patch and shell",
  // Patches contain relative paths, so messages about them do too.
  pathMapping: { ...createPathMapping(roots), outward: (path) => (path === '' ? '.' : path) },
  tools,
  hints: {
    PATH_REJECTED: 'Use a relative path that stays inside; the same path will not work.',
    INVALID_PATCH: 'Give a patch from *** Begin Patch to *** End Patch that changes something.',
    WRITE_CONFLICT: 'Look at the file as it is now, and make the patch for that.',
    PATCH_CONFLICT: 'Look at the file as it is now, and make the lines of the patch match it; nothing was applied.',
    COMMAND_TIMEOUT: 'Use a shorter command or a longer timeout_ms.',
  },
  formatError,
}))

const tools = [
  defineDialectTool({
    name: 'apply_patch',
    title: 'Apply patch',
    description:
      'Add, update, move and delete files by a patch from *** Begin Patch to *** End Patch, with relative paths; all of it or nothing.',
    input: z.object({ input: z.string().check(z.describe('The whole patch')) }),
    normalizeInput: (input) => (typeof input === 'string' ? { input } : input),
    native: {
      openai: {
        type: 'custom',
        description: 'Edit files by a patch. The input is the patch itself, not JSON.',
        format: { type: 'grammar', syntax: 'lark', definition: patchGrammar },
      },
    },
    uses: ['apply_patch'],
    *steps({ input }) {
      const patch = normalizePatch(input)
      return patched(patch, yield* call('apply_patch', { patch }))
    },
  }),
  defineDialectTool({
    name: 'shell',
    title: 'Shell',
    description: 'Run a command, such as ["bash", "-lc", "ls"], and return its output.',
    input: z.object({
      command: z.array(z.string()).check(z.minLength(1), z.describe('The program and its arguments')),
      workdir: z.optional(z.string().check(z.describe('Directory to run it in'))),
      timeout_ms: z.optional(z.int().check(z.minimum(1), z.describe('Milliseconds that it may take'))),
      justification: z.optional(z.string().check(z.maxLength(2000), z.describe('Why it is needed'))),
    }),
    uses: ['run_command'],
    mayUse: ['apply_patch'],
    *steps({ command, workdir, timeout_ms, justification }, pathMapping) {
      const reason = justification === undefined ? {} : { reason: justification }
      const patchCommand = patchCommandOf(command)
      if (patchCommand !== undefined) {
        const { patch, directory = '.' } = patchCommand
        refuseUnused('apply_patch', {
          timeout_ms,
          workdir: workdir === undefined || pathMapping.inward(workdir) === '.' ? undefined : workdir,
        })
        const placed = placePatch(normalizePatch(patch), pathMapping.inward(directory))
        return patched(placed, yield* call('apply_patch', { patch: placed, ...reason }))
      }
      const result = yield* call('run_command', {
        command: commandLine(command),
        ...(workdir === undefined ? {} : { cwd: pathMapping.inward(workdir) }),
        ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
        ...reason,
      })
      const seconds = Math.round(result.durationMs / 100) / 10
      const hint = /\bapply_?patch: command not found$/m.test(result.stderr) ? `\n${NO_SUCH_PROGRAM}` : ''
      const output = `Exit code: ${result.exitCode}\nWall time: ${seconds} seconds\nOutput:\n${formatCommandOutput(result)}${hint}`
      return { output, isError: result.exitCode !== 0 }
    },
  }),
]

const NO_SUCH_PROGRAM =
  'apply_patch is a tool, and no program of the shell: call it with the patch, or run ["apply_patch", PATCH].'

/** Lists the added, modified and deleted files. A moved file counts as modified, under its new name. */
function patched(patch: string, { filesTouched }: ToolOutput<'apply_patch'>): Answer {
  const moves = new Map(
    [...patch.matchAll(/^\*\*\* Update File: (.+)\r?\n\*\*\* Move to: (.+)$/gm)].map(([, from = '', to = '']) => [
      from.trim(),
      to.trim(),
    ]),
  )
  const targets = new Set(moves.values())
  const lines = { A: [] as string[], M: [] as string[], D: [] as string[] }
  for (const { path, kind } of filesTouched) {
    if (kind === 'modify' || targets.has(path)) lines.M.push(`M ${path}`)
    else if (kind === 'create') lines.A.push(`A ${path}`)
    else if (!moves.has(path)) lines.D.push(`D ${path}`)
  }
  return {
    output: `Success. Updated the following files:\n${[...lines.A, ...lines.M, ...lines.D].join('\n')}\n`,
  }
}

function formatError({ code, message, hint, tool, failure }: DialectError): Answer {
  const { expected, actual } = failure as { expected?: readonly PatchLine[]; actual?: readonly PatchLine[] }
  const lines =
    expected === undefined ? '' : `\nExpected:\n${numberedLines(expected)}\nFound:\n${numberedLines(actual)}`
  const prefix = tool === 'apply_patch' ? 'apply_patch verification failed: ' : ''
  return { output: `${prefix}${message} (${code})${lines}\n${hint}` }
}

interface PatchLine {
  readonly line: number
  readonly text: string
}

function numberedLines(lines: readonly PatchLine[] = []): string {
  return lines.map(({ line, text }) => `${line}: ${text}`).join('\n')
}
