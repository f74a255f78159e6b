import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { NotLoaded } from '../../src/elements/parts/not-loaded.tsx'

/** Creates a view whose code loads when it is first shown. A placeholder has its size until then. */
export function lazyView<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => JSX.Element {
  let loaded: ComponentType<P> | undefined
  return function LazyView(props: P) {
    const [View, setView] = useState<ComponentType<P> | undefined>(() => loaded)
    const [hasFailed, setHasFailed] = useState(false)
    useEffect(() => {
      if (View !== undefined) return
      load().then(
        (view) => {
          loaded = view
          setView(() => view)
        },
        () => setHasFailed(true),
      )
    }, [])
    if (hasFailed) return <NotLoaded />
    return View === undefined ? <div class="skeleton" aria-busy="true" /> : <View {...props} />
  }
}
