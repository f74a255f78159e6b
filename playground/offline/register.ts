/*
 * Keeps the playground for later, without a network. It begins when the page has loaded, so that it takes nothing from
 * that. Without service workers, as in some private windows, the playground works as long as there is a network.
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
