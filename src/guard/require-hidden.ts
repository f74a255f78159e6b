import { ToolError } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import { tokensIn } from '../files/secrets/find.ts'
import type { ContentChange, HiddenSecrets } from '../files/secrets/hidden.ts'
import { requireOpen, revealedError } from '../files/secrets/refusals.ts'
import { nameOf } from '../paths/logical-path.ts'
import type { Change, EntryState } from '../storage/backend.ts'
import { runInTurns } from '../util/steps.ts'

/** A change with the state that it replaces. */
interface ReplacingChange {
  readonly change: Change
  readonly before: EntryState
}

/**
 * Refuses a change set after which a part of a hidden secret would show, in a file, in the target of a link or in a name.
 *
 * @param pause called between the steps of the check
 * @throws ToolError `POLICY_DENIED_SECRET`, which names the mark of the secret
 */
export async function requireHidden(
  hidden: HiddenSecrets,
  changes: readonly ReplacingChange[],
  pause: () => Promise<void> | undefined,
): Promise<void> {
  // Nobody sees git's own files as files.
  const visible = changes.filter(({ change }) => classifyPath(change.path).protection !== 'git')
  const contents = visible.map(
    ({ change: { to }, before }): ContentChange => ({
      before: bytesOf(before),
      after: bytesOf(to),
    }),
  )
  const revelation = await runInTurns(hidden.findInSteps(contents), pause)
  requireOpen(hidden, visible[0]?.change.path)
  if (revelation === undefined) {
    requireHiddenNames(hidden, visible)
    return
  }
  const { index, mark } = revelation
  throw revealedError(hidden, (visible[index] as ReplacingChange).change.path, mark)
}

/**
 * Names and targets of links show without marks, apart from whole tokens. The message does not quote the path, because it
 * would show the name.
 */
function requireHiddenNames(hidden: HiddenSecrets, changes: readonly ReplacingChange[]): void {
  if (hidden.isEmpty) return
  for (const { change, before } of changes) {
    const { path, to } = change
    const target = to?.type === 'link' && !(before?.type === 'link' && before.target === to.target) ? to.target : ''
    const mark = hidden.findIn(target) ?? (before === null ? hidden.findIn(path) : undefined)
    if (mark === undefined) continue
    hidden.noteRefusal()
    throw new ToolError(
      'POLICY_DENIED_SECRET',
      `Cannot create a path: a part of the secret behind ${mark} would show in its name or in the target of the link`,
      { path: '.', hint: 'Use another name.' },
    )
  }
}

/** Of a content that is not in memory, `requireHiddenInContent` checks all parts. */
function bytesOf(state: EntryState): Uint8Array | undefined {
  return state?.type === 'file' && state.content === undefined ? state.bytes : undefined
}

/**
 * Refuses new names that hold a token. A result shows marks in place of them, so nothing could open the entry by its name.
 *
 * @throws ToolError `POLICY_DENIED_SECRET`
 */
export function requireOrdinaryNames(changes: readonly ReplacingChange[]): void {
  // An entry that moves may keep its name.
  const names = new Set(
    changes.flatMap(({ change: { path, to, from = path } }) => (to === null || from !== path ? [nameOf(from)] : [])),
  )
  for (const { change, before } of changes) {
    const { path, to, from } = change
    const name = nameOf(path)
    if (to === null || before !== null || names.has(name)) continue
    const target = to.type === 'link' && from === undefined ? to.target : ''
    const token = tokensIn(name)[0] ?? tokensIn(target)[0]
    if (token === undefined) continue
    throw new ToolError(
      'POLICY_DENIED_SECRET',
      `Cannot create a path: its name or the target of the link holds a secret (${token.kind})`,
      { path: '.', hint: 'Use another name.' },
    )
  }
}
