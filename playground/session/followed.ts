import { effect } from '@preact/signals'
import type { ChangesOptions } from 'wardspace/ui'
import type { Session } from './types.ts'

/** The workspace of a session for a controller, also after a change of the settings has opened another one. */
export function followed(session: Pick<Session, 'workspace' | 'undo' | 'revision'>): ChangesOptions['workspace'] {
  return {
    run: (options) => session.workspace.peek().run(options),
    undo: (callId) => session.undo(callId) as ReturnType<ChangesOptions['workspace']['undo']>,
    subscribe: (listener) => {
      let isFirst = true
      return effect(() => {
        session.revision.value
        if (!isFirst) listener({ type: 'changed', paths: undefined, listing: true })
        isFirst = false
      })
    },
  }
}
