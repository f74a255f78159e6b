import { getTemp } from './sensor.js'

const LIMITS = { cold: -10, hot: 40 }

/** `cold`, `hot`, or undefined where all is well. */
export function alarmFor(sample) {
  const degrees = getTemp(sample)
  if (degrees < LIMITS.cold) return 'cold'
  if (degrees > LIMITS.hot) return 'hot'
  return undefined
}
