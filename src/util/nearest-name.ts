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

/** The distance of words that are not similar. */
const FAR = 1e6

/**
 * Returns the name that a misspelled one is short for, or the most similar one, ignoring letter case. Returns `undefined` if no
 * name is similar.
 */
export function nearestName(misspelled: string, names: Iterable<string>): string | undefined {
  const all = [...names]
  const [longer, ...others] = all.filter((name) => isShortFor(misspelled, name))
  return longer === undefined || others.length > 0 ? similarName(misspelled, all) : longer
}

/**
 * Returns the name whose spelling is most similar, ignoring letter case. Each word counts for itself, because `edit_file` does not
 * mean `write_file`. Short words may differ more in a long name.
 */
export function similarName(misspelled: string, names: readonly string[]): string | undefined {
  // No name is so long, and a long text takes time.
  if (misspelled.length > 100) return undefined
  const words = wordsOf(misspelled)
  const tolerance = Math.max(1, misspelled.length >> 2)
  const distances = names.map((name) => {
    const others = wordsOf(name)
    if (words.length !== others.length) return wordDistance(words.join(''), others.join(''), tolerance)
    return words.reduce((sum, word, at) => {
      return sum + wordDistance(word, others[at] as string, word.length > 4 ? word.length / 3 : tolerance)
    }, 0)
  })
  const least = Math.min(...distances)
  return least < FAR ? names[distances.indexOf(least)] : undefined
}

/** The words of a name, in lower case. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
}

/** The distance of similar words, `FAR` for others and for opposites. Letters in another order count once. */
export function wordDistance(a: string, b: string, tolerance: number): number {
  const letters = (word: string) => [...word].sort().join()
  if (a !== b && letters(a) === letters(b)) return 1
  if (/^exclude.*include|^include.*exclude/.test(a + b)) return FAR
  return editDistance(a, b, tolerance) ?? FAR
}

/**
 * Whether a name is the first words of another one, as `timeout` of `timeout_seconds`, its last words, as `path` of `file_path`, or
 * its consonants, as `cmd` of `command`.
 */
function isShortFor(name: string, field: string): boolean {
  const [short, long] = [name, field].map((text) => `_${wordsOf(text).join('_')}_`) as [string, string]
  if (long.startsWith(short) || long.endsWith(short)) return true
  return /^[b-df-hj-np-tv-z]{2,10}$/.test(name) && RegExp(`^${[...name].join('.*')}`).test(field)
}
