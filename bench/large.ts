import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { nodeBackend } from '../dist/backends/node/index.js'
import { createWorkspace } from '../dist/index.js'
import { makeCorpus } from './corpus.ts'
import { git, makeRepository } from './git.ts'
import { heading, median, medians, must, report } from './measure.ts'

const FILES = 60_000
const ALL = 1_000_000
const limits = {
  ...{ searchMatches: ALL, searchMatchesHard: ALL, findResults: ALL, projectionBytes: 2 ** 30 },
  ...{ searchTimeoutMs: 60_000, callsPerMinute: Number.MAX_SAFE_INTEGER },
}

/** Finding, searching and comparing a repository of 60,000 files on disk, against native `rg` and `git` processes. */
export async function benchLarge(): Promise<void> {
  const corpus = makeCorpus(FILES)
  const stateDir = mkdtempSync(join(tmpdir(), 'wardspace-bench-state-'))
  try {
    const { root } = corpus
    heading(`A repository of ${corpus.count} files on disk, ${(corpus.bytes / 2 ** 20).toFixed(0)} MiB`)
    await makeRepository(root)
    await benchReads(root)
    await benchDiff(root, stateDir)
  } finally {
    corpus.remove()
    rmSync(stateDir, { recursive: true, force: true })
  }
}

async function benchReads(root: string): Promise<void> {
  const workspace = await createWorkspace({ backend: nodeBackend(root), policy: 'autonomous', limits })
  const rg = (...words: readonly string[]) => spawnSync(rgPath, words, { cwd: root, maxBuffer: 2 ** 28 })
  const search = (query: string, mode: 'literal' | 'regex') => () =>
    must(workspace.call('search_text', { query, mode, caseSensitive: true, filesOnly: true, maxMatches: ALL }))
  const pattern = 'function\\s+\\w+\\('
  const times = await medians(5, {
    rgFiles: () => rg('--files', '-j1', '.'),
    find: () => must(workspace.call('find_files', { pattern: '**/*.md' })),
    rgRare: () => rg('-j1', '-c', '-F', 'useCapture', '.'),
    rgRareTwo: () => rg('-j2', '-c', '-F', 'useCapture', '.'),
    rare: search('useCapture', 'literal'),
    rgPattern: () => rg('-j1', '-c', pattern, '.'),
    pattern: search(pattern, 'regex'),
  })
  await workspace.close()
  report('find_files, rg --files -j1', times.find, times.rgFiles, 1.6, { goal: 1.2 })
  report('search_text, a rare literal, rg -j1', times.rare, times.rgRare, 2.3, { goal: 1.5 })
  report('the same, rg -j2', times.rare, times.rgRareTwo, Number.POSITIVE_INFINITY)
  report('search_text, a pattern with a literal, rg -j1', times.pattern, times.rgPattern, 3.2, { goal: 1.5 })
}

/** Ten of the files are edited once more before each diff. */
async function benchDiff(root: string, stateDir: string): Promise<void> {
  const paths = git(root, 'ls-files', '*.js').split('\n').slice(0, -1)
  const chosen = Array.from({ length: 10 }, (_, i) => join(root, paths[Math.floor((i * paths.length) / 10)] ?? ''))
  const texts = chosen.map((path) => readFileSync(path, 'utf8'))
  let round = 0
  const edit = () => {
    round += 1
    for (const [i, path] of chosen.entries()) writeFileSync(path, `${texts[i]}// edited ${round}\n`)
  }
  edit()
  const first: number[] = []
  for (let i = 0; i < 3; i++)
    first.push(Number(execFileSync(process.execPath, [join(import.meta.dirname, 'first-diff.js'), root, stateDir])))
  const workspace = await createWorkspace({ backend: nodeBackend(root, { stateDir }), policy: 'autonomous', limits })
  const times = await medians(7, {
    edit,
    git: () => git(root, 'diff'),
    editAgain: edit,
    diff: () => must(workspace.call('diff_workspace', {})),
  })
  await workspace.close()
  report('diff_workspace, 10 edited, git diff', times.diff, times.git, 3.5, { goal: 1.7 })
  report('the first in a process, 10 edited, git diff', median(first), times.git, 18, { goal: 5 })
}
