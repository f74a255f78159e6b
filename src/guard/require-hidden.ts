import { ToolError } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import type { ContentChange, HiddenSecrets } from '../files/secrets/hidden.ts'
import { quote } from '../paths/logical-path.ts'
import type { Change, EntryState } from '../storage/backend.ts'

/** A change with the state that it replaces. */
interface ReplacingChange {
  readonly change: Change
  readonly before: EntryState
}

/**
 * Refuses a change set after which a part of a hidden secret would show, in a file or in the target of a link.
 *
 * @throws ToolError `POLICY_DENIED_SECRET`, which names the mark of the secret
 */
export function requireHidden(hidden: HiddenSecrets, changes: readonly ReplacingChange[]): void {
  // Nobody sees git's own files as files.
  const visible = changes.filter(({ change }) => classifyPath(change.path).protection !== 'git')
  const contents = visible.map(
    ({ change: { to }, before }): ContentChange => ({
      before: bytesOf(before),
      after: bytesOf(to),
    }),
  )
  const revelation = hidden.find(contents)
  if (revelation === undefined) return
  const { index, mark } = revelation
  const { path } = (visible[index] as ReplacingChange).change
  throw new ToolError(
    'POLICY_DENIED_SECRET',
    `Cannot change ${quote(path)}: a part of the secret behind ${mark} would show`,
    {
      path,
      hint: 'Keep the mark and the text next to it as they are, or delete the mark as a whole.',
    },
  )
}

const encoder = new TextEncoder()

function bytesOf(state: EntryState): Uint8Array | undefined {
  if (state?.type === 'file') return state.bytes
  return state?.type === 'link' ? encoder.encode(state.target) : undefined
}
