import type { Failure } from '../errors.ts'
import type { Checkpoint } from '../history/journal.ts'
import { checkArgument, isObjectWith, refuseSurplus } from '../util/check-options.ts'
import type { Workspace } from '../workspace/types.ts'
import { type Controller, ControllerState } from './controller.ts'
import { headlineOf } from './words/person-words.ts'

/** A state of the files that can be restored. */
export interface HistoryPoint extends Pick<Checkpoint, 'id' | 'at'> {
  readonly label: string
}

/** The state of a {@link FileHistory}. */
export interface HistorySnapshot {
  /** Oldest first. */
  readonly points: readonly HistoryPoint[]
  /** The point that matches the present files; `undefined` after a change by others. */
  readonly position: string | undefined
  readonly isMoving: boolean
  /** Why the last move failed, in a person's words. */
  readonly trouble: string | undefined
}

/** The states of the files of a workspace: at the start, after each change by a call, and those that a person has named. */
export interface FileHistory extends Controller<HistorySnapshot> {
  /** Names the present state. */
  checkpoint(label: string): void
  /** Restores a state, earlier or later, as one call that can itself be undone. */
  moveTo(id: string): Promise<void>
  /** Stops following changes. */
  close(): void
}

/**
 * Creates the history of a workspace.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous' })
 * const history = createHistory(workspace)
 * await workspace.call('write_file', { path: 'a.txt', content: 'one\n' })
 * await history.moveTo(history.snapshot.points[0]?.id ?? '')
 * history.close()
 */
export function createHistory(
  workspace: Pick<Workspace, 'checkpoint' | 'checkpoints' | 'rollback' | 'subscribe'>,
): FileHistory {
  refuseSurplus('createHistory()', 1, arguments)
  checkArgument(
    'createHistory()',
    'workspace',
    workspace,
    isObjectWith('a workspace', 'checkpoint', 'rollback', 'subscribe'),
  )
  const first =
    workspace.checkpoints().length === 0 ? [workspace.checkpoint('As it was opened')] : workspace.checkpoints()
  const points = first.map(pointOf)
  const state = new ControllerState<HistorySnapshot>({
    ...{ points, position: points.at(-1)?.id, isMoving: false, trouble: undefined },
  })

  function add(label: string): string {
    const point = pointOf(workspace.checkpoint(label))
    state.update({ points: [...state.snapshot.points, point], position: point.id })
    return point.id
  }

  const close = workspace.subscribe((event) => {
    if (event.type !== 'changed' || state.snapshot.isMoving) return
    if (event.callId === undefined) state.update({ position: undefined })
    else add(event.paths?.join(', ') || 'Changed')
  })
  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    checkpoint: (label) => void add(label),
    async moveTo(id) {
      if (state.snapshot.isMoving || state.snapshot.position === id) return
      // Without a point, the present files could not be restored later.
      if (state.snapshot.position === undefined) add('Before going back')
      state.update({ isMoving: true, trouble: undefined })
      const result: { readonly ok: true } | Failure = await workspace.rollback(id)
      state.update({ isMoving: false, ...(result.ok ? { position: id } : { trouble: headlineOf(result) }) })
    },
    close,
  }
}

function pointOf({ id, at, label }: Checkpoint): HistoryPoint {
  return { id, at, label: label ?? id }
}
