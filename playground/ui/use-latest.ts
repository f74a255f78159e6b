import { useEffect } from 'preact/hooks'

/** Loads a value whenever one of `inputs` changes, and passes it to `use` unless they have changed again by then. */
export function useLatest<T>(load: () => Promise<T>, use: (value: T) => void, inputs: readonly unknown[]): void {
  useEffect(() => {
    let isOutdated = false
    void load().then((value) => {
      if (!isOutdated) use(value)
    })
    return () => {
      isOutdated = true
    }
  }, inputs)
}
