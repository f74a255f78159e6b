/** An amount for people: `1234` is `12.34 €`. */
export function formatted(cents) {
  const euros = Math.floor(Math.abs(cents) / 100)
  const rest = String(Math.abs(cents) % 100).padStart(2, '0')
  return `${cents < 0 ? '-' : ''}${euros}.${rest} €`
}
