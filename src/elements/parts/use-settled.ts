import { useEffect, useState } from 'preact/hooks'

/** Milliseconds before which nobody can have read a question: a press until then was meant for what was there before. */
const SETTLING_MS = 500

/** Whether the questions of this key have been shown long enough to be answered. */
export function useSettled(key: string): boolean {
  const [settled, setSettled] = useState<string>()
  // An effect runs when the question has been painted.
  useEffect(() => {
    const timer = setTimeout(() => setSettled(key), SETTLING_MS)
    return () => clearTimeout(timer)
  }, [key])
  return settled === key
}
