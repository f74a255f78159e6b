import { getTemp } from './sensor.js'

const MOST = 24

/** The last readings of a station, the newest last. */
export function createHistory() {
  const readings = []
  return {
    add(sample) {
      readings.push({ at: sample.at, degrees: getTemp(sample) })
      if (readings.length > MOST) readings.shift()
    },
    last: () => readings.at(-1),
    average: () => readings.reduce((sum, { degrees }) => sum + degrees, 0) / readings.length,
  }
}
