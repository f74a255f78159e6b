import { createPacer } from './pacer.ts'

/** Like {@link createPacer}. Each step calls `check` first, which throws if the operation was cancelled. */
export function createCheckedPacer(check: () => void): () => Promise<void> | undefined {
  const turn = createPacer()
  return () => {
    check()
    return turn()
  }
}
