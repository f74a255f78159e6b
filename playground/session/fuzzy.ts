/** How well a path matches what a person typed. */
export interface FuzzyMatch {
  readonly path: string
  readonly score: number
  /** The places of the matched characters in the path. */
  readonly at: readonly number[]
}

/** Points for a character that follows the one before, begins a word, or is in the name of the file. */
const CONSECUTIVE = 6
const BEGINS_WORD = 5
const IN_NAME = 2
/** Points that a whole name gains over scattered characters. */
const NAME_STARTS = 12

/** Characters beyond which a query is not compared: nobody types more to find a file. */
const MAX_QUERY = 64

/**
 * Compares a path with typed characters, which must appear in it in order. Returns `undefined` if they do not. Takes time
 * proportional to the length of the path times that of the query.
 */
export function fuzzyMatch(query: string, path: string): FuzzyMatch | undefined {
  const typed = query.replaceAll(/\s+/g, '').toLowerCase().slice(0, MAX_QUERY)
  const text = path.toLowerCase()
  if (typed === '') return { path, score: 0, at: [] }
  if (!isWithin(typed, text)) return undefined
  const nameStart = path.lastIndexOf('/') + 1
  const { score, at } = best(typed, text, path, nameStart)
  const startsName = text.startsWith(typed, nameStart) ? NAME_STARTS : 0
  // Of paths that match equally well, the shorter one is more likely meant.
  return { path, score: score + startsName - path.length / 100, at }
}

function isWithin(typed: string, text: string): boolean {
  let from = 0
  for (const character of typed) {
    from = text.indexOf(character, from) + 1
    if (from === 0) return false
  }
  return true
}

/** Finds the best places for the characters, one row of the table per typed character. */
function best(typed: string, text: string, path: string, nameStart: number): Pick<FuzzyMatch, 'score' | 'at'> {
  const length = text.length
  const points = Array.from({ length }, (_, at) => pointsAt(path, at, nameStart))
  let scores = new Float64Array(length).fill(Number.NEGATIVE_INFINITY)
  const cameFrom: Int32Array[] = []
  for (let row = 0; row < typed.length; row++) {
    const next = new Float64Array(length).fill(Number.NEGATIVE_INFINITY)
    const from = new Int32Array(length).fill(-1)
    let bestBefore = row === 0 ? 0 : Number.NEGATIVE_INFINITY
    let bestAt = -1
    for (let at = 0; at < length; at++) {
      if (text[at] === typed[row]) {
        const follows = row > 0 && at > 0 ? (scores[at - 1] as number) + CONSECUTIVE : Number.NEGATIVE_INFINITY
        const isFollowing = follows >= bestBefore
        next[at] = (isFollowing ? follows : bestBefore) + (points[at] as number)
        from[at] = isFollowing ? at - 1 : bestAt
      }
      if (row > 0 && (scores[at] as number) > bestBefore) {
        bestBefore = scores[at] as number
        bestAt = at
      }
    }
    scores = next
    cameFrom.push(from)
  }
  let end = 0
  for (let at = 1; at < length; at++) if ((scores[at] as number) > (scores[end] as number)) end = at
  const at: number[] = []
  for (let row = typed.length - 1, place = end; row >= 0; row--) {
    at.unshift(place)
    place = cameFrom[row]?.[place] ?? -1
  }
  return { score: scores[end] as number, at }
}

function pointsAt(path: string, at: number, nameStart: number): number {
  const before = path[at - 1]
  const here = path[at] as string
  const begins =
    before === undefined || /[/._\-\s]/.test(before) || (/[a-z0-9]/.test(before) && here >= 'A' && here <= 'Z')
  return (begins ? BEGINS_WORD : 0) + (at >= nameStart ? IN_NAME : 0)
}
