import assert from 'node:assert/strict'
import { test } from 'node:test'
import { total } from '../src/cart.js'
import { formatted } from '../src/format.js'

test('an empty cart costs nothing', () => {
  assert.equal(total([]), 0)
})

test('a cart is discounted, counted and taxed', () => {
  const items = [
    { cents: 1995, count: 2, percent: 15 },
    { cents: 500, count: 1 },
  ]
  assert.equal(formatted(total(items)), '46.31 €')
})
