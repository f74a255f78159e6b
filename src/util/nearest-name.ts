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

/**
 * Returns the name that a misspelled one is short for, or the most similar one, ignoring letter case. Returns `undefined` if no
 * name is similar.
 */
export function nearestName(misspelled: string, names: Iterable<string>): string | undefined {
  if (misspelled.length > MAX_NAME) return undefined
  const text = misspelled.toLowerCase()
  const all = [...names]
  const [longer, ...others] = all.filter((name) => isShortFor(misspelled, name))
  if (longer !== undefined && others.length === 0 && !all.some((name) => name.toLowerCase() === text)) return longer
  let maxDistance = Math.max(2, Math.ceil(text.length / 3))
  let nearest: string | undefined
  for (const name of all) {
    const distance = editDistance(text, name.toLowerCase(), maxDistance)
    // A name without a common letter is not similar.
    if (distance === undefined || distance === Math.max(text.length, name.length)) continue
    nearest = name
    // Only a more similar name replaces this one.
    maxDistance = distance - 1
    if (distance === 0) break
  }
  return nearest
}

/**
 * Whether a name is the first words of another one, as `timeout` of `timeout_seconds`, its last words, as `path` of `file_path`, or
 * its consonants, as `cmd` of `command`.
 */
function isShortFor(name: string, field: string): boolean {
  if (name === '') return false
  if (field.startsWith(name) && /^[_A-Z]/.test(field.slice(name.length))) return true
  if (field.endsWith(`_${name}`) || field.endsWith(`${name[0]?.toUpperCase()}${name.slice(1)}`)) return true
  if (!/^[b-df-hj-np-tv-z]{2,10}$/.test(name) || field[0] !== name[0]) return false
  let index = 0
  for (const char of field) if (char === name[index]) index += 1
  return index === name.length
}
