import { type Path, parsePath } from '../paths/logical-path.ts'
import type { OutsideListener } from './backend.ts'

/** How the changes by others in one storage are found. */
export interface ChangeSource {
  /** Returns text that is equal for equal states of a path, or `undefined` for a path that tools cannot reach. */
  look(path: Path): string | undefined | Promise<string | undefined>
  /** Runs an action while no commit of this backend is under way. */
  inTurn(action: () => Promise<void>): Promise<unknown>
  readonly onChange: OutsideListener
}

/** Collects the paths that a storage reports as changed, and passes on those in whose states others have a part. */
export class OutsideChanges {
  readonly #source: ChangeSource
  /** The states that are known: committed here, or passed on. The oldest first. */
  readonly #known = new Map<Path, string>()
  readonly #reported = new Set<Path>()
  #isOverflown = false
  #isClosed = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(source: ChangeSource) {
    this.#source = source
  }

  /** Takes the present states of paths as known. To be called after a commit, before the next action in turn. */
  async note(paths: Iterable<Path>): Promise<void> {
    for (const path of paths) await this.#isNew(path)
  }

  /** Notes that a path may have changed, or with `undefined` any path. */
  report(path: Path | undefined): void {
    if (this.#isClosed) return
    if (path === undefined || this.#reported.size === MAX_REPORTED) this.#isOverflown = true
    else this.#reported.add(path)
    this.#timer ??= setTimeout(this.#pass, DELAY_MS)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  readonly #pass = async (): Promise<void> => {
    const { onChange, inTurn } = this.#source
    await inTurn(async () => {
      const changed: Path[] = []
      let count = 0
      // A look at a new directory reports what is in it.
      for (const path of this.#reported) {
        if (++count > MAX_REPORTED) break
        this.#reported.delete(path)
        if (await this.#isNew(path)) changed.push(path)
      }
      const isOverflown = this.#isOverflown
      this.#isOverflown = false
      if (this.#isClosed) return
      this.#timer = this.#reported.size === 0 ? undefined : setTimeout(this.#pass, DELAY_MS)
      if (isOverflown) onChange(undefined)
      else if (changed.length > 0) onChange([...new Set(changed)].sort())
    })
  }

  /** Returns whether a path has another state than is known, and takes its state as known. */
  async #isNew(path: Path): Promise<boolean> {
    const state = await this.#source.look(path)
    const previous = this.#known.get(path)
    if (state === undefined || state === previous) return false
    this.#known.delete(path)
    this.#known.set(path, state)
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value as Path)
    return true
  }
}

/** Returns the path for names that a storage reports, or `undefined` if it is not one that tools can use. */
export function reportedPath(text: string): Path | undefined {
  try {
    return parsePath(text) === text ? (text as Path) : undefined
  } catch {
    return undefined
  }
}

/** Reports within this time are passed on together. */
const DELAY_MS = 50
/** With more paths at once, any path may have changed. */
const MAX_REPORTED = 10_000
const MAX_KNOWN = 100_000
