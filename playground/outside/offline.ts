/** What a person reads instead of the reason of a request that failed without a network. */
export const OFFLINE = 'this device is offline. The open project stays as it is.'

/** Whether the browser knows that there is no network. A connected one may still reach nothing. */
export const isOffline = (): boolean => globalThis.navigator?.onLine === false
