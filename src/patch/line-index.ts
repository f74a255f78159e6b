import { ToolError } from '../errors.ts'

/** An index that finds runs of lines in a text. */
export interface LineIndex {
  /**
   * Returns where the run occurs in the text: the numbers of its first line from 0, ascending. The cost is the number of
   * occurrences of its rarest line, or one pass over the text if that is less.
   *
   * @throws ToolError `LIMIT_EXCEEDED` if all searches together cost too much, as with a hostile text
   */
  occurrences(run: readonly string[]): number[]
}

/** Indexes the lines of a text by their content. */
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
  // `positions` groups the lines by id, in order; those of an id start at `first[id]`.
  const first = new Int32Array(numbers.size + 1)
  for (const id of ids) first[id + 1] = (first[id + 1] as number) + 1
  for (let id = 0; id < numbers.size; id++) first[id + 1] = (first[id + 1] as number) + (first[id] as number)
  const next = first.slice()
  const positions = new Int32Array(count)
  for (let line = 0; line < count; line++) {
    const id = ids[line] as number
    positions[next[id] as number] = line
    next[id] = (next[id] as number) + 1
  }
  let left = FREE_WORK + WORK_PER_LINE * count

  function spend(work: number): void {
    left -= work
    if (left < 0) {
      throw new ToolError('LIMIT_EXCEEDED', 'Cannot locate the hunks: they are too far from their stated lines', {
        hint: 'Create the patch again from the current file.',
      })
    }
  }

  return {
    occurrences(run) {
      const runIds = new Int32Array(run.length)
      let rarest = 0
      let fewest = Number.POSITIVE_INFINITY
      for (let i = 0; i < run.length; i++) {
        const id = numbers.get(run[i] as string)
        if (id === undefined) return []
        runIds[i] = id
        const times = (first[id + 1] as number) - (first[id] as number)
        if (times < fewest) {
          fewest = times
          rarest = i
        }
      }
      const matches: number[] = []
      const id = runIds[rarest] as number
      let work = 0
      for (let at = first[id] as number; at < (first[id + 1] as number); at++) {
        const start = (positions[at] as number) - rarest
        work += 1
        if (start < 0 || start + run.length > count) continue
        let equal = 0
        while (equal < run.length && ids[start + equal] === runIds[equal]) equal += 1
        work += equal
        if (equal === run.length) matches.push(start)
        if (work > 2 * count + run.length) {
          spend(work + 2 * (count + run.length))
          return search(ids, runIds)
        }
      }
      spend(work)
      return matches
    },
  }
}

const FREE_WORK = 20_000_000
const WORK_PER_LINE = 64

/** Finds every occurrence in one pass (Knuth–Morris–Pratt). */
function search(ids: Int32Array, run: Int32Array): number[] {
  const fallback = new Int32Array(run.length)
  for (let i = 1, matched = 0; i < run.length; i++) {
    while (matched > 0 && run[i] !== run[matched]) matched = fallback[matched - 1] as number
    if (run[i] === run[matched]) matched += 1
    fallback[i] = matched
  }
  const matches: number[] = []
  for (let i = 0, matched = 0; i < ids.length; i++) {
    while (matched > 0 && ids[i] !== run[matched]) matched = fallback[matched - 1] as number
    if (ids[i] === run[matched]) matched += 1
    if (matched === run.length) {
      matches.push(i - matched + 1)
      matched = fallback[matched - 1] as number
    }
  }
  return matches
}
