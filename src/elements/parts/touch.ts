/** Whether rows must be high enough for fingers. The style sheets ask the same. */
export function isTouch(): boolean {
  return globalThis.matchMedia?.('(max-width: 759px), (pointer: coarse)').matches ?? false
}
