import { ToolError } from '../../errors.ts'
import { guardAccesses } from '../../guard/guard-accesses.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'
import { combineVerdicts, type PolicyCall, type Verdict } from '../../policy/evaluation.ts'
import type { JudgedScript } from '../../shells/types.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'

/** Maximum number of files that are evaluated for one line. */
const MAX_FILES = 100
/** Bytes of a file that are read. The analysis takes no longer text. */
const MAX_BYTES = 256 * 1024

const TOO_MANY: Verdict = {
  decision: 'deny',
  code: 'COMMAND_DENIED',
  reason: `Cannot run the command: it runs more than ${MAX_FILES} script files`,
  hint: 'Run it as several commands.',
  rules: [{ name: 'TOO_COMPLEX', action: 'deny', source: 'protection' }],
}

/**
 * Evaluates the files whose commands a line runs, and those that they run in turn. Files that policy hides are left out. Returns the
 * combined verdict, and every spelling of the commands in the files.
 */
export async function evaluateScripts(
  workspace: WorkspaceState,
  facts: Omit<PolicyCall, 'accesses'>,
  scripts: readonly JudgedScript[],
  verdict: Verdict,
): Promise<{ readonly verdict: Verdict; readonly commands: readonly string[] }> {
  let combined = verdict
  const commands: string[] = []
  const pending = [...scripts]
  const texts = new Map<LogicalPath, string | undefined>()
  const ids = new Set<string>()
  const plain = new Set<LogicalPath>()
  for (let script = pending.shift(); script !== undefined; script = pending.shift()) {
    if (combined.decision === 'deny') break
    if (script.id !== undefined && ids.has(script.id)) continue
    if (script.id !== undefined) ids.add(script.id)
    const unclear = await unclearOf(workspace, script, plain)
    if (unclear !== undefined) return { verdict: combineVerdicts(combined, unclear), commands }
    if (!texts.has(script.path) && texts.size >= MAX_FILES) {
      return { verdict: combineVerdicts(combined, TOO_MANY), commands }
    }
    if (!texts.has(script.path)) texts.set(script.path, await readScript(workspace, facts, script.path))
    const text = texts.get(script.path)
    const judged = text === undefined ? undefined : script.judge(text)
    if (judged === undefined) continue
    if (judged.verdict.decision !== 'allow') combined = combineVerdicts(combined, judged.verdict)
    pending.push(...judged.scripts)
    commands.push(...judged.commands)
  }
  return { verdict: combined, commands }
}

/**
 * Refuses a script that may be another file than its path says, because the shell leaves a link by `..`.
 *
 * @param plain the directories that are known to be no links. Receives those that are checked
 */
async function unclearOf(
  { backend }: WorkspaceState,
  { path: script, left = [] }: JudgedScript,
  plain: Set<LogicalPath>,
): Promise<Verdict | undefined> {
  for (const directory of left) {
    if (plain.has(directory)) continue
    const path = await backend.canonical(directory).catch(() => undefined)
    if (path === directory && (await backend.stat(path))?.type === 'directory') {
      plain.add(directory)
      continue
    }
    return {
      decision: 'deny',
      code: 'COMMAND_DENIED',
      reason: `Cannot run ${quote(script)}: the command leaves ${quote(directory)} by "..", and that is a link or does not exist yet`,
      hint: 'Write the path of the script without "..", or create the directory by an earlier command.',
      rules: [{ name: 'HIDDEN_COMMAND', action: 'deny', source: 'protection' }],
    }
  }
  return undefined
}

/** Returns the text of a file that the call may read. */
async function readScript(
  { backend, policy }: WorkspaceState,
  facts: Omit<PolicyCall, 'accesses'>,
  path: LogicalPath,
): Promise<string | undefined> {
  try {
    const [access] = await guardAccesses(backend, [{ permission: 'file:read', path }])
    if (access === undefined || policy.evaluate({ ...facts, accesses: [access] }).decision === 'deny') return undefined
    const { bytes } = await backend.read(access.path, { start: 0, end: MAX_BYTES })
    // A shell takes a byte order mark for a part of the first word.
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof ToolError) return undefined
    throw error
  }
}
