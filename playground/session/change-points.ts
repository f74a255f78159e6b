import { batch, type ReadonlySignal, signal } from '@preact/signals'
import type { AuditRecord, Failure, Success } from 'wardspace'
import type { CurrentWorkspace } from './current-workspace.ts'
import type { Points } from './history.ts'

/** Counts changes of the files and adds a history point after each, so that the slider can come back to it. */
export class ChangePoints {
  readonly #current: CurrentWorkspace
  readonly #points: Points
  readonly #revision = signal(0)
  #isMoving = false

  constructor(current: CurrentWorkspace, points: Points) {
    this.#current = current
    this.#points = points
  }

  get revision(): ReadonlySignal<number> {
    return this.#revision
  }

  /** Notices a change of the files by its audit record. */
  take(record: AuditRecord): void {
    if (record.phase !== 'outcome' || record.pathsWritten.length === 0) return
    // The commit has happened; the journal takes it in right after its record.
    queueMicrotask(() =>
      batch(() => {
        this.#revision.value += 1
        if (!this.#isMoving) this.#points.left()
      }),
    )
  }

  /** Adds a point of the current files. */
  add(label: string, isNamed: boolean): void {
    this.#points.made(this.#current.workspace.checkpoint(label), isNamed)
  }

  /** Acts, and adds a point if the act has changed files. */
  async around(act: () => Promise<Success | Failure>, label: string): Promise<Success | Failure> {
    const before = this.#revision.value
    const result = await act()
    if (this.#revision.value !== before) this.add(label, false)
    return result
  }

  /** Restores a point with `act`, which adds no point of its own. */
  async move(id: string, act: () => Promise<Success | Failure>): Promise<Success | Failure> {
    this.#isMoving = true
    try {
      // Without a point, the current files could not be restored later.
      if (this.#points.position.value === undefined) this.add('Before going back', false)
      const result = await act()
      if (result.ok) this.#points.moved(id)
      return result
    } finally {
      this.#isMoving = false
    }
  }
}
