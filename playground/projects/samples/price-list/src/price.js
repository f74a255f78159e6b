/** The price after a discount, in cents. */
export function discounted(cents, percent) {
  if (percent < 0 || percent > 100) throw new RangeError(`No discount is ${percent} %`)
  return Math.floor((cents * (100 - percent)) / 100)
}

/** What the tax adds to a net price, in cents. */
export function taxOf(cents, rate) {
  return Math.round((cents * rate) / 100)
}
