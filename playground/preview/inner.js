/* Runs in the sandbox before the scripts of the project's page: reports what goes wrong there, and presses on its links. */
{
  // No policy of a document covers these connections.
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete globalThis[name]
  const send = (kind, text) => parent.postMessage({ kind, text: String(text) }, '*')
  addEventListener('error', (event) => event.message && send('problem', event.message))
  addEventListener('unhandledrejection', ({ reason }) => send('problem', reason?.message ?? reason))
  document.addEventListener('securitypolicyviolation', ({ blockedURI }) =>
    send('problem', `The preview has no network: ${blockedURI} was not loaded`),
  )
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null
    const href = link?.getAttribute('href') ?? '#'
    if (href.startsWith('#')) return
    event.preventDefault()
    send('link', href)
  })
}
