import type { WorkspaceState } from '../call/state/workspace-state.ts'
import type { Recorder } from './recorder.ts'

/**
 * Ends the watches and the commands, then closes the shell, then flushes the artifacts, the audit and the recording, and closes the
 * backend. A fork leaves the shell and the audit open, because they belong to its origin. Everything is closed, even if a part fails.
 *
 * @param leave removes a fork from the listeners of its origin
 */
export async function closeParts(
  workspace: WorkspaceState,
  recorder: Recorder | undefined,
  leave: (() => void) | undefined,
): Promise<void> {
  const { processes, ends, artifacts, audit, shell, origin, backend } = workspace
  workspace.isClosed = true
  for (const end of ends) end()
  await Promise.all([...processes].map((each) => each.close()))
  const shellResults = await Promise.allSettled([origin === undefined ? shell?.close() : undefined])
  const results = await Promise.allSettled([
    ...[...artifacts].map((each) => each.flush()),
    ...(origin === undefined ? [audit.close()] : []),
    ...(recorder === undefined ? [] : [recorder.flush()]),
  ])
  leave?.()
  await backend.close()
  for (const result of [...shellResults, ...results]) if (result.status === 'rejected') throw result.reason
}
