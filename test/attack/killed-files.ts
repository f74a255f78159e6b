/** The files that the victim writes. Their content shows whether a file is complete or torn. */
export const SINGLE = 'single.txt'
export const SET_FILES = ['set-a.txt', 'sub/set-b.txt', 'sub/deep/set-c.txt']

/** The content of a generation. Generations differ in length and in every line. */
export function contentOf(path: string, generation: number): Uint8Array {
  const lines: string[] = []
  const count = 200 + (generation % 7) * 150
  for (let i = 0; i < count; i++) lines.push(`${path} of generation ${generation}, line ${i} of ${count}\n`)
  return new TextEncoder().encode(lines.join(''))
}

/** The generation that the content of a file states. */
export function generationOf(text: string): number {
  return Number(/ of generation (\d+),/.exec(text)?.[1] ?? Number.NaN)
}
