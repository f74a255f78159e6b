import type { Autosave } from './autosave.ts'
import type { ChangesReview, ReviewParts, SavedReview } from './changes-review.ts'
import type { SessionProject } from './types.ts'

/** Loads the code and the saved data of the review once, for the first view of the changes. */
export function createReviewLoader(
  project: Pick<SessionProject, 'kept'>,
  parts: ReviewParts,
  autosave: Autosave,
): { load(): Promise<ChangesReview>; close(): Promise<void> } {
  let review: Promise<ChangesReview> | undefined
  return {
    load() {
      review ??= loadReview(project, parts, autosave)
      return review
    },
    async close() {
      ;(await review)?.close()
    },
  }
}

async function loadReview(
  { kept }: Pick<SessionProject, 'kept'>,
  parts: ReviewParts,
  autosave: Autosave,
): Promise<ChangesReview> {
  const [{ createChangesReview }, saved] = await Promise.all([import('./changes-review.ts'), kept.load('review')])
  const review = createChangesReview(parts, saved as SavedReview | undefined)
  autosave.follow('review', [review.saved], () => review.saved.value)
  return review
}
