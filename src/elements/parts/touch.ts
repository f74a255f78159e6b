import { useEffect, useState } from 'preact/hooks'

const QUERY = '(max-width: 759px), (pointer: coarse)'

/** Whether rows must be high enough for fingers. The style sheets ask the same. */
export function isTouch(): boolean {
  return globalThis.matchMedia?.(QUERY).matches ?? false
}

/** Returns the height of a row in pixels, which is larger for fingers. */
export function useRowHeight(): number {
  const [isLarge, setLarge] = useState(isTouch)
  useEffect(() => {
    const media = matchMedia(QUERY)
    const onChange = () => setLarge(media.matches)
    media.addEventListener('change', onChange)
    return () => media.removeEventListener('change', onChange)
  }, [])
  return isLarge ? 44 : 28
}
