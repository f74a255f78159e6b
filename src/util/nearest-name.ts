/** Returns the Levenshtein distance (Wagner–Fischer), or `undefined` if it is over `maxDistance`. */
export function editDistance(a: string, b: string, maxDistance: number): number | undefined {
  if (Math.abs(a.length - b.length) > maxDistance) return undefined
  const other = [...b]
  let distance = other.length
  let row = other.map((_, j) => j + 1)
  for (const [i, char] of [...a].entries()) {
    // The three neighbours in the table: `corner` is above and to the left, `distance` to the left, `above` above.
    let corner = i
    distance = i + 1
    row = row.map((above, j) => {
      distance = Math.min(corner + Number(char !== other[j]), distance + 1, above + 1)
      corner = above
      return distance
    })
  }
  return distance <= maxDistance ? distance : undefined
}

/** Maximum length of a name that is compared. */
const MAX_NAME = 100

/** Returns the name most similar to a misspelled one, ignoring letter case. Returns `undefined` if no name is similar. */
export function nearestName(misspelled: string, names: Iterable<string>): string | undefined {
  if (misspelled.length > MAX_NAME) return undefined
  const text = misspelled.toLowerCase()
  let maxDistance = Math.max(2, Math.ceil(text.length / 3))
  let nearest: string | undefined
  for (const name of names) {
    const distance = editDistance(text, name.toLowerCase(), maxDistance)
    if (distance === undefined) continue
    nearest = name
    // Only a more similar name replaces this one.
    maxDistance = distance - 1
    if (distance === 0) break
  }
  return nearest
}
