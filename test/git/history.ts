import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type MemoryEntry, memory } from '../../src/backends/memory/index.ts'
import { parsePath } from '../../src/paths/logical-path.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { entriesOf, git, temporary, treeAfterApply } from './repositories.ts'

export interface HistoryResult {
  readonly commits: number
  /** Diffs with which `git apply` produced the commit's tree. */
  readonly exact: number
  /** Skipped: commits with links, submodules, or names that the guard refuses. */
  readonly leftOut: number
  /** Commits whose diff has more marks than that of git, and which it reproduces but for lines with marks. */
  readonly masked: number
  readonly wrong: readonly string[]
}

const policy = {
  preset: 'autonomous',
  rules: [
    {
      name: 'as committed',
      action: 'allow',
      overrides: ['secret', 'generated', 'vendored', 'lockfile', 'binary', 'mode'],
    },
  ],
} as const

/**
 * Writes the tree of every `step`th commit into a workspace whose HEAD is the commit's parent. `git apply` of the
 * workspace diff must produce the commit's tree.
 */
export async function diffHistory(
  repository: string,
  step = 1,
  max = Number.POSITIVE_INFINITY,
): Promise<HistoryResult> {
  const bare = temporary()
  // A few merges may precede the last of these commits.
  const depth = Number.isFinite(max) ? ['--depth', String(max * step + 20)] : []
  git(bare, 'clone', '-q', '--bare', '--no-hardlinks', ...depth, `file://${repository}`, '.git')
  git(bare, 'config', 'core.bare', 'false')
  // Packs all objects here, because a workspace does not read objects of alternates.
  git(bare, 'repack', '-adq')
  rmSync(join(bare, '.git/objects/info/alternates'), { force: true })
  const repositoryFiles = Object.entries(entriesOf(bare)).filter(([path]) => !path.endsWith('.sample'))
  const commits = git(bare, 'log', '--no-merges', '--min-parents=1', '--format=%H %P')
    .trim()
    .split('\n')
    .filter((line, i) => line !== '' && i % step === 0)
    .slice(0, max)
  let exact = 0
  let leftOut = 0
  let masked = 0
  const wrong: string[] = []
  for (const line of commits) {
    const [commit = '', parent = ''] = line.split(' ')
    const files = treeEntries(bare, commit)
    if (files === undefined || treeEntries(bare, parent) === undefined) {
      leftOut += 1
      continue
    }
    const entries = Object.fromEntries([...repositoryFiles, ['.git/HEAD', `${parent}\n`], ...Object.entries(files)])
    const backend = memory(entries as Record<string, MemoryEntry>)
    const workspace = await createWorkspace({
      backend,
      policy,
      limits: { diffBytesHard: 1 << 30, projectionBytes: 1 << 30 },
    })
    const result = await workspace.call('diff_workspace', { maxBytes: 1 << 30 })
    await workspace.close()
    if (!result.ok) {
      wrong.push(`${commit} ${result.message}`)
      continue
    }
    const diff = result.diff as string
    const hasMarks = marksIn(diff) > marksIn(git(bare, 'diff', parent, commit))
    const says = result.warnings.some((warning) => warning.includes('shown as marks'))
    try {
      const tree = treeAfterApply(bare, parent, diff)
      const others = git(bare, 'diff', '-U0', commit, tree)
      const isMasked = hasMarks && says && /^\+(?!\+\+)/m.test(others) && !/^\+(?!\+\+)(?!.*\[REDACTED:)/m.test(others)
      if (result.baseCommit !== parent) wrong.push(`${commit} has the base ${result.baseCommit}`)
      else if (others === '') exact += 1
      else if (isMasked) masked += 1
      else wrong.push(`${commit} another tree: ${others.slice(0, 2000)}`)
    } catch (error) {
      // A mark in a line that the diff keeps or removes fits nothing.
      if (hasMarks && says) masked += 1
      else wrong.push(`${commit} ${String((error as { stderr?: string }).stderr ?? error).slice(0, 200)}`)
    }
  }
  return { commits: commits.length, exact, leftOut, masked, wrong }
}

const marksIn = (text: string): number => text.split('[REDACTED:').length - 1

/** The files of a commit; `undefined` if a workspace cannot contain all of them. */
function treeEntries(directory: string, commit: string): Record<string, MemoryEntry> | undefined {
  const list = execFileSync('git', ['ls-tree', '-r', '-z', commit], { cwd: directory, maxBuffer: 1 << 30 }).toString(
    'utf8',
  )
  const matches: { path: string; mode: string; id: string }[] = []
  for (const entry of list.split('\0')) {
    if (entry === '') continue
    const [, mode = '', id = '', path = ''] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(entry) ?? []
    try {
      if (mode === '120000' || mode === '160000' || path.includes('\ufffd') || parsePath(path) !== path)
        return undefined
    } catch {
      return undefined
    }
    matches.push({ path, mode, id })
  }
  const contents = execFileSync('git', ['cat-file', '--batch'], {
    cwd: directory,
    input: matches.map(({ id }) => `${id}\n`).join(''),
    maxBuffer: 1 << 30,
  })
  const files: Record<string, MemoryEntry> = {}
  let at = 0
  for (const { path, mode } of matches) {
    const end = contents.indexOf(10, at)
    const size = Number(contents.subarray(at, end).toString().split(' ')[2])
    const bytes = new Uint8Array(contents.subarray(end + 1, end + 1 + size))
    files[path] = { bytes, mode: mode === '100755' ? 0o755 : 0o644 }
    at = end + size + 2
  }
  return files
}
