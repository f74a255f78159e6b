import type { Changes, SavedReview } from 'wardspace/ui'
import type { Autosave } from './autosave.ts'
import type { ReviewParts } from './changes-review.ts'
import { snapshotSignal } from './snapshot-signal.ts'

/** Loads the code and the saved data of the review once, for the first view of the changes. */
export function createReviewLoader(
  parts: ReviewParts,
  autosave: Autosave,
): { load(): Promise<Changes>; close(): Promise<void> } {
  let review: Promise<Changes> | undefined
  return {
    load() {
      review ??= loadReview(parts, autosave)
      return review
    },
    async close() {
      ;(await review)?.close()
    },
  }
}

async function loadReview(parts: ReviewParts, autosave: Autosave): Promise<Changes> {
  const { kept } = parts.session.project
  const [{ openReview }, saved] = await Promise.all([import('./changes-review.ts'), kept.load('review')])
  const review = openReview(parts, saved as SavedReview | undefined)
  autosave.follow('review', [snapshotSignal(review)], review.keep)
  return review
}
