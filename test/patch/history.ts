import { spawnSync } from 'node:child_process'
import { patchInMemory } from './against-git.ts'
import { type FileTree, plainTree } from './trees.ts'

/** The results of applying the diff of each commit to its parent's tree. */
export interface HistoryFigures {
  commits: number
  /** Commits whose tree was reproduced. */
  equal: number
  /** Skipped: commits with links, submodules, names that SPEC §3 refuses, or a diff that is not UTF-8. */
  leftOut: number
  readonly wrong: string[]
}

/** Applies the diff of each of the newest `max` commits to its parent's tree in memory, and compares the trees. */
export async function replayHistory(repository: string, max: number): Promise<HistoryFigures> {
  const git = (args: readonly string[], input?: string | Buffer): Buffer =>
    spawnSync('git', ['-C', repository, ...args], { maxBuffer: 1 << 30, ...(input === undefined ? {} : { input }) })
      .stdout
  const commits = git(['rev-list', '--no-merges', `--max-count=${max}`, 'HEAD'])
    .toString()
    .trim()
    .split('\n')
  const figures: HistoryFigures = { commits: 0, equal: 0, leftOut: 0, wrong: [] }
  for (const commit of commits) {
    const [, parent] = git(['rev-list', '--parents', '-n1', commit]).toString().trim().split(' ')
    const base = parent ?? git(['hash-object', '-t', 'tree', '--stdin'], '').toString().trim()
    figures.commits += 1
    const raw = git(['diff', '--raw', '-z', '-M', base, commit]).toString()
    if (raw === '') {
      figures.equal += 1
      continue
    }
    const patch = git(['diff', '--binary', '--full-index', '-M', base, commit])
    const text = patch.toString('utf8')
    if (/:(?:120000|160000) |:\d+ (?:120000|160000) /.test(raw) || !Buffer.from(text).equals(patch)) {
      figures.leftOut += 1
      continue
    }
    const names = touched(raw)
    const before = treeOf(base, names)
    const after = treeOf(commit, names)
    const { answer, tree } = await patchInMemory(before, text)
    if (!answer.ok && answer.code === 'PATH_REJECTED') figures.leftOut += 1
    else if (JSON.stringify(plainTree(tree)) === JSON.stringify(plainTree(after))) figures.equal += 1
    else figures.wrong.push(`${commit}: ${answer.message ?? 'another tree'}`)
  }
  return figures

  /** The files of a tree that the diff names. The diff does not change the others. */
  function treeOf(tree: string, names: ReadonlySet<string>): FileTree {
    const files: FileTree = new Map()
    const listed = git(['ls-tree', '-r', '-z', '--full-tree', tree]).toString().split('\0').slice(0, -1)
    const expected = listed
      .map((row) => /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(row) as RegExpExecArray)
      .filter(([, , , , name]) => names.has(name as string))
    const blobs = git(['cat-file', '--batch'], expected.map(([, , , id]) => `${id}\n`).join(''))
    let at = 0
    for (const [, mode, , , name] of expected) {
      const end = blobs.indexOf(10, at)
      const size = Number(blobs.subarray(at, end).toString().split(' ')[2])
      files.set(name as string, { bytes: blobs.subarray(end + 1, end + 1 + size), executable: mode === '100755' })
      at = end + 1 + size + 1
    }
    return files
  }
}

/** The names in the output of `git diff --raw -z`. */
function touched(raw: string): Set<string> {
  const fields = raw.split('\0')
  const names = new Set<string>()
  for (let i = 0; i < fields.length - 1; ) {
    const isTwo = /[RC]\d*$/.test(fields[i] as string)
    names.add(fields[i + 1] as string)
    if (isTwo) names.add(fields[i + 2] as string)
    i += isTwo ? 3 : 2
  }
  return names
}
