import { benchCalls } from './calls.ts'
import { benchDiff } from './diff.ts'
import { benchGit } from './git.ts'
import { benchGlobs } from './globs.ts'
import { benchHostile } from './hostile.ts'
import { benchLarge } from './large.ts'
import { benchMcp } from './mcp.ts'
import { benchObjectStore } from './object-store.ts'
import { benchPatch } from './patch.ts'
import { severalRuns } from './runs.ts'
import { benchScale } from './scale.ts'
import { benchSearch } from './search.ts'
import { benchShell } from './shell.ts'

/** Runs all benchmarks, as ratios against a reference in the same run. Arguments select the benchmarks to run. */
const parts: Readonly<Record<string, () => Promise<void>>> = {
  calls: benchCalls,
  diff: benchDiff,
  git: benchGit,
  globs: benchGlobs,
  hostile: benchHostile,
  large: benchLarge,
  mcp: benchMcp,
  'object-store': benchObjectStore,
  patch: benchPatch,
  scale: benchScale,
  search: benchSearch,
  shell: benchShell,
}

// Numbers and options belong to a benchmark.
const expected = process.argv.slice(2).filter((word) => !/^(?:\d+|--.*)$/.test(word))
const unknown = expected.find((name) => !Object.hasOwn(parts, name))
if (unknown !== undefined) throw new Error(`There is no benchmark "${unknown}", only: ${Object.keys(parts).join(', ')}`)
const runs = process.argv.find((word) => word.startsWith('--runs='))
const chosen = expected.length === 0 ? Object.keys(parts) : expected
if (runs !== undefined) {
  // The curves have tables of their own.
  const names = chosen.filter((name) => name !== 'scale')
  severalRuns(names, Number(runs.slice('--runs='.length)), process.argv.includes('--write'))
} else {
  for (const name of chosen) await parts[name]?.()
}
