import { type MemoryEntry, memory } from '../backends/memory/index.ts'
import { createWorkspaceDiffs } from '../git/workspace-diff.ts'
import type { Backend } from '../storage/backend.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../workspace/create-workspace.ts'
import { type BackendFault, faulty } from './faulty.ts'
import { countedIds, type TestClock, testClock } from './test-clock.ts'

/** As for `createWorkspace`, but for the files; and what goes wrong. */
export interface TestWorkspaceOptions extends Partial<Omit<WorkspaceOptions, 'backend' | 'mounts' | 'clock'>> {
  /** Default: one that stands still. */
  readonly clock?: TestClock
  /** What goes wrong with its storage, as {@link faulty} has it; latency passes when the clock is advanced. */
  readonly faults?: BackendFault | readonly BackendFault[]
  /** What faults leave to chance. Default: 0. */
  readonly seed?: number
}

/** A workspace in memory, with what a test wants to know of it. Looking leaves no trace: no call, no record, no fault. */
export interface TestWorkspace extends Workspace {
  /** The files as they are, whatever policy hides, and without the faults. */
  readonly backend: Backend
  readonly clock: TestClock
  /** What changed since it was opened, or since HEAD of its repository; ignored files apart, and secrets as marks. */
  diff(): Promise<string>
}

/**
 * A workspace for tests: files in memory, the policy `autonomous` unless another one is given, a clock that stands still and
 * ids that are counted, so that the same calls give the same results and the same audit, to the byte.
 *
 * @throws TypeError what `memory`, `faulty` and `createWorkspace` throw
 * @example
 * const workspace = await testWorkspace({ 'a.txt': 'one\n' })
 * await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
 * console.log(await workspace.diff(), workspace.auditRecords().length)
 */
export async function testWorkspace(
  files: Readonly<Record<string, MemoryEntry>> = {},
  { faults, seed = 0, clock = testClock(), ...options }: TestWorkspaceOptions = {},
): Promise<TestWorkspace> {
  const backend = memory(files, { clock })
  const workspace = await createWorkspace({
    policy: 'autonomous',
    ids: countedIds(),
    ...options,
    clock,
    backend: faults === undefined ? backend : faulty(backend, faults, { seed, wait: clock.wait }),
  })
  const diffs = createWorkspaceDiffs(backend)
  // Onto the workspace itself: a copy would lose what it computes.
  return Object.assign(workspace, {
    backend,
    clock,
    async diff() {
      const { sections } = await diffs.diff(everything)
      return sections.map(({ text }) => text).join('')
    },
  })
}

const yes = () => true
const everything = { wants: yes, sees: yes, knows: yes, withBinary: yes }
