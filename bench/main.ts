import { benchCalls } from './calls.ts'
import { benchDiff } from './diff.ts'
import { benchGit } from './git.ts'
import { benchGlobs } from './globs.ts'
import { benchHostile } from './hostile.ts'
import { benchObjectStore } from './object-store.ts'
import { benchPatch } from './patch.ts'
import { benchSearch } from './search.ts'
import { benchShell } from './shell.ts'

/** Runs all benchmarks, as ratios against a reference in the same run. Arguments select the benchmarks to run. */
const parts: Readonly<Record<string, () => Promise<void>>> = {
  calls: benchCalls,
  diff: benchDiff,
  git: benchGit,
  globs: benchGlobs,
  hostile: benchHostile,
  'object-store': benchObjectStore,
  patch: benchPatch,
  search: benchSearch,
  shell: benchShell,
}

const expected = process.argv.slice(2)
for (const [name, run] of Object.entries(parts)) {
  if (expected.length === 0 || expected.includes(name)) await run()
}
