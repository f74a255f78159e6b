import { discounted, taxOf } from './price.js'

const TAX_RATE = 19

/** What is to be paid for the items of a cart: `{ cents, count, percent }` each. */
export function total(items) {
  let net = 0
  for (const { cents, count, percent = 0 } of items) net += discounted(cents, percent) * count
  return net + taxOf(net, TAX_RATE)
}
