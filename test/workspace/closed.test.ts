import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import { createFs } from '../../src/adapters/fs/index.ts'
import { justBashFs } from '../../src/adapters/just-bash/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { codex } from '../../src/dialects/codex/index.ts'
import { git } from '../../src/git/index.ts'
import { type ApproveHandler, createWorkspace, type Workspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { WorkspaceFiles } from '../../src/workspace/files.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'closed-'))
})
afterAll(() => rm(directory, { recursive: true }))

const backends = {
  memory: async () => memory(),
  overlay: async () => overlay(memory()),
  node: async () => nodeBackend(await mkdtemp(join(directory, 'tree-'))),
}

async function open(name: keyof typeof backends): Promise<Workspace> {
  const backend = await backends[name]()
  const workspace = await createWorkspace({ backend, policy: 'autonomous', git: git(), shell: bash() })
  await workspace.files.write('p', 'p0')
  await workspace.files.link('l', 'p')
  await workspace.git?.init()
  return workspace
}

type Args = readonly unknown[]

/** Methods that go on working once a workspace is closed: they need no files. */
const remaining: readonly string[] = [
  ...['report', 'checkpoints', 'history', 'auditRecords', 'verifyAudit', 'subscribe', 'notifyExternalChange', 'close'],
]

/** The others with right arguments. */
const refused: Readonly<Record<string, Args>> = {
  ...{ call: ['read_file', { path: 'p' }], callTool: ['run_command', { command: 'ls' }] },
  ...{ explain: ['read_file', { path: 'p' }], explainTool: ['read_file', { path: 'p' }], checkpoint: [] },
  ...{ rollback: ['checkpoint-1'], undo: ['call-1'], consult: ['policy'] },
}
const refusedOfWorkspace: Readonly<Record<string, Args>> = {
  ...{ run: [], fork: [], commit: [], merge: [], resume: ['id', 'allow'], approvePlan: [] },
}

const refusedOfFiles: Readonly<Record<keyof WorkspaceFiles, Args>> = {
  ...{ read: ['p'], list: ['.'], remove: ['p', '0'.repeat(64)], readBytes: ['p'], readText: ['p'], stat: ['p'] },
  ...{ exists: ['p'], entries: ['.'], walk: ['.'], readLink: ['l'], realPath: ['l'], makeDirectory: ['d'] },
  ...{ delete: ['p'], readable: ['p'], writable: ['n'], batch: [async () => {}], watch: ['.'] },
  ...{
    write: ['n', ''],
    append: ['n', ''],
    setMode: ['p', 0o600],
    link: ['m', 'p'],
    rename: ['p', 'n'],
    copy: ['p', 'n'],
  },
}

/** Returns the refusal of a method, whether it returns or throws it. */
async function refusalOf(object: object, name: string, args: Args): Promise<unknown> {
  try {
    const result = (object as Record<string, (...all: Args) => unknown>)[name]?.(...args)
    if (name === 'walk') for await (const _ of result as AsyncIterable<unknown>);
    return await result
  } catch (error) {
    return error
  }
}

const closed = { code: 'BACKEND_ERROR', message: 'The workspace is closed' }

function methodsOf(object: object): string[] {
  return Object.entries(object).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
}

async function expectRefusals(object: object, table: Readonly<Record<string, Args>>): Promise<void> {
  const names = methodsOf(object).filter((name) => !remaining.includes(name))
  expect(names.sort()).toEqual(Object.keys(table).sort())
  for (const name of names) expect(await refusalOf(object, name, table[name] ?? []), name).toMatchObject(closed)
}

describe.each(Object.keys(backends) as (keyof typeof backends)[])('a closed workspace over %s', (backend) => {
  it('refuses every method of it, its runs and their files', async () => {
    const workspace = await open(backend)
    const run = workspace.run()
    await workspace.close()
    const checked = [expectRefusals(workspace, { ...refused, ...refusedOfWorkspace }), expectRefusals(run, refused)]
    for (const { files } of [workspace, run]) checked.push(expectRefusals(files, refusedOfFiles))
    await Promise.all(checked)
  })

  it('refuses every method of its repository', async () => {
    const workspace = await open(backend)
    const repository = workspace.git as object
    await workspace.close()
    const names = methodsOf(repository)
    expect(names.length).toBeGreaterThan(20)
    for (const name of names) expect(await refusalOf(repository, name, []), name).toMatchObject(closed)
  })

  it('refuses the calls of adapters', async () => {
    const workspace = await open(backend)
    const fs = createFs(workspace)
    const { read_file: readFile } = aiSdkTools(workspace)
    const bashFs = justBashFs(workspace)
    await workspace.close()
    const cause = { cause: { message: closed.message } }
    await expect(fs.promises.readFile('/p')).rejects.toMatchObject(cause)
    await expect(fs.promises.open('/n', 'w')).rejects.toMatchObject(cause)
    if (backend !== 'node') expect(await refusalOf(fs, 'readFileSync', ['/p'])).toMatchObject(cause)
    await expect(bashFs.readFile('/p')).rejects.toMatchObject(cause)
    const options = { toolCallId: '1', messages: [], context: undefined }
    const answer = await readFile?.execute?.({ path: 'p' }, options as never)
    expect(JSON.stringify(answer)).toContain(closed.message)
  })

  it('keeps its records, its history and its report', async () => {
    const workspace = await open(backend)
    const run = workspace.run()
    await run.files.write('q', 'q0')
    const [records, history, report] = [workspace.auditRecords().length, workspace.history(), await run.report()]
    expect(history.entries.length).toBeGreaterThan(0)
    await workspace.close()
    await workspace.call('read_file', { path: 'p' })
    expect(workspace.auditRecords()).toHaveLength(records)
    expect(workspace.history()).toEqual(history)
    expect(await run.report()).toEqual(report)
    expect(workspace.verifyAudit().ok).toBe(true)
    expect(workspace.checkpoints()).toEqual([])
    workspace.subscribe(() => {})()
    workspace.notifyExternalChange()
    await run.close()
    await workspace.close()
  })

  it('closes its forks, but a closed fork leaves it open', async () => {
    const workspace = await open(backend)
    const [one, two] = [await workspace.fork(), await workspace.fork()]
    await one.close()
    expect(await one.call('read_file', { path: 'p' })).toMatchObject(closed)
    expect(await two.files.readText('p')).toBe('p0')
    expect(await workspace.files.readText('p')).toBe('p0')
    await workspace.close()
    await expectRefusals(two, { ...refused, ...refusedOfWorkspace })
    await two.close()
  })

  it('refuses the steps and the commit of a batch that is not done', async () => {
    const workspace = await open(backend)
    const { files } = workspace
    const commit = files.batch(async (tx) => {
      await tx.write('p', 'new')
      await workspace.close()
    })
    await expect(commit).rejects.toMatchObject(closed)
    const other = await open(backend)
    const step = other.files.batch(async (tx) => {
      await other.close()
      await tx.readText('p')
    })
    await expect(step).rejects.toMatchObject(closed)
  })

  it('refuses a call that was approved too late', async () => {
    const policy = { preset: 'autonomous', tools: { write_file: 'ask' } } as const
    const workspace = await createWorkspace({ backend: await backends[backend](), policy })
    const approve = async () => {
      await workspace.close()
      return 'allow' as const
    }
    const call = workspace.call('write_file', { path: 'p', content: 'new', expectedSha256: null }, { approve })
    expect(await call).toMatchObject(closed)
  })

  it('ends calls that wait for an approval, also those of runs and forks', async () => {
    const workspace = await createWorkspace({ backend: await backends[backend](), policy: 'supervised', shell: bash() })
    const callers = [workspace, workspace.run(), await workspace.fork()]
    const signals: (AbortSignal | undefined)[] = []
    let asked = () => {}
    const approve: ApproveHandler = (_, { signal }) => {
      signals.push(signal)
      asked()
      return new Promise(() => {})
    }
    const calls: Promise<unknown>[] = []
    for (const { callTool, files } of callers) {
      for (const call of [
        () => callTool('write_file', { path: 'new', content: 'new' }, { approve }),
        () => callTool('run_command', { command: 'touch new' }, { approve }),
        () => files.write('new', 'new', { approve }),
        () => files.batch((batch) => batch.write('new', 'new'), { approve }),
      ]) {
        const isAsked = new Promise<void>((resolve) => {
          asked = resolve
        })
        calls.push(call().catch((error: unknown) => error))
        await isAsked
      }
    }
    await workspace.close()
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject(closed)
    expect(signals.map((signal) => signal?.aborted)).toEqual(calls.map(() => true))
  })
})

describe('a closed workspace with a dialect', () => {
  it('refuses calls and explanations by every name', async () => {
    const workspace = await createWorkspace({
      ...{ backend: memory(), policy: 'autonomous', dialect: codex(), shell: bash() },
    })
    const { tools, own } = workspace
    await workspace.close()
    for (const { name } of tools) {
      expect(JSON.stringify(await workspace.call(name, {})), name).toContain('The workspace is closed')
      expect(await workspace.explain(name, {}), name).toMatchObject(closed)
    }
    for (const name of methodsOf(own)) {
      expect(await refusalOf(own, name, ['read_file', { path: 'p' }]), name).toMatchObject(closed)
    }
  })
})
