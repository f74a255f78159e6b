import 'wardspace/elements'
import { useSyncExternalStore } from 'react'
import type { JsxElements } from 'wardspace/elements'
import { approvals, changes, conversation, editor, files, timeline } from './agent.js'

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements extends JsxElements {}
  }
}

/** A controller is an external store of React. */
function usePending() {
  return useSyncExternalStore(approvals.subscribe, () => approvals.snapshot).pending
}

export function App() {
  const isAsked = usePending().length > 0
  return (
    <main>
      <wardspace-files controller={files} onwardspace-open-file={({ detail }) => void editor.open(detail.path)} />
      <section>
        {isAsked && <wardspace-approvals controller={approvals} />}
        <wardspace-editor controller={editor} />
        <wardspace-diff controller={changes} onwardspace-open-file={({ detail }) => void editor.open(detail.path)} />
      </section>
      <section>
        <wardspace-chat controller={conversation} timeline={timeline} />
        <wardspace-timeline controller={timeline} />
      </section>
    </main>
  )
}
