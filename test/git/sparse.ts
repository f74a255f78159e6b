import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { ToolError } from '../../src/errors.ts'
import { git as gitProvider, type Repository } from '../../src/git/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/workspace/create-workspace.ts'
import { commitAll, git, newRepository, temporary } from './repositories.ts'

const FILES = [
  ...['README.md', 'root.txt', 'src/a.ts', 'src/deep/b.ts', 'src/deep/x/c.ts', 'src/other/d.ts'],
  ...['docs/e.md', 'docs/guide/f.md', 'lib/g.js', 'we*rd/in/k', 'sp ace/in/h', 'é/l'],
]

export function put(directory: string, path: string, text: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), text)
}

/** A repository with the branches `main` and `two`, which differ inside and outside of every directory. */
export const template = (() => {
  const directory = newRepository()
  for (const path of FILES) put(directory, path, `${path}\n`)
  commitAll(directory, 'one')
  git(directory, 'checkout', '-q', '-b', 'two')
  for (const path of ['src/a.ts', 'lib/g.js', 'lib/new.js', 'docs/e.md', 'top/t', 'root2']) put(directory, path, '2\n')
  rmSync(join(directory, 'src/other'), { recursive: true })
  commitAll(directory, 'two')
  git(directory, 'checkout', '-q', 'main')
  return directory
})()

export function copyOf(source: string): string {
  const directory = join(temporary(), 'copy')
  cpSync(source, directory, { recursive: true })
  // Otherwise git takes the copied files for changed ones.
  git(directory, 'status')
  return directory
}

export const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .filter((path) => !path.startsWith('.git/'))
    .sort()

/** What a sparse checkout is for git: files, index with its marks, patterns and status. */
export function stateOf(directory: string) {
  const patterns = join(directory, '.git/info/sparse-checkout')
  return {
    files: Object.fromEntries(filesIn(directory).map((path) => [path, readFileSync(join(directory, path), 'utf8')])),
    index: git(directory, '--no-optional-locks', 'ls-files', '-t', '-s'),
    patterns: existsSync(patterns) ? readFileSync(patterns, 'utf8') : undefined,
    status: git(directory, '--no-optional-locks', 'status', '--porcelain', '-uall'),
    head: git(directory, 'rev-parse', '--abbrev-ref', 'HEAD'),
  }
}

export async function open(directory: string, options: Partial<WorkspaceOptions> = {}) {
  const workspace = await createWorkspace({
    ...{ backend: nodeBackend(directory, { stateDir: temporary() }), policy: 'autonomous', shell: bash() },
    git: gitProvider({ author: { name: 'A', email: 'a@example.com' } }),
    ...options,
  })
  onTestFinished(() => workspace.close())
  const { git: own } = workspace
  if (own === undefined) throw new Error('no git')
  const run = async (command: string) => {
    const result = await workspace.call('run_command', { command })
    if (!result.ok) throw new Error(`${result.code}: ${result.message}`)
    return { stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode }
  }
  return { workspace, own, run }
}

export const DIRECTORIES = [
  'src',
  'src/deep',
  'src/deep/x',
  'docs',
  'docs/guide',
  'lib',
  'top',
  'sp ace/in',
  'é',
  'none/such',
]

/** One step, for the repository and for git itself. */
type Step =
  | { readonly do: 'set' | 'add'; readonly directories: readonly string[] }
  | { readonly do: 'reapply' | 'disable' | 'stash' | 'pop' | 'commit' | 'unstage' }
  | { readonly do: 'write' | 'remove' | 'restore' | 'stage'; readonly path: string }
  | { readonly do: 'checkout'; readonly branch: string; readonly force: boolean }

const paths = fc.constantFrom(...FILES, 'lib/new.js', 'top/t', 'docs/mine', 'lib/mine', 'mine/mine')
const directories = fc.uniqueArray(fc.constantFrom(...DIRECTORIES), { maxLength: 3 })
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('set' as const, 'add' as const), directories }),
  fc.record({ do: fc.constantFrom('reapply' as const, 'disable' as const, 'stash' as const, 'pop' as const) }),
  fc.record({ do: fc.constantFrom('commit' as const, 'unstage' as const) }),
  fc.record({
    do: fc.constantFrom('write' as const, 'remove' as const, 'restore' as const, 'stage' as const),
    path: paths,
  }),
  fc.record({ do: fc.constant('checkout' as const), branch: fc.constantFrom('main', 'two'), force: fc.boolean() }),
)

/** Runs a command of git. Returns whether it succeeds. */
function tries(directory: string, ...args: string[]): boolean {
  try {
    git(directory, ...args)
    return true
  } catch {
    return false
  }
}

function stepOfGit(directory: string, step: Step): boolean {
  switch (step.do) {
    case 'set':
    case 'add':
      return tries(directory, 'sparse-checkout', step.do, ...step.directories)
    case 'reapply':
    case 'disable':
      return tries(directory, 'sparse-checkout', step.do)
    case 'stash':
      return tries(directory, 'stash')
    case 'pop':
      return tries(directory, 'stash', 'pop')
    case 'commit':
      return tries(directory, 'commit', '-q', '--allow-empty', '-m', 'x')
    case 'unstage':
      return tries(directory, 'reset', '-q')
    case 'restore':
      return tries(directory, 'checkout', '-q', '--', step.path)
    case 'stage':
      return tries(directory, 'add', step.path)
    case 'checkout':
      return tries(directory, 'checkout', '-q', ...(step.force ? ['-f'] : []), step.branch)
    default:
      return true
  }
}

async function stepOfRepository(own: Repository, step: Step): Promise<void> {
  const enabled = async () => {
    const present = await own.sparseDirectories()
    if (present === undefined) throw new ToolError('INVALID_INPUT', 'not sparse')
    return present
  }
  if (step.do === 'set') await own.setSparseDirectories(step.directories)
  else if (step.do === 'add') await own.setSparseDirectories([...(await enabled()), ...step.directories])
  else if (step.do === 'reapply') await own.setSparseDirectories(await enabled())
  else if (step.do === 'disable') await own.setSparseDirectories(null)
  else if (step.do === 'stash') await own.stash()
  else if (step.do === 'pop') {
    await own.applyStash()
    await own.dropStash()
  } else if (step.do === 'commit') await own.commit({ message: 'x' })
  else if (step.do === 'unstage') await own.restore(['.'], { from: 'HEAD', only: 'index' })
  else if (step.do === 'restore') await own.restore([step.path])
  else if (step.do === 'stage') await own.add([step.path])
  else if (step.do === 'checkout') await own.checkout(step.branch, { force: step.force })
}

/** Paths as the shell prints them. */
function unquoted(status: string): string {
  return status.replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_, name: string) =>
    new TextDecoder().decode(
      Uint8Array.from(name.match(/\\\d{3}|[\s\S]/g) ?? [], (part) =>
        part.length > 1 ? Number.parseInt(part.slice(1), 8) : part.charCodeAt(0),
      ),
    ),
  )
}

/** Compares random sequences of steps with git, after every step. */
export async function compareSequences(numRuns: number, seed?: number): Promise<void> {
  const first = fc.record({ do: fc.constant('set' as const), directories })
  const sequences = fc.tuple(first, fc.array(steps, { minLength: 1, maxLength: 10 }))
  const property = fc.asyncProperty(sequences, async ([start, further]) => {
    const sequence = [start, ...further]
    const [ours, theirs] = [copyOf(template), copyOf(template)]
    const { own, run, workspace } = await open(ours)
    for (const [at, step] of sequence.entries()) {
      if (step.do === 'write') for (const one of [ours, theirs]) put(one, step.path, `mine ${at}\n`)
      if (step.do === 'remove') for (const one of [ours, theirs]) rmSync(join(one, step.path), { force: true })
      stepOfGit(theirs, step)
      const error = await stepOfRepository(own, step).catch((reason: unknown) => reason)
      if (error !== undefined && !(error instanceof ToolError)) throw error
      const after = stateOf(theirs)
      // Where git merges a stash with what has changed since, and leaves marks of conflicts, ours is refused and changes nothing.
      if (step.do === 'pop' && /^(?:U|.U|AA|DD)/m.test(after.status)) {
        expect(error).toMatchObject({ code: 'WRITE_CONFLICT' })
        break
      }
      const done = `${JSON.stringify(sequence.slice(0, at + 1))} ${String(error)}`
      expect({ ...stateOf(ours), done }).toEqual({ ...after, done })
      const { stdout } = await run('git status --porcelain -uall')
      expect({ status: stdout, done }).toEqual({ status: unquoted(after.status), done })
      // Otherwise git takes written files for changed ones; it also removes the marks of files that exist.
      for (const one of [ours, theirs]) git(one, 'status')
    }
    await workspace.close()
  })
  await fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed }) })
}
