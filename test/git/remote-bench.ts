import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MemoryBackend, memory } from '../../src/backends/memory/index.ts'
import { git } from '../../src/git/index.ts'
import type { CredentialsSource } from '../../src/git/provider.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../src/workspace/create-workspace.ts'
import { serveGit } from './http-server.ts'
import { commitAll, entriesOf, newRepository, git as realGit, temporary } from './repositories.ts'

export const ACCOUNT = { username: 'ada', password: 'correct-horse-battery' } as const

/** A repository on a server, and a clone of it with a commit that the server lacks. */
export interface RemoteBench {
  readonly url: string
  /** The bare repository of the server, on the disk. */
  readonly bare: string
  readonly backend: MemoryBackend
  readonly workspace: Workspace
  /** The repository of the workspace. */
  readonly repository: NonNullable<Workspace['git']>
  /** The commits of the branch on the server, or `''` if the branch does not exist. */
  at(branch?: string): string
}

type ServeOptions = NonNullable<Parameters<typeof serveGit>[1]>

/** Serves repositories by the real git, each a copy of one history: `main` with two commits, `topic` with another. */
export async function serveRemotes(options: ServeOptions = {}) {
  const root = temporary()
  const source = newRepository()
  writeFileSync(join(source, 'a.txt'), 'one\n')
  commitAll(source, 'first')
  realGit(source, 'checkout', '-q', '-b', 'topic')
  writeFileSync(join(source, 'b.txt'), 'topic\n')
  const topic = commitAll(source, 'on topic')
  realGit(source, 'checkout', '-q', 'main')
  writeFileSync(join(source, 'a.txt'), 'one\ntwo\n')
  const second = commitAll(source, 'second')
  const bare = join(root, 'template.git')
  realGit(root, 'clone', '-q', '--bare', '--template=', source, bare)
  mkdirSync(join(bare, 'hooks'))
  const clone = join(temporary(), 'clone')
  realGit(root, 'clone', '-q', bare, clone)
  realGit(clone, 'branch', '-q', 'topic', 'origin/topic')
  writeFileSync(join(clone, 'a.txt'), 'one\ntwo\nthree\n')
  const third = commitAll(clone, 'third')
  const entries = entriesOf(clone)
  const server = await serveGit(root, { account: `${ACCOUNT.username}:${ACCOUNT.password}`, ...options })
  let count = 0

  /** Copies the repository of the server. Returns its address. */
  function copy(): { readonly url: string; readonly bare: string } {
    const name = `x${count++}.git`
    cpSync(bare, join(root, name), { recursive: true })
    return { url: `${server.url}/${name}`, bare: join(root, name) }
  }

  /** The files of the clone, for another address. */
  function filesFor(url: string): ReturnType<typeof entriesOf> {
    const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n`
    return { ...entries, '.git/config': config }
  }

  async function open(
    more: Partial<WorkspaceOptions> & {
      readonly credentials?: CredentialsSource | null
      readonly address?: string
    } = {},
  ): Promise<RemoteBench> {
    const { credentials = () => ACCOUNT, address, ...workspaceOptions } = more
    const remote = copy()
    const url = address === undefined ? remote.url : `${address}/${remote.url.split('/').at(-1)}`
    const backend = memory(filesFor(url))
    const { host } = new URL(url)
    const workspace = await createWorkspace({
      policy: { preset: 'autonomous', network: { hosts: [host] } },
      git: git(credentials === null ? {} : { credentials }),
      ...workspaceOptions,
      backend,
    })
    const repository = workspace.git
    if (repository === undefined) throw new Error('no git')
    const at = (branch = 'main') => {
      const loose = join(remote.bare, 'refs/heads', branch)
      if (existsSync(loose)) return readFileSync(loose, 'utf8').trim()
      const packed = readFileSync(join(remote.bare, 'packed-refs'), 'utf8').split('\n')
      return packed.find((line) => line.endsWith(` refs/heads/${branch}`))?.slice(0, 40) ?? ''
    }
    return { url, bare: remote.bare, backend, workspace, repository, at }
  }

  return {
    ...server,
    root,
    clone,
    first: realGit(clone, 'rev-parse', 'main~2').trim(),
    second,
    third,
    topic,
    copy,
    open,
  }
}

/** Runs the real git while this program serves it. */
export async function gitAsync(cwd: string, ...args: string[]) {
  const child = spawn('git', args, {
    cwd,
    env: { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { exitCode, stdout, stderr }
}
