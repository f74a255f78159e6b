import type { Autosave } from './autosave.ts'
import type { ChangesReview, ReviewParts, SavedReview } from './changes-review.ts'
import type { SessionProject } from './types.ts'

/** Loads the code and the saved data of the review, which the first view of the changes needs. */
export async function loadReview(
  { kept }: Pick<SessionProject, 'kept'>,
  parts: ReviewParts,
  autosave: Autosave,
): Promise<ChangesReview> {
  const [{ createChangesReview }, saved] = await Promise.all([import('./changes-review.ts'), kept.load('review')])
  const review = createChangesReview(parts, saved as SavedReview | undefined)
  autosave.follow('review', [review.saved], () => review.saved.value)
  return review
}
