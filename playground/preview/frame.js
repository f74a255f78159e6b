/*
 * Shows a page of the project. This document has the policy that the page of the project inherits: no network at all. Its own
 * code, which the build puts into it, only puts that page into a sandbox, whose origin is nobody's, so it reaches neither
 * this document nor its storage.
 */
{
  /** Characters of a message of the project's page that are passed on. */
  const MAX_TEXT = 500
  let shown

  const send = (message) => parent.postMessage(message, location.origin)

  const show = (title, prepare) => {
    const frame = document.createElement('iframe')
    frame.title = title
    frame.style.cssText = 'display: block; width: 100vw; height: 100vh; border: 0'
    prepare(frame)
    shown?.remove()
    shown = frame
    document.body.append(frame)
  }

  let policy
  /** A document that the page makes and shows instead of itself, or in a frame, would not have the checks of `inner.js`. */
  const forbidFrames = () => {
    if (policy !== undefined) return
    policy = document.createElement('meta')
    policy.httpEquiv = 'Content-Security-Policy'
    policy.content = "frame-src 'none'; object-src 'none'"
    document.head.append(policy)
  }

  addEventListener('message', ({ data, source, origin }) => {
    if (source === parent && origin === location.origin) {
      if (data.kind === 'html') {
        forbidFrames()
        show('Page of the project', (frame) => {
          frame.setAttribute('sandbox', 'allow-scripts')
          frame.srcdoc = data.html
        })
      } else {
        show('Document', (frame) => {
          frame.src = URL.createObjectURL(new Blob([data.bytes], { type: 'application/pdf' }))
        })
      }
      return
    }
    if (source === null || source !== shown?.contentWindow) return
    // The page of the project may send anything.
    const { kind, text } = data ?? {}
    if (typeof text !== 'string') return
    if (kind === 'link' || kind === 'problem') send({ kind, text: text.slice(0, MAX_TEXT) })
  })

  send({ kind: 'ready' })
}
