import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStation, takeIn } from '../src/main.js'
import * as sensor from '../src/sensor.js'

test('a sensor gives degrees', () => {
  assert.equal(sensor.getTemp({ raw: 512 }), 25)
  assert.throws(() => sensor.getTemp({ raw: 5000 }), RangeError)
})

test('too hot raises an alarm', () => {
  const alarms = []
  const station = openStation('roof', (kind, line) => alarms.push([kind, line]))
  takeIn(station, { at: 1, raw: 400 })
  takeIn(station, { at: 2, raw: 700 })
  assert.deepEqual(alarms, [['hot', 'roof: 52.5 °C']])
  assert.equal(station.history.last().degrees, 52.5)
})
