import { ToolError } from '../errors.ts'

/** Finds runs of lines in a text. */
export interface LineIndex {
  /**
   * Where the lines stand in the text one after the other: numbers of first lines from 0, ascending. Costs what their
   * rarest line occurs, or one pass over the text where that would be more.
   *
   * @throws ToolError `LIMIT_EXCEEDED` where all searches together cost too much: a hostile text
   */
  occurrences(run: readonly string[]): number[]
}

/** Indexes the lines of a text by what they say. */
export function createLineIndex(count: number, lineAt: (line: number) => string): LineIndex {
  const numbers = new Map<string, number>()
  const ids = new Int32Array(count)
  for (let line = 0; line < count; line++) {
    const content = lineAt(line)
    let id = numbers.get(content)
    if (id === undefined) {
      id = numbers.size
      numbers.set(content, id)
    }
    ids[line] = id
  }
  // The lines of one id stand together, in order.
  const first = new Int32Array(numbers.size + 1)
  for (const id of ids) first[id + 1] = (first[id + 1] as number) + 1
  for (let id = 0; id < numbers.size; id++) first[id + 1] = (first[id + 1] as number) + (first[id] as number)
  const next = first.slice()
  const places = new Int32Array(count)
  for (let line = 0; line < count; line++) {
    const id = ids[line] as number
    places[next[id] as number] = line
    next[id] = (next[id] as number) + 1
  }
  let left = FREE_WORK + WORK_PER_LINE * count

  function spend(work: number): void {
    left -= work
    if (left < 0) {
      throw new ToolError('LIMIT_EXCEEDED', 'Cannot place the hunks: they stand too far from where they say', {
        hint: 'Make the patch again from the present file.',
      })
    }
  }

  return {
    occurrences(run) {
      const wanted = new Int32Array(run.length)
      let rarest = 0
      let fewest = Number.POSITIVE_INFINITY
      for (let i = 0; i < run.length; i++) {
        const id = numbers.get(run[i] as string)
        if (id === undefined) return []
        wanted[i] = id
        const times = (first[id + 1] as number) - (first[id] as number)
        if (times < fewest) {
          fewest = times
          rarest = i
        }
      }
      const found: number[] = []
      const id = wanted[rarest] as number
      let work = 0
      for (let at = first[id] as number; at < (first[id + 1] as number); at++) {
        const start = (places[at] as number) - rarest
        work += 1
        if (start < 0 || start + run.length > count) continue
        let equal = 0
        while (equal < run.length && ids[start + equal] === wanted[equal]) equal += 1
        work += equal
        if (equal === run.length) found.push(start)
        if (work > 2 * count + run.length) {
          spend(work + 2 * (count + run.length))
          return search(ids, wanted)
        }
      }
      spend(work)
      return found
    },
  }
}

const FREE_WORK = 20_000_000
const WORK_PER_LINE = 64

/** Knuth, Morris and Pratt: every occurrence, in one pass whatever the text. */
function search(ids: Int32Array, wanted: Int32Array): number[] {
  const fallback = new Int32Array(wanted.length)
  for (let i = 1, matched = 0; i < wanted.length; i++) {
    while (matched > 0 && wanted[i] !== wanted[matched]) matched = fallback[matched - 1] as number
    if (wanted[i] === wanted[matched]) matched += 1
    fallback[i] = matched
  }
  const found: number[] = []
  for (let i = 0, matched = 0; i < ids.length; i++) {
    while (matched > 0 && ids[i] !== wanted[matched]) matched = fallback[matched - 1] as number
    if (ids[i] === wanted[matched]) matched += 1
    if (matched === wanted.length) {
      found.push(i - matched + 1)
      matched = fallback[matched - 1] as number
    }
  }
  return found
}
