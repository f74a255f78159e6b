/*
 * Stores the playground for use without a network. Starts after the page has loaded, so that it does not slow loading.
 * Without service workers, as in some private windows, the playground needs a network.
 */
addEventListener('load', () => setTimeout(register, 1_000))

async function register(): Promise<void> {
  try {
    const { serviceWorker } = navigator
    await serviceWorker.register(new URL('service-worker.js', document.baseURI), {
      scope: './',
      updateViaCache: 'none',
    })
    await serviceWorker.ready
    document.documentElement.dataset.offline = 'ready'
  } catch {
    document.documentElement.dataset.offline = 'none'
  }
}
