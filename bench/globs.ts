import picomatch from 'picomatch'
import { compileGlob } from '../src/paths/glob.ts'
import { heading, medians, report } from './measure.ts'

/** Ordinary patterns, each on 20,000 paths, and patterns that make a backtracking matcher slow, each on one name. */
export async function benchGlobs(): Promise<void> {
  heading('Globs, compiled and matched, against picomatch')
  const paths = Array.from(
    { length: 20_000 },
    (_, i) => `packages/p${i % 40}/src/part${i % 700}/file-${i}.${endings[i % 4]}`,
  )
  for (const pattern of [
    '**/*.ts',
    'packages/*/src/**',
    '**/file-1*.{ts,js}',
    'packages/p1/src/part1/file-1.ts',
    '**/[a-f]*.md',
  ]) {
    await against(pattern, paths)
  }
  for (const [pattern, path] of hostile) await against(pattern, [path])
}

const endings = ['ts', 'js', 'md', 'json'] as const

/** Each further star multiplies the time of picomatch. Its rows are small enough to end. */
const hostile: readonly (readonly [pattern: string, path: string])[] = [
  ['*a*a*a*b', 'a'.repeat(60)],
  ['*a*a*a*a*b', 'a'.repeat(60)],
  ['*a*a*a*a*a*b', 'a'.repeat(60)],
  ['**/*a*a*a*a*b', `${'a/'.repeat(10)}${'a'.repeat(40)}`],
]

async function against(pattern: string, paths: readonly string[]): Promise<void> {
  const counts = { ours: 0, picomatch: 0 }
  const times = await medians(5, {
    ours: () => {
      const { matches } = compileGlob(pattern)
      counts.ours = paths.filter((path) => matches(path)).length
    },
    picomatch: () => {
      const matches = picomatch(pattern, { dot: true })
      counts.picomatch = paths.filter((path) => matches(path)).length
    },
  })
  if (counts.ours !== counts.picomatch) console.log(`NOT THE SAME: ${counts.ours} against ${counts.picomatch}`)
  const name = paths.length === 1 ? `${pattern} on ${paths[0]?.length} characters` : pattern
  report(name, times.ours, times.picomatch, paths.length === 1 ? 0.5 : Number.POSITIVE_INFINITY)
}
