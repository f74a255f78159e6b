import { getTemp, getTemperatureUnit } from './sensor.js'

/** One line for people. */
export function reportLine(name, sample) {
  // getTemp rounds to a tenth, which is all that the sensor knows.
  return `${name}: ${getTemp(sample).toFixed(1)} ${getTemperatureUnit()}`
}
