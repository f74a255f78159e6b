import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory } from '../dist/backends/memory/index.js'
import { nodeBackend } from '../dist/backends/node/index.js'
import { openRepository } from '../dist/git/index.js'
import { type Backend, createWorkspace } from '../dist/index.js'
import { makeCorpus } from './corpus.ts'
import { heading, median, medians, report } from './measure.ts'

/** Warm-up rounds, until the code is compiled as in a long-running process, and measured rounds. */
const WARM_UP = 12
const ROUNDS = 15

/** Runs git without the configuration of the user. */
export function git(cwd: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  const identity = [
    '-c',
    'user.name=A',
    '-c',
    'user.email=a@example.com',
    '-c',
    'core.autocrlf=false',
    '-c',
    'gc.auto=0',
  ]
  return execFileSync('git', [...identity, ...args], { cwd, env, encoding: 'utf8', maxBuffer: 1 << 30 })
}

/** Makes a directory a repository whose only commit, in one pack, has all of its files. */
function commitAll(root: string): void {
  git(root, 'init', '-q')
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'x')
  git(root, 'gc', '-q')
}

/** {@link commitAll}, with an index that git trusts, as in a repository that was not just created. */
export async function makeRepository(root: string): Promise<void> {
  execFileSync('find', [root, '-type', 'f', '-exec', 'chmod', '644', '{}', '+'])
  commitAll(root)
  // Git trusts its index only for files that are older than it.
  await new Promise((later) => setTimeout(later, 2500))
  git(root, 'status')
}

function gitFiles(root: string): Record<string, Uint8Array> {
  const files: Record<string, Uint8Array> = {}
  const names = execFileSync('find', ['.git', '-type', 'f'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
  for (const name of names.split('\n').filter((one) => one !== ''))
    files[name] = new Uint8Array(readFileSync(join(root, name)))
  return files
}

/** `diff_workspace` against a `git diff` process, after one more edit each time, and a first checkout. */
export async function benchGit(): Promise<void> {
  heading('Diff of a workspace, and a checkout')
  for (const count of process.env.BENCH_LARGE === undefined ? [2500] : [2500, 25_000]) {
    const corpus = makeCorpus(count)
    const state = mkdtempSync(join(tmpdir(), 'wardspace-bench-state-'))
    try {
      const { root } = corpus
      await makeRepository(root)
      const paths = git(root, 'ls-files', '-z')
        .split('\0')
        .filter((path) => /\.[jt]s$/.test(path) && !/secret|\.env/.test(path))
      for (const edited of [1, 10, 100]) {
        const chosen = Array.from(
          { length: edited },
          (_, i) => paths[Math.floor((i * paths.length) / edited)] as string,
        )
        const text = chosen.map((path) => readFileSync(join(root, path), 'utf8'))
        let round = 0
        const edit = () => {
          round += 1
          return text.map((old) => `${old}// edited ${round}\n`)
        }
        const inMemory = memory({
          ...corpus.files(),
          ...gitFiles(root),
          '.gitignore': readFileSync(join(root, '.gitignore'), 'utf8'),
        })
        const onDisk = nodeBackend(root, { stateDir: state })
        const workspaces = [inMemory, onDisk].map((backend) => createWorkspace({ backend, policy: 'autonomous' }))
        const [first, second] = (await Promise.all(workspaces)) as [
          Awaited<(typeof workspaces)[0]>,
          Awaited<(typeof workspaces)[0]>,
        ]
        const diff = async (workspace: typeof first) => {
          const result = await workspace.call('diff_workspace', {})
          if (!result.ok || result.filesChanged !== edited)
            throw new Error(`diff_workspace: ${JSON.stringify(result).slice(0, 500)}`)
        }
        const write = async (backend: Backend, contents: readonly string[]) => {
          await backend.commit(
            chosen.map((path, i) => ({
              path: path as never,
              expect: 'any',
              to: { type: 'file', bytes: new TextEncoder().encode(contents[i]) },
            })),
            { durability: 'relaxed' },
          )
        }
        const times: Record<'memory' | 'node' | 'git', number[]> = { memory: [], node: [], git: [] }
        const timed = async (label: keyof typeof times, act: () => unknown) => {
          const started = performance.now()
          await act()
          times[label].push(performance.now() - started)
        }
        for (let i = 0; i < WARM_UP + ROUNDS; i++) {
          const contents = edit()
          await write(inMemory, contents)
          for (const [at, path] of chosen.entries()) writeFileSync(join(root, path), contents[at] as string)
          await timed('memory', () => diff(first))
          await timed('git', () => git(root, 'diff'))
          await timed('node', () => diff(second))
        }
        const middle = (all: number[]) => median(all.slice(WARM_UP))
        report(
          `diff_workspace, memory, ${count} files, ${edited} edited`,
          middle(times.memory),
          middle(times.git),
          edited === 100 ? 0.5 : 0.2,
          edited === 100 ? {} : { goal: 0.05 },
        )
        report(
          `diff_workspace, node, ${count} files, ${edited} edited`,
          middle(times.node),
          middle(times.git),
          count > 2500 ? 1.7 : 1.1,
        )
        await first.close()
        await second.close()
        git(root, 'checkout', '-q', '.')
      }
    } finally {
      corpus.remove()
      rmSync(state, { recursive: true, force: true })
    }
  }
  await benchCheckout()
}

/** HEAD of a pack of about 13 MB, checked out into memory and by git. */
async function benchCheckout(): Promise<void> {
  const corpus = makeCorpus(PACKED_FILES)
  const fresh = mkdtempSync(join(tmpdir(), 'wardspace-bench-checkout-'))
  try {
    const { root } = corpus
    commitAll(root)
    const files = gitFiles(root)
    const took = await medians(5, {
      ours: async () => {
        const backend = memory(files)
        const repository = openRepository({
          backend,
          mayRead: () => true,
          now: Date.now,
          change: async (changes) => void (await backend.commit(changes, { durability: 'durable' })),
        })
        await repository.checkout('HEAD', { force: true })
      },
      git: () => {
        rmSync(fresh, { recursive: true, force: true })
        mkdirSync(fresh)
        git(root, `--work-tree=${fresh}`, 'checkout', '-q', '-f', 'HEAD', '--', '.')
      },
    })
    const packs = Object.entries(files).filter(([name]) => name.endsWith('.pack'))
    const size = (packs.reduce((sum, [, { length }]) => sum + length, 0) / 1e6).toFixed(1)
    report(`checkout into memory, pack of ${size} MB, ${corpus.count} files`, took.ours, took.git, 1.5)
  } finally {
    corpus.remove()
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Number of files of installed packages that make a pack of about 13 MB. */
const PACKED_FILES = 7000
