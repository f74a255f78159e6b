import { padLeft, padRight } from 'pad-lines'

const WIDTHS = { name: 12, amount: 8 }

/** Orders as lines of a table. */
export function tableOf(orders) {
  return orders.map(({ name, amount }) => `${padRight(name, WIDTHS.name)}${padLeft(amount.toFixed(2), WIDTHS.amount)}`)
}
