/** Says what a person can do where code could not be loaded. An offline page that is reloaded may be gone. */
export function notLoadedText(): string {
  return globalThis.navigator?.onLine === false
    ? 'This browser is offline, and this part is not loaded yet. Reload the page once you are online.'
    : 'This part could not be loaded. Reload the page.'
}

/** Shown in place of a view whose code could not be loaded. */
export function NotLoaded() {
  return (
    <p class="notice bad" role="alert">
      {notLoadedText()}
    </p>
  )
}
