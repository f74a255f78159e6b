/** What the victim of the kills writes, so that the test can tell whole from torn. */
export const SINGLE = 'single.txt'
export const SET_FILES = ['set-a.txt', 'sub/set-b.txt', 'sub/deep/set-c.txt']

/** Of every generation another content, of another length, and every line of it told apart. */
export function contentOf(path: string, generation: number): Uint8Array {
  const lines: string[] = []
  const count = 200 + (generation % 7) * 150
  for (let i = 0; i < count; i++) lines.push(`${path} of generation ${generation}, line ${i} of ${count}\n`)
  return new TextEncoder().encode(lines.join(''))
}

export function generationOf(text: string): number {
  return Number(/ of generation (\d+),/.exec(text)?.[1] ?? Number.NaN)
}
