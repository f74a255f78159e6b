const OFFSET = -50
const SCALE = 0.146484375

/** Degrees Celsius from the raw value of a sensor, 0 to 1023. */
export function getTemp({ raw }) {
  if (!Number.isInteger(raw) || raw < 0 || raw > 1023) throw new RangeError(`No sensor says ${raw}`)
  return Math.round((OFFSET + raw * SCALE) * 10) / 10
}

/** The sign behind the degrees. */
export function getTemperatureUnit() {
  return '°C'
}
