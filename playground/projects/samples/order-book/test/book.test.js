import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf } from '../src/day.js'
import { tableOf } from '../src/table.js'

test('columns are aligned', () => {
  assert.deepEqual(
    tableOf([
      { name: 'Tea', amount: 4.5 },
      { name: 'Cinnamon', amount: 12 },
    ]),
    ['Tea             4.50', 'Cinnamon       12.00'],
  )
})

test('a day has two digits', () => {
  assert.equal(dayOf(new Date(Date.UTC(2026, 2, 9))), '2026-03-09')
})
