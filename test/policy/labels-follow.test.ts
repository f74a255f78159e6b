import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { git } from '../../src/git/index.ts'
import {
  createWorkspace,
  defineTool,
  type Workspace,
  type WorkspaceOptions,
  type WorkspaceRun,
} from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { memoryParking } from '../../src/policy/parked-calls.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { everyNth } from '../counts.ts'
import { tree } from './label-tree.ts'

const labels = {
  sources: [
    { label: 'restricted', paths: ['conf/**'] },
    { label: 'internal', commands: ['whoami*'] },
  ],
  sinks: [
    { name: 'published', ceiling: 'public', paths: ['pub/**'] },
    { name: 'reviewed', ceiling: 'public', paths: ['asks/**'], above: 'ask' },
  ],
} as const

const opened: Workspace[] = []
afterEach(async () => {
  for (const workspace of opened.splice(0)) await workspace.close()
})

async function open(options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const workspace = await createWorkspace({
    ...{ backend: memory(tree), policy: { preset: 'autonomous', labels }, shell: bash({ worker: false }), git: git() },
    ...options,
  })
  opened.push(workspace)
  return workspace
}

const line = (run: WorkspaceRun, command: string) => run.call('run_command', { command })

async function inBackground(run: WorkspaceRun, command: string) {
  const started = await run.call('start_command', { command })
  if (!started.ok) return started
  for (;;) {
    const checked = await run.call('check_command', { id: started.id })
    if (!checked.ok || checked.state === 'ended') return checked
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

describe('a command', () => {
  it('that moves labelled content may write other content to a sink', async () => {
    const run = await open()
    const moved = await line(run, 'mv conf/x.txt tmp/x.txt; echo done > pub/log.txt')
    expect(moved).toMatchObject({ ok: true, filesChanged: ['conf/x.txt', 'pub/log.txt', 'tmp/x.txt'] })
    const reader = run.run({ id: 'reader' })
    expect(await reader.call('read_file', { path: 'pub/log.txt' })).toMatchObject({ label: 'public' })
    expect(await reader.call('read_file', { path: 'tmp/x.txt' })).toMatchObject({ label: 'restricted' })
  })

  it('may write to a sink before it reads labelled content, not after', async () => {
    const run = await open()
    expect(await line(run, 'echo a > pub/a.txt; wc -c conf/x.txt; echo b > pub/b.txt')).toMatchObject({
      code: 'TAINT_DENIED',
      path: 'pub/b.txt',
    })
    expect(await line(run.run({ id: 'other' }), 'echo a > pub/a.txt; wc -c conf/x.txt')).toMatchObject({ ok: true })
  })

  it('may commit labelled files without reading them', async () => {
    const run = await open()
    const command = 'git init -q && git add -A && git commit -qm all && echo done > pub/log.txt'
    expect(await line(run, command)).toMatchObject({ ok: true, exitCode: 0, label: 'public' })
    const showing = 'git log; echo done > pub/other.txt'
    expect(await line(run.run({ id: 'a' }), showing)).toMatchObject({ code: 'TAINT_DENIED' })
    expect(await line(run.run({ id: 'b' }), 'git log')).toMatchObject({ ok: true, label: 'restricted' })
    expect(await line(run.run({ id: 'c' }), 'git show HEAD:conf/x.txt')).toMatchObject({ label: 'restricted' })
  })

  it.each([
    'rev-parse HEAD',
    'rev-parse --short HEAD',
    'rev-parse --verify HEAD',
    'rev-parse main',
    'log --format=%h',
    'branch -v',
  ])('has the label of a commit whose id it shows: git %s', async (command) => {
    const run = await open()
    await line(run, 'git init -q; git add -A; git commit -qm all')
    await line(run, 'git commit -q --allow-empty -m "$(cat conf/x.txt)"')
    const reader = run.run({ id: 'reader' })
    expect(await line(reader, 'git status')).toMatchObject({ ok: true, label: 'public' })
    expect(await line(reader, `git ${command}`)).toMatchObject({ ok: true, exitCode: 0, label: 'restricted' })
    expect(await line(reader, `git ${command} > pub/id.txt`)).toMatchObject({ code: 'TAINT_DENIED' })
  })

  it('writes files with the label of its output', async () => {
    const run = await open()
    expect(await line(run, 'whoami > tmp/me.txt; cp tmp/me.txt pub/me.txt')).toMatchObject({ code: 'TAINT_DENIED' })
    expect(await line(run.run({ id: 'b' }), 'whoami > tmp/me.txt')).toMatchObject({ ok: true, label: 'internal' })
    const reader = run.run({ id: 'reader' })
    expect(await reader.call('read_file', { path: 'tmp/me.txt' })).toMatchObject({ label: 'internal' })
  })

  it('asks with the label of the content that would enter the sink', async () => {
    const reasons: string[] = []
    const run = await open({
      approve: ({ verdict }) => {
        reasons.push(verdict.reason)
        return 'allow'
      },
    })
    expect(await line(run, 'mkdir asks; echo a > asks/a.txt')).toMatchObject({ ok: true })
    expect(reasons).toEqual([])
    expect(await line(run, 'mv conf/x.txt asks/')).toMatchObject({ ok: true })
    expect(reasons).toEqual([expect.stringMatching(/^restricted content of "conf\/x.txt" .*"asks\/x.txt"/)])
    const reader = run.run({ id: 'reader' })
    expect(await reader.call('read_file', { path: 'asks/x.txt' })).toMatchObject({ label: 'restricted' })
  })
})

describe('the origin of a refused flow', () => {
  it.each([
    'git commit -m "$(cat conf/x.txt)"',
    'cp conf/x.txt tmp/y.txt; git add tmp/y.txt; git commit -m y',
    'git add conf; git commit -m conf',
  ])('names the repository and no object of it: %s', async (commit) => {
    const workspace = await open()
    expect(await line(workspace, `git init; echo a > a.txt; git add a.txt; git commit -m first`)).toMatchObject({
      ok: true,
    })
    await line(workspace.run({ id: 'writer' }), `echo b > a.txt; git add a.txt; ${commit}`)
    const run = workspace.run({ id: 'reader' })
    for (const command of ['git log -1 > pub/log.txt', 'git show > pub/log.txt', 'git show HEAD > pub/log.txt']) {
      const refused = (await line(run, command)) as { ok: boolean; origin?: { path?: string } }
      expect(JSON.stringify(refused)).not.toMatch(/objects\/|[0-9a-f]{38}/)
      if (!refused.ok) expect(refused.origin?.path).not.toContain('.git/')
    }
  })
})

describe('a background command', () => {
  it('shows its output with the label of the files that it has read, and raises the taint', async () => {
    const run = await open()
    expect(await inBackground(run, 'cat notes.txt')).toMatchObject({ stdout: 'notes\n', label: 'public' })
    expect(run.taint.label()).toBe('public')
    expect(await inBackground(run, 'cat conf/x.txt')).toMatchObject({ label: 'restricted' })
    expect(run.taint.label()).toBe('restricted')
    expect(await run.call('write_file', { path: 'pub/a.txt', content: 'a' })).toMatchObject({ code: 'TAINT_DENIED' })
  })

  it('writes nothing at all if a sink refuses a part', async () => {
    const backend = memory(tree)
    const run = await open({ backend })
    expect(await inBackground(run, 'echo a > tmp/new.txt; mv conf/x.txt pub/')).toMatchObject({ exitCode: 126 })
    expect(await backend.stat('tmp/new.txt' as never)).toBeUndefined()
    expect(await backend.stat('conf/x.txt' as never)).toBeDefined()
  })

  it('of public content writes to a public sink', async () => {
    const run = await open()
    expect(await inBackground(run, 'mv notes.txt pub/ && cp pub/notes.txt pub/b.txt')).toMatchObject({ exitCode: 0 })
    expect(await run.call('read_file', { path: 'pub/b.txt' })).toMatchObject({ ok: true, label: 'public' })
  })

  it('has the label of its command', async () => {
    const run = await open()
    const started = await run.call('start_command', { command: 'whoami' })
    const other = run.run({ id: 'other' })
    expect(started).toMatchObject({ ok: true, label: 'internal' })
    expect(await inBackground(other, 'whoami; echo a > pub/a.txt')).toMatchObject({ exitCode: 126, label: 'internal' })
  })
})

describe('taint and labels', () => {
  it('are copied to the run of a fork', async () => {
    const workspace = await open()
    expect((await workspace.fork()).taint.label()).toBe('public')
    await workspace.call('read_file', { path: 'conf/x.txt' })
    const fork = await workspace.fork({ id: 'fork' })
    expect(fork.taint.origin()).toMatchObject({ label: 'restricted', path: 'conf/x.txt' })
    expect(await fork.call('write_file', { path: 'pub/a.txt', content: 'a' })).toMatchObject({ code: 'TAINT_DENIED' })
    const again = await workspace.fork({
      taint: { label: 'internal', callId: 'x', tool: 'read_file' },
    })
    expect(again.taint.label()).toBe('restricted')
  })

  const append = (run: Pick<WorkspaceRun, 'call'>, path: string, content: string) =>
    run.call('append_file', { path, content })

  it.each([
    ['a path of the policy', 'conf/x.txt', []],
    ['a file that another run has labelled', 'notes.txt', ['conf/x.txt']],
  ] as const)('follow the conflicts of a merge, for %s', async (_, path, reads) => {
    const workspace = await open()
    const fork = await workspace.fork({ id: 'fork' })
    expect(await append(fork.run({ id: 'first' }), path, 'mine\n')).toMatchObject({ ok: true })
    const other = workspace.run({ id: 'other' })
    for (const read of reads) await other.call('read_file', { path: read })
    expect(await append(other, path, 'ours\n')).toMatchObject({ ok: true })
    expect(await append(fork, 'pub/index.txt', 'a\n')).toMatchObject({ ok: true, label: 'public' })
    expect(await fork.merge()).toMatchObject({ code: 'WRITE_CONFLICT', label: 'restricted', conflicts: [{ path }] })
    expect(await append(fork, 'pub/index.txt', 'a\n')).toMatchObject({ code: 'TAINT_DENIED' })
  })

  it('follow the contents that resolve a merge', async () => {
    const workspace = await open()
    const fork = await workspace.fork({ id: 'fork' })
    for (const path of ['pub/index.txt', 'notes.txt']) {
      await append(fork, path, 'mine\n')
      await append(workspace, path, 'ours\n')
    }
    const read = (path: string) => workspace.run().call('read_file', { path })
    await fork.call('read_file', { path: 'conf/x.txt' })
    const resolve = { 'pub/index.txt': 'both\n', 'notes.txt': 'both\n' }
    expect(await fork.merge({ resolve })).toMatchObject({ code: 'TAINT_DENIED', path: 'pub/index.txt' })
    expect(await read('notes.txt')).toMatchObject({ content: expect.stringContaining('ours'), label: 'public' })
    const again = await fork.merge({ resolve: { ...resolve, 'pub/index.txt': null } })
    expect(again).toMatchObject({ ok: true })
    expect(await read('notes.txt')).toMatchObject({ content: expect.stringContaining('both'), label: 'restricted' })
  })

  it('continue in another process with a parked call', async () => {
    const backend = memory(tree)
    const parked = memoryParking()
    const options = { backend, parked } as const
    const first = await open(options)
    await first.call('read_file', { path: 'conf/x.txt' })
    const waiting = await first.call('write_file', { path: 'asks/a.txt', content: 'a' })
    if (waiting.ok) throw new Error('The call must be parked')
    const second = await open(options)
    expect(await second.resume(String(waiting.approvalId), 'allow')).toMatchObject({ ok: true })
    expect(second.taint.label()).toBe('restricted')
    expect(await second.call('write_file', { path: 'pub/b.txt', content: 'b' })).toMatchObject({ code: 'TAINT_DENIED' })
    const reader = second.run({ id: 'reader' })
    expect(await reader.call('read_file', { path: 'asks/a.txt' })).toMatchObject({ label: 'restricted' })
  })

  it('of written content continue in another process with the history', async () => {
    const backend = memory(tree)
    const first = await open({ backend })
    await line(first, 'mv conf/x.txt tmp/x.txt')
    const second = await open({ backend, history: structuredClone(first.history()) })
    expect(await line(second, 'mv tmp/x.txt pub/x.txt')).toMatchObject({ code: 'TAINT_DENIED' })
    expect(second.history().labels).toEqual(first.history().labels)
    const wrong = { ...first.history(), labels: [['a', 'secret']] } as unknown as ReturnType<Workspace['history']>
    await expect(open({ history: wrong })).rejects.toThrow('The option history is not a result of workspace.history()')
  })

  it('stay after an overlay is committed or discarded', async () => {
    const above = overlay(memory(tree))
    const workspace = await open({ backend: above })
    await line(workspace, 'mv conf/x.txt tmp/x.txt')
    expect(await workspace.commit()).toMatchObject({ ok: true, label: 'restricted' })
    expect(await line(workspace.run({ id: 'b' }), 'mv tmp/x.txt pub/')).toMatchObject({ code: 'TAINT_DENIED' })
  })

  it('show in the diff of an undo by another run', async () => {
    const workspace = await open()
    const editor = workspace.run({ id: 'editor' })
    const { callId } = (await editor.call('delete_file', { path: 'conf/x.txt' })) as { callId: string }
    expect(workspace.taint.label()).toBe('public')
    expect(await workspace.undo(callId)).toMatchObject({ ok: true, label: 'restricted' })
    expect(workspace.taint.label()).toBe('restricted')
  })

  it('do not change by new content at a labelled path', async () => {
    const run = await open()
    expect(await run.call('write_file', { path: 'conf/new.txt', content: 'new\n' })).toMatchObject({ label: 'public' })
    expect(await run.call('write_file', { path: 'pub/a.txt', content: 'a\n' })).toMatchObject({ ok: true })
  })

  it('move with single files of a directory', async () => {
    const run = await open()
    await line(run, 'mkdir tmp/d; cp conf/x.txt tmp/d/x.txt')
    const mover = run.run({ id: 'mover' })
    await mover.call('copy_file', { path: 'notes.txt', to: 'tmp/d/notes.txt' })
    expect(await mover.call('move_file', { path: 'tmp/d', to: 'tmp/e' })).toMatchObject({ ok: true })
    const reader = run.run({ id: 'reader' })
    expect(await reader.call('read_file', { path: 'tmp/e/notes.txt' })).toMatchObject({ label: 'public' })
    expect(await reader.call('read_file', { path: 'tmp/e/x.txt' })).toMatchObject({ label: 'restricted' })
  })
})

describe('a note', () => {
  it('has its own label for every other way to read it', async () => {
    const memoryPolicy = { preset: 'autonomous', labels, memory: { path: 'memory' } } as const
    const workspace = await open({ policy: memoryPolicy })
    await workspace.run({}).call('memory_store', { id: 'n', content: 'KEY', labels: ['restricted'] })
    const reader = () => workspace.run({})
    expect(await reader().call('memory_get', { id: 'n' })).toMatchObject({ label: 'restricted' })
    expect(await reader().call('read_file', { path: 'memory/n.md' })).toMatchObject({ label: 'restricted' })
    expect(await line(reader(), 'cat memory/n.md')).toMatchObject({ label: 'restricted' })
    expect(await line(reader(), 'mv memory/n.md pub/n.md')).toMatchObject({ code: 'TAINT_DENIED' })
    await workspace.run({}).call('memory_store', { id: 'free', content: 'x', labels: ['design'] })
    expect(await line(reader(), 'cat memory/free.md > pub/free.md')).toMatchObject({ ok: true, label: 'public' })
  })
})

describe('a note in another process', () => {
  it('keeps the label that it states, for every way to read it', async () => {
    const backend = memory(tree)
    const policy = { preset: 'autonomous', labels, memory: { path: 'memory' } } as const
    const first = await open({ backend, policy })
    await first.call('read_file', { path: 'conf/x.txt' })
    await first.call('memory_store', { id: 'team/n', content: 'KEY' })
    await first.run({}).call('memory_store', { id: 'free', content: 'x' })
    const second = await open({ backend, policy })
    const reader = () => second.run({})
    expect(await reader().call('read_file', { path: 'memory/team/n.md' })).toMatchObject({ label: 'restricted' })
    expect(await line(reader(), 'cat memory/team/n.md > pub/n.md')).toMatchObject({ code: 'TAINT_DENIED' })
    expect(await line(reader(), 'mv memory/team pub/team')).toMatchObject({ code: 'TAINT_DENIED' })
    expect(await reader().call('read_file', { path: 'memory/free.md' })).toMatchObject({ ok: true, label: 'public' })
  })
})

describe('a copy by a command', () => {
  it.each(['cp conf/x.txt tmp/b.txt', 'cp -r conf tmp/conf', 'ln conf/x.txt tmp/b.txt'])(
    'keeps its label and does not count as read: %s',
    async (command) => {
      const run = await open()
      expect(await line(run, `${command}; echo done > pub/log.txt`)).toMatchObject({ ok: true })
      const reader = () => run.run({})
      expect(await reader().call('read_file', { path: 'pub/log.txt' })).toMatchObject({ label: 'public' })
      const copy = command.includes('-r') ? 'tmp/conf/x.txt' : 'tmp/b.txt'
      expect(await reader().call('read_file', { path: copy })).toMatchObject({ ok: true, label: 'restricted' })
      expect(await line(reader(), `cp ${copy} pub/c.txt`)).toMatchObject({ code: 'TAINT_DENIED' })
      expect(await reader().call('find_files', { pattern: 'tmp/**' })).toMatchObject({ label: 'public' })
    },
  )
})

describe('an own tool', () => {
  const runLine = defineTool({
    name: 'run_line',
    title: 'Run a line',
    description: 'Runs a line and makes its changes.',
    input: z.object({ command: z.string() }),
    output: z.object({ stdout: z.string() }),
    permission: 'command:run',
    mutates: true,
    idempotent: false,
    commandLine: ({ command }) => command,
    plan: () => [{ permission: 'command:run', path: '.' }],
    async draft({ command }, { commands, now }) {
      if (commands === undefined) throw new Error('it needs a shell')
      const { files, signal, changes } = commands.open(undefined)
      const outcome = await commands.shell.run({
        ...{ line: command, cwd: '' as Path, env: {}, timeoutMs: 5000, files, signal, now },
      })
      return { summary: 'Ran', ...(await changes()), result: () => ({ stdout: outcome.stdout }) }
    },
  })
  const readBoth = defineTool({
    name: 'read_both',
    title: 'Read',
    description: 'Reads a file.',
    input: z.object({ path: z.string() }),
    output: z.object({ text: z.string() }),
    permission: 'file:read',
    mutates: false,
    idempotent: true,
    plan: ({ path }) => [{ permission: 'file:read', path }],
    async draft(_, { files, accesses }) {
      const { text } = await files.document(accesses[0]?.path as Path, 1000)
      return { summary: 'Read', result: () => ({ text }) }
    },
  })

  it('carries the labels of the files that it reads, and that its command lines read and move', async () => {
    const backend = memory(tree)
    const options = {
      ...{ backend, policy: { preset: 'autonomous', labels } as const, shell: bash({ worker: false }) },
    }
    const run = await createWorkspace({ ...options, extraTools: [runLine, readBoth] })
    opened.push(run)
    for (const command of ['mv conf/x.txt pub/x.txt', 'cp conf/x.txt pub/x.txt', 'mv conf pub/conf']) {
      expect(await run.run({}).callTool('run_line', { command }), command).toMatchObject({ code: 'TAINT_DENIED' })
    }
    expect(await run.run({}).callTool('run_line', { command: 'mv conf/x.txt tmp/x.txt' })).toMatchObject({ ok: true })
    expect(await run.run({}).callTool('read_both', { path: 'tmp/x.txt' })).toMatchObject({ label: 'restricted' })
    expect(await run.run({}).callTool('run_line', { command: 'mv tmp/a.txt pub/a.txt' })).toMatchObject({ ok: true })
  })
})

describe('what a program has read', () => {
  type FileOperations = Pick<Workspace['files'], 'readText' | 'readBytes' | 'stat' | 'write'>
  type Reads = (files: FileOperations) => Promise<unknown>
  const reads: Readonly<Record<string, Reads>> = {
    readText: (files) => files.readText('conf/x.txt'),
    readBytes: (files) => files.readBytes('conf/x.txt', { end: 1 }),
    stat: async (files) => (await files.stat('conf/x.txt'))?.size,
  }
  const ends: Readonly<Record<string, (files: FileOperations, stop: () => void) => Promise<unknown>>> = {
    'ends well': async () => {},
    'throws an error': () => Promise.reject(new Error('mine')),
    'throws a number': () => Promise.reject(1),
    'is aborted': async (files, stop) => {
      stop()
      await files.write('notes.txt', 'x')
    },
    'asks for an approval': (files) => files.write('asks/b.txt', 'x'),
    'is denied': (files) => files.write('pub/b.txt', 'x'),
    'finds nothing': (files) => files.readText('none'),
  }
  const endings = Object.keys(reads).flatMap((read) => Object.keys(ends).map((end) => [read, end] as const))
  it.each(everyNth(endings, 4))(
    'by %s in a batch raises the taint, also of calls within it, if the batch %s',
    async (read, end) => {
      const run = (await open()).run({})
      const controller = new AbortController()
      const inside: unknown[] = []
      const act = async (files: FileOperations) => {
        await reads[read]?.(files)
        inside.push(run.taint.label(), await run.files.write('pub/in.txt', 'x').catch(({ code }) => code))
        await ends[end]?.(files, () => controller.abort())
      }
      await run.files.batch(act, { signal: controller.signal }).catch(() => {})
      expect(inside).toEqual(['restricted', 'TAINT_DENIED'])
      expect(run.taint.label()).toBe('restricted')
      await expect(run.files.write('pub/b.txt', 'x')).rejects.toMatchObject({ code: 'TAINT_DENIED' })
    },
  )

  it('after a write to a sink leaves the write as it is', async () => {
    const run = (await open()).run({})
    await run.files.batch(async (files) => {
      await files.write('pub/b.txt', 'x')
      await files.readText('conf/x.txt')
    })
    expect(run.taint.label()).toBe('restricted')
  })

  const sizes: Readonly<Record<string, (run: WorkspaceRun) => Promise<unknown>>> = {
    'files.stat().size': async ({ files }) => (await files.stat('conf/x.txt'))?.size,
    'files.stat().modifiedAt': async ({ files }) => (await files.stat('conf/x.txt'))?.modifiedAt,
    'files.stat().mode': async ({ files }) => (await files.stat('conf/x.txt'))?.mode,
    'files.stat().tag': async ({ files }) => (await files.stat('conf/x.txt'))?.tag,
    'fs.stat()': (run) => createFs(run).promises.stat('/conf/x.txt'),
    file_info: (run) => run.call('file_info', { path: 'conf/x.txt' }),
    'read_file of a large file': (run) => run.call('read_file', { path: 'conf/x.txt' }),
    'ls -l': (run) => line(run, 'ls -l conf'),
    du: (run) => line(run, 'du -a conf'),
    'wc -c': (run) => line(run, 'wc -c conf/x.txt'),
    'find -size': (run) => line(run, 'find conf -size -2'),
    'test -s': (run) => line(run, '[ -s conf/x.txt ] && echo yes'),
    'stat of an own tool': (run) => run.callTool('size_of', { path: 'conf/x.txt' }),
  }
  const sizeOf = defineTool({
    ...{ name: 'size_of', title: 'Size', description: 'Shows a size.', permission: 'file:read' },
    ...{
      input: z.object({ path: z.string() }),
      output: z.object({ size: z.number() }),
      mutates: false,
      idempotent: true,
    },
    plan: ({ path }) => [{ permission: 'file:read', path }],
    async draft({ path }, { files }) {
      const { size = 0 } = (await files.stat(path as Path)) ?? {}
      return { summary: 'Size', result: () => ({ size }) }
    },
  })
  it.each(Object.keys(sizes))('by %s has the label of the content', async (way) => {
    const limits = way.startsWith('read_file') ? { textFileBytes: 1 } : {}
    const run = (await open({ extraTools: [sizeOf], limits })).run({})
    await sizes[way]?.(run)
    expect(run.taint.label()).toBe('restricted')
    await expect(run.files.write('pub/b.txt', 'x')).rejects.toMatchObject({ code: 'TAINT_DENIED' })
  })

  const types: Readonly<Record<string, (run: WorkspaceRun) => Promise<unknown>>> = {
    list_directory: (run) => run.call('list_directory', { path: 'conf' }),
    'list_directory of everything': (run) => run.call('list_directory', { maxDepth: 5 }),
    find_files: (run) => run.call('find_files', { pattern: 'conf/*' }),
    'files.list': ({ files }) => files.list('conf'),
    'files.entries': ({ files }) => files.entries('conf'),
    'files.exists': ({ files }) => files.exists('conf/x.txt'),
    'files.stat().type': async ({ files }) => (await files.stat('conf/x.txt'))?.type,
    async 'files.walk'({ files }) {
      for await (const { path } of files.walk()) expect(path).not.toBe('')
    },
    'fs.readdir': (run) => createFs(run).promises.readdir('/conf', { withFileTypes: true }),
    ls: (run) => line(run, 'ls conf'),
  }
  it.each(Object.keys(types))('by %s has only the label of names', async (way) => {
    const run = (await open()).run({})
    await types[way]?.(run)
    expect(run.taint.label()).toBe('public')
  })

  it('leaves sizes and times out of a listing, until the run has read content of that label', async () => {
    const run = (await open()).run({})
    const listed = async () => {
      const { entries, warnings } = (await run.call('list_directory', { path: '.', maxDepth: 2 })) as Listing
      const has = (path: string) => entries.find((entry) => entry.path === path)?.sizeBytes !== undefined
      return { labelled: has('conf/x.txt'), other: has('tmp/a.txt'), warnings }
    }
    type Listing = { entries: readonly { path: string; sizeBytes?: number }[]; warnings: readonly string[] }
    const before = await listed()
    expect(before).toMatchObject({ labelled: false, other: true })
    expect(before.warnings.join()).toContain('with a label above public')
    await run.files.readText('conf/x.txt')
    expect(await listed()).toEqual({ labelled: true, other: true, warnings: [] })
  })

  it('by an own tool that fails raises the taint', async () => {
    const failing = defineTool({
      ...{ name: 'failing', title: 'Failing', description: 'Reads and fails.', permission: 'file:read' },
      ...{ input: z.object({ path: z.string() }), output: z.object({}), mutates: false, idempotent: true },
      plan: ({ path }) => [{ permission: 'file:read', path }],
      async draft({ path }, { files }) {
        await files.read(path as Path, 1000)
        throw new Error('mine')
      },
    })
    const run = (await open({ extraTools: [failing] })).run({})
    expect(await run.callTool('failing', { path: 'conf/x.txt' })).toMatchObject({ code: 'BACKEND_ERROR' })
    expect(run.taint.label()).toBe('restricted')
  })
})

describe('a name that contains labelled content', () => {
  it('carries its label in results and refusals, and into sinks', async () => {
    const run = await open()
    const touched = await line(run, 'touch "tmp/$(head -1 conf/x.txt)"')
    expect(touched).toMatchObject({ ok: true, label: 'restricted' })
    const calls: [string, object][] = [
      ['list_directory', { path: 'tmp' }],
      ['find_files', { pattern: 'tmp/*' }],
      ['run_command', { command: 'ls tmp' }],
      ['run_command', { command: 'echo tmp/*' }],
      ['file_info', { path: 'tmp/TOKEN7292' }],
    ]
    for (const [name, input] of calls) {
      const reader = run.run({})
      const result = await reader.callTool(name, input)
      expect(JSON.stringify(result), name).toContain('TOKEN7291')
      expect(result, name).toMatchObject({ label: 'restricted' })
      expect(reader.taint.label(), name).toBe('restricted')
    }
    for (const command of ['ls tmp > pub/list.txt', 'for f in tmp/*; do echo $f | rev > pub/list.txt; done']) {
      expect(await line(run.run({}), command), command).toMatchObject({ code: 'TAINT_DENIED' })
    }
  })

  it('is not shown in a refusal without its label', async () => {
    const run = await open()
    const refused = await line(run, 'mkdir -p "pub/$(head -1 conf/x.txt)"')
    expect(refused).toMatchObject({ code: 'TAINT_DENIED', path: 'pub/TOKEN7291', label: 'restricted' })
    expect(run.taint.label()).toBe('restricted')
  })

  it('can be the name of a branch, too', async () => {
    const run = await open()
    await line(run, 'git init -q && git add -A && git commit -qm one && git branch "$(head -1 conf/x.txt)"')
    expect(await line(run.run({}), 'git branch')).toMatchObject({
      stdout: expect.stringContaining('TOKEN7291'),
      label: 'restricted',
    })
  })

  it('excludes names that a command contains or copies from other entries', async () => {
    const run = await open()
    await line(run, 'cp conf/x.txt tmp/second; cp -r conf tmp/copy; mkdir tmp/TOKEN7291')
    const reader = run.run({})
    const result = await reader.call('list_directory', { path: 'tmp', maxDepth: 3 })
    expect(result).toMatchObject({ ok: true, label: 'public' })
  })
})

describe('a listing', () => {
  it('is labelled only if it shows a labelled name', async () => {
    const run = await open()
    await line(run, 'mkdir tmp/d; touch "tmp/d/$(head -1 conf/x.txt)" tmp/d/plain.txt; touch tmp/other.txt')
    const calls: [string, object, string][] = [
      ['list_directory', { path: 'tmp' }, 'public'],
      ['list_directory', { path: 'tmp/d' }, 'restricted'],
      ['list_directory', { path: 'tmp', maxDepth: 2 }, 'restricted'],
      ['find_files', { pattern: 'tmp/**/plain.txt' }, 'public'],
      ['find_files', { pattern: 'tmp/**' }, 'restricted'],
      ['search_text', { query: 'free', path: 'tmp', excludeGlob: '{d/**,other.txt}' }, 'public'],
      ['search_text', { query: 'free', path: 'tmp' }, 'restricted'],
      ['run_command', { command: 'ls tmp' }, 'public'],
      ['run_command', { command: 'ls tmp/d' }, 'restricted'],
      ['run_command', { command: 'grep -rl free tmp' }, 'restricted'],
      ['run_command', { command: 'grep -l free tmp/a.txt' }, 'public'],
      ['run_command', { command: 'rg --files tmp' }, 'restricted'],
    ]
    for (const [name, input, label] of calls) {
      expect(await run.run({}).callTool(name, input), JSON.stringify(input)).toMatchObject({ label })
    }
  })

  it('is labelled after a move, an undo, a commit of a fork and in another process', async () => {
    const backend = memory(tree)
    const run = await open({ backend })
    await run.call('read_file', { path: 'conf/x.txt' })
    await run.call('create_directory', { path: 'tmp/TOKEN7291' })
    const mover = () => run.run({})
    expect(await mover().call('move_file', { path: 'tmp', to: 'moved' })).toMatchObject({ ok: true })
    const fork = await run.run({}).call('list_directory', { path: 'moved' })
    expect(fork).toMatchObject({ label: 'restricted' })
    const { callId } = (await line(mover(), 'rm -r moved')) as { callId: string }
    await run.undo(callId)
    expect(await mover().call('list_directory', { path: 'moved' })).toMatchObject({ label: 'restricted' })
    const second = await open({ backend, history: structuredClone(run.history()) })
    expect(await second.call('list_directory', { path: 'moved' })).toMatchObject({ label: 'restricted' })
    const wrong = { ...run.history(), nameLabels: [['a', 'secret']] } as unknown as ReturnType<Workspace['history']>
    await expect(open({ history: wrong })).rejects.toThrow('The option history is not a result of workspace.history()')
  })
})

describe('a link that already lies in a sink', () => {
  it('keeps labelled content from its target', async () => {
    const run = await open()
    await line(run, 'ln -s ../tmp/a.txt pub/file; ln -s ../tmp pub/dir; ln -s ../tmp/new.txt pub/dangling; mkdir free')
    for (const command of [
      'cat conf/x.txt > tmp/a.txt',
      'mv conf/x.txt tmp/b.txt',
      'cp conf/x.txt tmp/new.txt',
      'cp -r conf tmp/conf',
      'mkdir "tmp/$(head -1 conf/x.txt)"',
    ]) {
      const denied = await line(run.run({}), command)
      expect(denied, command).toMatchObject({ code: 'TAINT_DENIED' })
    }
    const copied = await run.run({}).call('copy_file', { path: 'conf/x.txt', to: 'tmp/c.txt' })
    expect(copied).toMatchObject({
      code: 'TAINT_DENIED',
      message: expect.stringMatching(/^Cannot change "tmp\/c\.txt", which "pub\/dir\/c\.txt" shows: "published"/),
    })
    expect(await line(run.run({}), 'cp conf/x.txt free/a.txt')).toMatchObject({ ok: true })
    expect(await line(run.run({}), 'rm -r pub/dir pub/file pub/dangling; cp conf/x.txt tmp/a.txt')).toMatchObject({
      ok: true,
    })
  })
})

describe('a link in a sink', () => {
  it('is refused if it shows labelled content', async () => {
    const run = await open()
    await line(run, 'mv conf/x.txt tmp/d.txt; mkdir tmp/deep; cp tmp/d.txt tmp/deep/e.txt')
    const other = () => run.run({})
    for (const target of [
      '../conf/deep/y.txt',
      '../conf',
      '../conf/deep',
      '../tmp/d.txt',
      '../tmp/deep',
      '../tmp',
      '..',
    ]) {
      expect(await line(other(), `ln -s ${target} pub/link`), target).toMatchObject({ code: 'TAINT_DENIED' })
    }
    for (const target of ['../notes.txt', 'index.txt', '../mid', 'nowhere.txt']) {
      const result = await line(other(), `ln -s ${target} pub/link-${target.replaceAll(/\W/g, '')}`)
      expect(result, target).toMatchObject({ ok: true })
    }
  })
})
