import { alarmFor } from './alarm.js'
import { createHistory } from './history.js'
import { reportLine } from './report.js'

/** Takes in one sample of a station: it is kept, reported, and checked for an alarm. */
export function takeIn(station, sample) {
  station.history.add(sample)
  const alarm = alarmFor(sample)
  if (alarm !== undefined) station.onAlarm(alarm, reportLine(station.name, sample))
  return reportLine(station.name, sample)
}

export function openStation(name, onAlarm) {
  return { name, onAlarm, history: createHistory() }
}
