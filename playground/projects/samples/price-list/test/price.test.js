import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discounted, taxOf } from '../src/price.js'

test('a discount that comes out even', () => {
  assert.equal(discounted(1000, 10), 900)
  assert.equal(discounted(1000, 0), 1000)
  assert.equal(discounted(1000, 100), 0)
})

test('a discount is rounded to the nearest cent', () => {
  assert.equal(discounted(999, 15), 849)
  assert.equal(discounted(1995, 15), 1696)
})

test('a discount over 100 percent is none', () => {
  assert.throws(() => discounted(1000, 101), RangeError)
})

test('tax is rounded to the nearest cent', () => {
  assert.equal(taxOf(999, 19), 190)
})
