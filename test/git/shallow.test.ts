import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { git as gitProvider } from '../../src/git/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { serveGit } from './http-server.ts'
import { commitAll, git, newRepository, temporary } from './repositories.ts'

/** A history of ten commits with a merge, and a branch that parts from its fifth commit. */
function history(): string {
  const directory = newRepository()
  for (let i = 0; i < 10; i++) {
    writeFileSync(join(directory, 'a.txt'), `${i}\n`)
    commitAll(directory, `commit ${i}`)
    if (i === 4) git(directory, 'branch', 'topic')
  }
  git(directory, 'checkout', '-q', 'topic')
  writeFileSync(join(directory, 'b.txt'), 'topic\n')
  commitAll(directory, 'on topic')
  git(directory, 'checkout', '-q', 'main')
  git(directory, 'merge', '-q', '--no-ff', '-m', 'merge', 'topic')
  return directory
}

const root = temporary()
git(root, 'clone', '-q', '--bare', history(), 'x.git')
git(join(root, 'x.git'), 'config', 'http.receivepack', 'true')
const server = await serveGit(root)
afterAll(() => server.close())
const url = `${server.url}/x.git`

async function open() {
  const directory = temporary()
  const workspace = await createWorkspace({
    backend: nodeBackend(directory, { stateDir: temporary() }),
    policy: { preset: 'autonomous', network: { hosts: [new URL(url).host] } },
    shell: bash(),
    git: gitProvider({ author: { name: 'A', email: 'a@example.com' } }),
  })
  onTestFinished(() => workspace.close())
  const { git: own } = workspace
  if (own === undefined) throw new Error('no git')
  const run = async (command: string) => {
    const result = await workspace.call('run_command', { command })
    if (!result.ok) throw new Error(result.message)
    return result
  }
  return { directory, own, run }
}

/** A clone of the real git with the same options: not over HTTP, as the server of this process cannot answer meanwhile. */
function cloned(...options: string[]): string {
  const directory = join(temporary(), 'clone')
  git(root, 'clone', '-q', ...options, `file://${join(root, 'x.git')}`, directory)
  return directory
}

const logOf = (directory: string, ref = 'HEAD') => git(directory, 'log', '--format=%H', ref).trim().split('\n')
const boundaryOf = (directory: string) =>
  readFileSync(join(directory, '.git/shallow'), 'utf8').trim().split('\n').sort()

describe('a shallow clone', () => {
  it.each([1, 3, 100])('of %i commits has the history, the boundary and the files that git clones', async (depth) => {
    const { directory, own } = await open()
    await own.clone(url, { depth })
    const expected = cloned('--depth', String(depth), '--no-single-branch')
    expect(logOf(directory).sort()).toEqual(logOf(expected).sort())
    expect((await own.log()).map(({ commit }) => commit).sort()).toEqual(logOf(expected).sort())
    if (depth < 100) expect(boundaryOf(directory)).toEqual(boundaryOf(expected))
    expect(git(directory, 'fsck')).toBe('')
    expect(git(directory, 'status', '--porcelain')).toBe('')
  })

  it('fetches one branch only, if it is named', async () => {
    const { directory, own } = await open()
    await own.clone(url, { ref: 'topic', depth: 2 })
    const expected = cloned('--depth', '2', '--branch', 'topic', '--single-branch')
    expect(logOf(directory)).toEqual(logOf(expected))
    expect(boundaryOf(directory)).toEqual(boundaryOf(expected))
    const branches = (where: string) => git(where, 'branch', '-r', '--format=%(refname)').trim().split('\n')
    expect(branches(directory)).toEqual(['refs/remotes/origin/topic'])
    expect(await own.currentBranch()).toBe('topic')
  })

  it('is deepened by a fetch, and then whole', async () => {
    const { directory, own } = await open()
    await own.clone(url, { depth: 1 })
    expect(logOf(directory)).toHaveLength(1)
    await own.fetch({ depth: 4 })
    const expected = cloned('--depth', '4', '--no-single-branch')
    expect(logOf(directory).sort()).toEqual(logOf(expected).sort())
    await own.fetch({ depth: 1000 })
    expect(logOf(directory)).toHaveLength(12)
    expect(git(directory, 'fsck')).toBe('')
  })

  it('takes commits, which reach the server whole', async () => {
    const { directory, own, run } = await open()
    await run(`git clone -q --depth 1 ${url} .`)
    await run('echo changed > a.txt; git add a.txt; git commit -qm shallow')
    // A line pushes commits that the workspace has.
    expect(await run('git push -q origin HEAD:from-shallow')).toMatchObject({ stderr: '', exitCode: 0 })
    const bare = join(root, 'x.git')
    expect(git(bare, 'rev-parse', 'from-shallow')).toBe(git(directory, 'rev-parse', 'HEAD'))
    expect(git(bare, 'rev-parse', 'from-shallow^')).toBe(git(bare, 'rev-parse', 'main'))
    expect(git(bare, 'fsck')).not.toContain('missing')
    expect((await own.log()).map(({ message }) => message)[0]).toBe('shallow\n')
  })

  it('of one branch in bash() is that of the library', async () => {
    const { directory, run } = await open()
    const result = await run(`git clone -q --depth 3 --single-branch -b topic ${url} .; git log --oneline | wc -l`)
    expect(result).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringMatching(/^\s*3\n$/) })
    expect(logOf(directory)).toEqual(logOf(cloned('--depth', '3', '--branch', 'topic')))
    // The oldest commit is a root, as git shows it.
    const oldest = logOf(directory).at(-1)
    const stat = (where: string) => git(where, 'show', '--format=', '--name-status', String(oldest))
    expect((await run(`git show --format=%h --name-status ${oldest}`)).stdout).toContain(stat(directory).trim())
    expect((await run(`git clone --depth 0 ${url} .`)).stderr).toContain('depth 0 is not a positive number')
  })
})
