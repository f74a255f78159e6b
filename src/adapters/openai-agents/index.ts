/** The files and commands of a workspace for `applyPatchTool` and `shellTool` of OpenAI's Agents SDK. */

import { ToolError } from '../../errors.ts'
import { isAnything, isListOf, isPositive, isText, refuseSurplus } from '../../util/check-options.ts'
import { isTimeout, optionsAt, withMethodOptions } from '../sandbox/method-options.ts'
import { runLine } from '../sandbox/run-line.ts'
import { errorText, openTarget, type SandboxOptions, type SandboxTarget } from '../sandbox/target.ts'

export type { SandboxCaller, SandboxOptions, SandboxTarget } from '../sandbox/target.ts'

/** A change of one file: a V4A diff without headers, whose lines of a new file begin with `+`. */
export interface EditorOperation {
  readonly path: string
  readonly diff: string
  /** The new path of an updated file. */
  readonly moveTo?: string | undefined
}

/** The result of a change. A refusal has its code and hint as `output`. */
export interface EditorResult {
  status: 'completed' | 'failed'
  output?: string
}

/** `Editor` of the Agents SDK. */
export interface OpenAiEditor {
  /** Creates a file. Refused if there is one. */
  createFile(operation: EditorOperation): Promise<EditorResult>
  /** Changes a file, and moves it to `moveTo`. */
  updateFile(operation: EditorOperation): Promise<EditorResult>
  /** Deletes a file. */
  deleteFile(operation: Pick<EditorOperation, 'path'>): Promise<EditorResult>
}

/** How one command line ended. No interface, because the type of the SDK has an index signature. */
export type ShellLineResult = {
  stdout: string
  stderr: string
  outcome: { type: 'timeout' } | { type: 'exit'; exitCode: number | null }
}

/** `Shell` of the Agents SDK. */
export interface OpenAiShell {
  /** Runs command lines one after the other, each as a call of its own. A refused line has the exit code 126. */
  run(action: {
    readonly commands: readonly string[]
    readonly timeoutMs?: number | undefined
    readonly maxOutputLength?: number | undefined
  }): Promise<{ output: ShellLineResult[]; maxOutputLength?: number }>
}

/**
 * Returns the files of a workspace or a run as an editor, for `applyPatchTool({ editor })`. Each change is one call of `apply_patch`
 * or `delete_file`, with guard, policy, approval, audit and undo.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const editor = openAiEditor(workspace)
 * const created = await editor.createFile({ path: 'new.txt', diff: '+one' })
 */
export function openAiEditor(target: SandboxTarget, options?: SandboxOptions): OpenAiEditor {
  refuseSurplus('openAiEditor()', 2, arguments)
  const open = openTarget('openAiEditor()', target, options)
  const apply = (tool: string, input: () => object) =>
    answered(async () => {
      const { summary } = await open.call(tool, input())
      return { status: 'completed', output: summary }
    })
  const patched = (kind: string, { path, diff, moveTo }: EditorOperation) =>
    apply('apply_patch', () => {
      const move = moveTo === undefined ? [] : [`*** Move to: ${header(open.inward(moveTo))}`]
      const lines = [`*** ${kind} File: ${header(open.inward(path))}`, ...move, body(diff)]
      return { patch: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') }
    })
  const editor: OpenAiEditor = {
    createFile: (operation) => patched('Add', operation),
    updateFile: (operation) => patched('Update', operation),
    deleteFile: ({ path }) => apply('delete_file', () => ({ path: open.inward(path) })),
  }
  return withMethodOptions('openAiEditor()', editor, editorOptions)
}

/** The SDK adds the kind of an operation, and data of its provider. */
const ofOperation = { type: isAnything, providerData: isAnything, path: isText }
const editorOptions = {
  createFile: optionsAt(0, { ...ofOperation, diff: isText }, 'path', 'diff'),
  updateFile: optionsAt(0, { ...ofOperation, diff: isText, moveTo: isText }, 'path', 'diff'),
  deleteFile: optionsAt(0, ofOperation, 'path'),
}
const shellOptions = {
  run: optionsAt(
    0,
    { commands: isListOf(isText), timeoutMs: isTimeout, maxOutputLength: isPositive, providerData: isAnything },
    'commands',
  ),
}

/**
 * Returns the commands of a workspace or a run as a shell, for `shellTool({ shell })`.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const { output } = await openAiShell(workspace).run({ commands: ['ls'] })
 */
export function openAiShell(target: SandboxTarget, options?: SandboxOptions): OpenAiShell {
  refuseSurplus('openAiShell()', 2, arguments)
  const open = openTarget('openAiShell()', target, options)
  const shell: OpenAiShell = {
    async run({ commands, timeoutMs, maxOutputLength }) {
      const output: ShellLineResult[] = []
      for (const command of commands) {
        const { stdout, stderr, exitCode, timedOut } = await runLine(open, command, { timeoutMs })
        output.push({ stdout, stderr, outcome: timedOut ? { type: 'timeout' } : { type: 'exit', exitCode } })
      }
      return { output, ...(maxOutputLength === undefined ? {} : { maxOutputLength }) }
    },
  }
  return withMethodOptions('openAiShell()', shell, shellOptions)
}

async function answered(act: () => Promise<EditorResult>): Promise<EditorResult> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    return { status: 'failed', output: errorText(error) }
  }
}

/** Returns a path as a line of a patch. @throws ToolError for one that would be more than that */
function header(path: string): string {
  if (!/[\r\n]/.test(path) && path === path.trim()) return path
  throw new ToolError('PATH_REJECTED', `${JSON.stringify(path)} cannot be changed by a patch`)
}

/** Returns a diff without its last line end. @throws ToolError for one that has headers, which would change other files */
function body(diff: string): string {
  const found = diff.split(/\r\n|\r|\n/).find((line) => /^\s*\*\*\*/.test(line) && line.trim() !== '*** End of File')
  if (found === undefined) return diff.replace(/\r?\n$/, '')
  throw new ToolError('INVALID_PATCH', `A diff of one file cannot contain the line ${JSON.stringify(found)}`)
}
