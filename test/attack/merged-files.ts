import type { Workspace } from '../../src/index.ts'

/** The files of the test. Every change is of all of them. */
export const MERGED_FILES = ['a.txt', 'b/c.txt', 'b/d/e.txt'] as const

/** Who changes a line of its own in each file. */
export const writers = ['below', 'overlay', 'fork'] as const
export type Writer = (typeof writers)[number]

/** How often each writer has changed the files. */
export type Counts = Readonly<Record<Writer, number>>

const filler = Array.from({ length: 6 }, (_, line) => `unchanged ${line}\n`).join('')

/** The text of each file. Lines of writers are apart, so that changes of several merge. */
export const textOf = (counts: Counts): string => writers.map((name) => `${name}: ${counts[name]}\n${filler}`).join('')

/** Returns the counts of a text, or undefined if it has another form. */
export function countsOf(text: string): Counts | undefined {
  const numbers = writers.map((name) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1]))
  const counts = Object.fromEntries(writers.map((name, at) => [name, numbers[at]])) as unknown as Counts
  return text === textOf(counts) ? counts : undefined
}

/** Returns the texts of all files. */
export const textsOf = (workspace: Workspace): Promise<string[]> =>
  Promise.all(MERGED_FILES.map((path) => workspace.files.readText(path)))

/** Changes the line of a writer in each file as one change, and returns its count. */
export async function increment(workspace: Workspace, writer: Writer): Promise<number> {
  return workspace.files.batch(async (files) => {
    let count = 0
    for (const path of MERGED_FILES) {
      const counts = countsOf(await files.readText(path))
      if (counts === undefined) throw new Error(`${path} is torn`)
      count = counts[writer] + 1
      await files.write(path, textOf({ ...counts, [writer]: count }))
    }
    return count
  })
}
