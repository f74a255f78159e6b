import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { diffOfChanges } from '../../src/call/change-diff.ts'
import type { KnownChange } from '../../src/call/state/call.ts'
import { type ApprovalRequest, createWorkspace, type Workspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { EntryState } from '../../src/storage/backend.ts'
import { times } from '../counts.ts'
import { temporary } from '../git/repositories.ts'
import { randomFrom } from '../patch/trees.ts'
import { runProgram } from '../run-program.ts'

type Present = NonNullable<EntryState>
type States = ReadonlyMap<string, Present>

const file = (text: string, mode?: number): Present => ({
  type: 'file',
  bytes: new TextEncoder().encode(text),
  ...(mode === undefined ? {} : { mode }),
})
const link = (target: string): Present => ({ type: 'link', target })

const texts = ['', 'a\n', 'a', 'b', 'a\nb\nc\n', 'a\nB\nc\n', 'x y']
const modes = [0o644, 0o644, 0o755, 0o600, 0o777, 0o400]
const targets = ['gone', 'x y', 'nowhere/x']
const slots = ['a', 'b c', 'd', 'd/x', 'd/y', 'e', 'e/f', 'e/f/g', 'n']

/** A tree in which `d` and `e` are files, links, directories or absent. */
function generate(random: () => number): States {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
  const states = new Map<string, Present>()
  for (const path of slots) {
    const above = dirname(path)
    if (above !== '.' && states.get(above)?.type !== 'directory') continue
    const kind = random()
    const mayBeDirectory = slots.some((slot) => slot.startsWith(`${path}/`))
    if (mayBeDirectory && kind < 0.5) states.set(path, { type: 'directory' })
    else if (kind < 0.7) states.set(path, file(pick(texts), pick(modes)))
    else if (kind < 0.85) states.set(path, link(pick(targets)))
  }
  return states
}

function changesBetween(old: States, current: States): KnownChange[] {
  const changes: KnownChange[] = []
  for (const path of slots) {
    const [before, to] = [old.get(path) ?? null, current.get(path) ?? null]
    if (shown(before) === shown(to)) continue
    changes.push({ change: { path: path as Path, expect: 'any', to }, before })
  }
  return changes
}

function shown(state: EntryState): string {
  if (state?.type === 'file') return `file ${state.mode?.toString(8)} ${new TextDecoder().decode(state.bytes)}`
  return state?.type === 'link' ? `link ${state.target}` : String(state?.type)
}

/** The files and links of a tree, with what git keeps of their modes. */
function inGit(states: States): Record<string, string> {
  const entries: Record<string, string> = {}
  for (const [path, state] of states) {
    if (state.type === 'link') entries[path] = `link ${state.target}`
    if (state.type === 'file')
      entries[path] = `file ${((state.mode ?? 0) & 0o100) === 0 ? '' : 'x '}${new TextDecoder().decode(state.bytes)}`
  }
  return entries
}

function write(root: string, states: States): void {
  for (const [path, state] of states) {
    const at = join(root, path)
    // git does not remove directories that were empty before.
    if (state.type === 'directory') continue
    mkdirSync(dirname(at), { recursive: true })
    if (state.type === 'link') symlinkSync(state.target, at)
    else {
      writeFileSync(at, state.bytes)
      chmodSync(at, state.mode ?? 0o644)
    }
  }
}

function read(root: string, states = new Map<string, Present>(), below = ''): States {
  for (const name of readdirSync(join(root, below))) {
    const path = join(below, name)
    const stat = lstatSync(join(root, path))
    if (stat.isDirectory()) read(root, states, path)
    else if (stat.isSymbolicLink()) states.set(path, link(readlinkSync(join(root, path))))
    else states.set(path, file(readFileSync(join(root, path), 'utf8'), stat.mode & 0o777))
  }
  return states
}

describe('the diff of a change set', () => {
  it('produces the new tree from the old one with git apply, and is empty only if no file and no link changes', () => {
    const random = randomFrom(17)
    for (let round = 0; round < times(12, 1000); round++) {
      const [old, current] = [generate(random), generate(random)]
      const changes = changesBetween(old, current)
      const diff = diffOfChanges(changes)
      const isMore = changes.some(({ change: { to }, before }) =>
        [to, before].some((state) => state !== null && state.type !== 'directory'),
      )
      expect([round, diff !== '']).toEqual([round, isMore])
      if (diff === '') continue
      const root = temporary()
      write(root, old)
      const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) }
      const { stderr } = runProgram('git', ['apply', '--whitespace=nowarn', '-'], { cwd: root, env, input: diff })
      expect([round, diff, String(stderr), inGit(read(root))]).toEqual([round, diff, expect.anything(), inGit(current)])
    }
  })

  it('says that a secret or an encoding changes where the shown text is the same', () => {
    const token = (end: string) => `key = "ghp_0123456789abcdefghijABCDEFGHIJ45678${end}"\n`
    const of = (before: EntryState, to: EntryState, headOf?: number) =>
      diffOfChanges([
        { change: { path: 'a' as Path, expect: 'any', to }, before, ...(headOf === undefined ? {} : { headOf }) },
      ])
    expect(of(file(token('1')), file(token('2')))).toBe('Secrets in a changed\n')
    expect(of(file(token('1'), 0o644), file(token('1'), 0o755))).toBe(
      'diff --git a/a b/a\nold mode 100644\nnew mode 100755\n',
    )
    expect(of(file('a\n'), { type: 'file', bytes: Uint8Array.of(0xff, 0xfe, 0x61, 0, 0x0a, 0) })).toContain('differ')
    // Of a large file only the beginning is known.
    expect(of(file('head'), file('head'), 100_000)).toContain('Binary files a/a and b/a differ')
    expect(of(file('head'), file('header'), 100_000)).toContain('Binary files a/a and b/a differ')
  })

  it('states the new mode of a protected file', () => {
    const of = (before: EntryState, to: EntryState) =>
      diffOfChanges([{ change: { path: '.env' as Path, expect: 'any', to }, before }])
    expect(of(file('A=1', 0o600), file('A=1', 0o777))).toBe('Protected file .env changed, new mode 100777\n')
    expect(of(file('A=1', 0o600), file('A=2'))).toBe('Protected file .env changed\n')
    expect(of(file('A=1', 0o644), link('a'))).toBe('Protected file .env changed, new mode 120000\n')
    expect(of(null, file('A=1', 0o644))).toBe('Protected file .env created\n')
  })
})

describe('an approval request', () => {
  const files = { 'a.txt': 'one\n', 'b.txt': 'a.txt', 'run.sh': '#!/bin/sh\n', l: { link: 'b.txt' } }
  async function asked(act: (workspace: Workspace) => Promise<unknown>): Promise<{ last: string; artifact: string }> {
    const requests: ApprovalRequest[] = []
    const workspace = await createWorkspace({
      backend: memory(files),
      policy: 'supervised',
      shell: bash({ worker: false }),
      approve: (request) => {
        requests.push(request)
        return 'allow'
      },
    })
    const result = (await act(workspace)) as { artifactUri?: string } | undefined
    const uri = result?.artifactUri
    const content = uri === undefined ? undefined : await workspace.call('read_file', { path: uri })
    await workspace.close()
    return { last: requests.at(-1)?.diff ?? '', artifact: content?.ok === true ? content.content : '' }
  }
  const command = (line: string) => (workspace: Workspace) => workspace.call('run_command', { command: line })

  it.each([
    ['chmod 755 run.sh', /^old mode 100644\nnew mode 100755$/m],
    ['chmod 000 b.txt', /^old mode 100644\nnew mode 100000$/m],
    ['echo x >> run.sh; chmod 777 run.sh', /^new mode 100777\n--- a\/run.sh/m],
    ['echo x > n.sh; chmod 755 n.sh', /^new file mode 100755$/m],
    ['ln -s b.txt n', /^new file mode 120000$/m],
    ['ln -sf a.txt b.txt', /^deleted file mode 100644[\s\S]*^new file mode 120000$/m],
    ['ln -sfn a.txt l', /^index \S* 120000$/m],
    ['rm b.txt; mkdir b.txt', /^deleted file mode 100644$/m],
    ['mv run.sh x.sh', /^deleted file mode 100644[\s\S]*^new file mode 100644$/m],
  ])('of "%s" and the artifact show modes and types', async (line, expected) => {
    const { last, artifact } = await asked(command(line))
    expect(last).toMatch(expected)
    expect(artifact).toBe(last)
  })

  it('for this run of one of content, permissions and link covers no other of them', async () => {
    const acts: Record<string, (workspace: Workspace) => Promise<unknown>> = {
      content: (workspace) => workspace.files.write('a.txt', 'two\n'),
      again: (workspace) => workspace.files.write('a.txt', 'three\n'),
      permissions: (workspace) => workspace.files.setMode('a.txt', 0o755),
      others: (workspace) => workspace.files.setMode('a.txt', 0o700),
      create: (workspace) => workspace.files.write('n', 'n\n'),
      link: (workspace) => workspace.files.link('n', 'a.txt'),
    }
    const covered: string[] = []
    for (const [first, act] of Object.entries(acts)) {
      for (const [second, then] of Object.entries(acts)) {
        if (first === second) continue
        let requests = 0
        const workspace = await createWorkspace({
          backend: memory(files),
          policy: 'supervised',
          approve: ({ tool }) => (tool === 'delete_file' || requests++ === 0 ? { allow: 'run' } : { deny: 'no' }),
        })
        await act(workspace)
        await workspace.files.delete('n').catch(() => undefined)
        await then(workspace).catch(() => undefined)
        if (requests === 1) covered.push(`${first} covers ${second}`)
        await workspace.close()
      }
    }
    expect(covered.sort()).toEqual([
      'again covers content',
      'content covers again',
      'others covers permissions',
      'permissions covers others',
    ])
  })
})
