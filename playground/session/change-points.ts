import { batch, type ReadonlySignal, signal } from '@preact/signals'
import type { AuditRecord, Failure, Success } from 'wardspace'
import type { CurrentWorkspace } from './current-workspace.ts'
import type { Points } from './history.ts'

/** Counts changes of the files and adds a history point after each, so that the slider can come back to it. */
export class ChangePoints {
  readonly #current: CurrentWorkspace
  readonly #points: Points
  readonly #revision = signal(0)
  readonly #target = signal<string | undefined>(undefined)
  #move: Promise<Success | Failure> | undefined

  constructor(current: CurrentWorkspace, points: Points) {
    this.#current = current
    this.#points = points
  }

  get revision(): ReadonlySignal<number> {
    return this.#revision
  }

  /** The point that is being restored. */
  get target(): ReadonlySignal<string | undefined> {
    return this.#target
  }

  /** Notices a change of the files by its audit record. */
  take(record: AuditRecord): void {
    if (record.phase !== 'outcome' || record.pathsWritten.length === 0) return
    // The commit has happened; the journal takes it in right after its record.
    queueMicrotask(() =>
      batch(() => {
        this.#revision.value += 1
        if (this.#target.value === undefined) this.#points.left()
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

  /**
   * Restores a point with `act`, which adds no point of its own. Restores one point at a time: of the requests during
   * one, only the last is carried out, and all have its result.
   */
  move(id: string, act: (id: string) => Promise<Success | Failure>): Promise<Success | Failure> {
    // Without a point, the current files could not be restored later.
    if (this.#points.position.value === undefined && this.#move === undefined) this.add('Before going back', false)
    this.#target.value = id
    this.#move ??= this.#moveToTarget(id, act)
    return this.#move
  }

  async #moveToTarget(first: string, act: (id: string) => Promise<Success | Failure>): Promise<Success | Failure> {
    try {
      for (let id = first; ; ) {
        const result = await act(id)
        if (result.ok) this.#points.moved(id)
        const next = this.#target.value ?? id
        if (!result.ok || next === id) return result
        id = next
      }
    } finally {
      this.#move = undefined
      this.#target.value = undefined
    }
  }
}
