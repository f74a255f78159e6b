import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Changes } from 'wardspace/ui'
import type { ProjectSession } from '../../session/project-session.ts'

/** Returns the review of a project; undefined until it is loaded. */
export function useReview(projectSession: Pick<ProjectSession, 'review'>): Changes | undefined {
  const review = useSignal<Changes | undefined>(undefined)
  useEffect(() => {
    void projectSession.review().then((loaded) => {
      review.value = loaded
    })
  }, [projectSession])
  return review.value
}
