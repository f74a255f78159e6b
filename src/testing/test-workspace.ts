import { type MemoryEntry, memory } from '../backends/memory/index.ts'
import { createWorkspaceDiffs } from '../git/workspace-diff.ts'
import type { Backend } from '../storage/backend.ts'
import { checkOptions, isAnything, must, type OptionTable, refuseSurplus } from '../util/check-options.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../workspace/create-workspace.ts'
import { workspaceOptions } from '../workspace/options.ts'
import { type BackendFault, faulty } from './faulty.ts'
import { countedIds, type TestClock, testClock } from './test-clock.ts'

/** Options of `createWorkspace` except for the files, and faults. */
export interface TestWorkspaceOptions extends Partial<Omit<WorkspaceOptions, 'backend' | 'mounts' | 'clock'>> {
  /** Default: a clock that stands still. */
  readonly clock?: TestClock
  /** Faults of the storage, see {@link faulty}. Latency passes when the clock is advanced. */
  readonly faults?: BackendFault | readonly BackendFault[]
  /** Seed of random faults. Default: 0. */
  readonly seed?: number
}

const { backend: _, mounts: __, ...ownOptions } = workspaceOptions
/** The options of {@link testWorkspace}. */
export const testOptions: OptionTable<TestWorkspaceOptions> = {
  ...ownOptions,
  clock: must('a testClock()', (clock) => typeof clock === 'function' && 'advance' in clock && 'wait' in clock),
  // Faults are checked by `faulty`.
  faults: isAnything,
  seed: must('an integer', Number.isSafeInteger),
}

/** A workspace in memory that a test can inspect without calls, records or faults. */
export interface TestWorkspace extends Workspace {
  /** All files, including those that policy hides, without the faults. */
  readonly backend: Backend
  readonly clock: TestClock
  /** Returns the diff since the workspace was opened, or since HEAD of its repository, without ignored files and with masked secrets. */
  diff(): Promise<string>
}

/**
 * Creates a workspace for tests: files in memory, policy `autonomous` by default, a clock that stands still and counted ids, so that
 * the same calls give the same results and audit records, byte for byte.
 *
 * @throws TypeError if `memory`, `faulty` or `createWorkspace` does
 * @example
 * const workspace = await testWorkspace({ 'a.txt': 'one\n' })
 * await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
 * console.log(await workspace.diff(), workspace.auditRecords().length)
 */
export async function testWorkspace(
  files: Readonly<Record<string, MemoryEntry>> = {},
  requested?: TestWorkspaceOptions,
): Promise<TestWorkspace> {
  refuseSurplus('testWorkspace()', 2, arguments)
  const checked = checkOptions<TestWorkspaceOptions>('testWorkspace()', requested, testOptions)
  const { faults, seed = 0, clock = testClock(), ...options } = checked
  const backend = memory(files, { clock })
  const workspace = await createWorkspace({
    policy: 'autonomous',
    ids: countedIds(),
    ...options,
    clock,
    backend: faults === undefined ? backend : faulty(backend, faults, { seed, wait: clock.wait }),
  })
  const diffs = createWorkspaceDiffs(backend)
  // A copy of the workspace would lose its getters.
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
