import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ChangesReview } from '../../session/changes-review.ts'
import type { ProjectSession } from '../../session/project-session.ts'

/** Returns the review of a project; undefined until it is loaded. */
export function useReview(projectSession: Pick<ProjectSession, 'review'>): ChangesReview | undefined {
  const review = useSignal<ChangesReview | undefined>(undefined)
  useEffect(() => {
    void projectSession.review().then((loaded) => {
      review.value = loaded
    })
  }, [projectSession])
  return review.value
}
