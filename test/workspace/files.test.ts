import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memorySink } from '../../src/audit/sinks.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { sha256 } from '../../src/files/hash/sha256.ts'
import { type Backend, createWorkspace, defineTool, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { FileOperations } from '../../src/workspace/files.ts'
import { until } from '../until.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
const noise = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31 + (i >> 8)) & 0xff)

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'files-'))
})
afterAll(() => rm(directory, { recursive: true }))

const tree = {
  'a.txt': 'one\n',
  'src/x.bin': noise,
  'token.txt': `token = "${TOKEN}"\n`,
  '.env': 'KEY=1\n',
  'private/p.txt': 'hidden\n',
}

async function open(options: Partial<WorkspaceOptions> = {}) {
  const sink = memorySink()
  const workspace = await createWorkspace({ backend: memory(tree), policy: 'autonomous', audit: sink, ...options })
  return { workspace, files: workspace.files, records: () => workspace.auditRecords() }
}

describe('files.batch with new directories', () => {
  const steps: Readonly<Record<string, (files: FileOperations) => Promise<unknown>>> = {
    'moves a file out of': (files) => files.rename('new/d/a', 'moved'),
    'deletes a file in': (files) => files.delete('new/d/a'),
    'moves a directory out of': (files) => files.rename('new/d', 'moved'),
    'deletes a directory in': (files) => files.delete('new/d', { recursive: true }),
  }
  for (const [name, step] of Object.entries(steps)) {
    it(`${name} a directory that it has created by writing there`, async () => {
      const { workspace, files } = await open()
      await files.batch(async (batch) => {
        await batch.write('new/d/a', 'x')
        await step(batch)
      })
      expect(await files.exists('new')).toBe(true)
      expect(await files.exists('new/d/a')).toBe(false)
      await workspace.close()
    })
  }

  it('changes nothing where policy denies what a directory was created for', async () => {
    const { files } = await open({ policy: { preset: 'autonomous', deniedPaths: ['new/**'] } })
    const denied = files.batch(async (batch) => {
      await batch.write('new/a', 'x')
      await batch.delete('new/a')
    })
    await expect(denied).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    for await (const { path } of files.walk('.')) expect(path).not.toBe('new')
  })
})

describe('files.readBytes', () => {
  it('returns any bytes, whole and in ranges', async () => {
    const { files } = await open()
    expect(await files.readBytes('src/x.bin')).toEqual(noise)
    expect(await files.readBytes('src/x.bin', { start: 250_000, end: 250_010 })).toEqual(noise.slice(250_000, 250_010))
    expect(await files.readBytes('src/x.bin', { start: 299_999 })).toEqual(noise.slice(-1))
    expect(await files.readBytes('src/x.bin', { start: 400_000 })).toEqual(new Uint8Array())
  })

  it('refuses a range that ends before its start', async () => {
    const { files } = await open()
    const range = { start: 5, end: 2 }
    for (const name of ['readBytes', 'readable'] as const) {
      const message = `Option "end" of files.${name}() must be at least 5, which is "start", not 2`
      await expect(files[name]('a.txt', range)).rejects.toThrow(new TypeError(message))
    }
    await expect(files.batch((tx) => tx.readBytes('a.txt', range))).rejects.toThrow('must be at least 5')
    expect(await files.readBytes('a.txt', { start: 2, end: 2 })).toEqual(new Uint8Array())
    expect(await files.readBytes('a.txt', { end: 0 })).toEqual(new Uint8Array())
  })

  it('returns a copy that the program may change', async () => {
    const { files } = await open()
    ;(await files.readBytes('a.txt')).fill(0)
    expect(await files.readBytes('a.txt')).toEqual(bytes('one\n'))
  })

  it('shows secrets as marks, and refuses protected files', async () => {
    const { files } = await open()
    const text = new TextDecoder().decode(await files.readBytes('token.txt'))
    expect(text).toMatch(/^token = "\[REDACTED:github-token:1\]"\n$/)
    await expect(files.readBytes('.env')).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    await expect(files.readBytes('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(files.readBytes('../x')).rejects.toMatchObject({ code: 'PATH_REJECTED' })
  })

  it('is a call of read_file for policy and audit', async () => {
    const { files, records } = await open({ policy: { preset: 'autonomous', tools: { read_file: 'deny' } } })
    await expect(files.readBytes('a.txt')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    const allowed = await open()
    await allowed.files.readBytes('a.txt')
    expect(allowed.records().at(-1)).toMatchObject({ toolName: 'read_file', pathsRead: ['a.txt'] })
    expect(records().at(-1)).toMatchObject({ toolName: 'read_file', code: 'POLICY_DENIED' })
  })

  it('passes the text through the hooks', async () => {
    const { files } = await open({
      hooks: {
        postToolResponse: ({ result }) =>
          typeof result.content === 'string' ? { ...result, content: result.content.replace('one', 'two') } : undefined,
      },
    })
    expect(await files.readBytes('a.txt')).toEqual(bytes('two\n'))
    expect(await files.readBytes('src/x.bin')).toEqual(noise)
  })
})

describe('files.batch with hooks', () => {
  it('returns the bytes that the hooks after a call leave, and fails with them', async () => {
    const seen: unknown[] = []
    const { files } = await open({
      hooks: {
        postToolResponse({ tool, input, accesses, result }) {
          if (typeof result.content !== 'string') return undefined
          seen.push([tool, input.path, accesses.map(({ path }) => path), result.content])
          if (result.content.startsWith('KEEP')) throw new Error('not this one')
          return { ...result, content: result.content.replace('one', 'two') }
        },
      },
    })
    const shown = await files.batch(async (batch) => {
      await batch.write('b.txt', 'one more\n')
      return [await batch.readText('a.txt'), await batch.readBytes('b.txt'), await batch.readBytes('src/x.bin')]
    })
    expect(shown).toEqual(['two\n', bytes('two more\n'), noise])
    expect(seen[0]).toEqual(['read_file', 'a.txt', ['a.txt'], 'one\n'])
    expect(await files.batch((batch) => batch.exists('b.txt'))).toBe(true)
    const failing = files.batch(async (batch) => {
      await batch.write('c.txt', 'KEEP')
      await batch.readText('c.txt')
    })
    await expect(failing).rejects.toMatchObject({ code: 'HOOK_FAILED' })
    expect(await files.exists('c.txt')).toBe(false)
  })

  it('labels what is written after a hook has labelled what was read', async () => {
    const { files } = await open({
      policy: {
        preset: 'autonomous',
        labels: { sinks: [{ name: 'out', ceiling: 'public', paths: ['out/**'] }] },
      },
      hooks: {
        postToolResponse: ({ result }) => (result.content === 'one\n' ? { ...result, label: 'restricted' } : undefined),
      },
    })
    await files.batch(async (batch) => batch.write('out/y', await batch.readBytes('src/x.bin')))
    const copied = files.batch(async (batch) => batch.write('out/x', await batch.readBytes('a.txt')))
    await expect(copied).rejects.toMatchObject({ code: 'TAINT_DENIED' })
  })
})

describe('files.write', () => {
  it('writes bytes and texts above the limits of the tools, as one call that can be undone', async () => {
    const { workspace, files, records } = await open()
    const large = new Uint8Array(20 * 1024 * 1024).fill(7)
    expect(await files.write('new/deep/l.bin', large)).toEqual({ sha256: sha256(large) })
    expect(await files.readBytes('new/deep/l.bin', { start: 5, end: 8 })).toEqual(Uint8Array.of(7, 7, 7))
    const written = records().findLast(({ toolName }) => toolName === 'write_file')
    expect(written?.pathsWritten).toContain('new/deep/l.bin')
    expect(await workspace.undo(String(written?.toolCallId))).toMatchObject({ ok: true })
    expect(await files.stat('new')).toBeUndefined()
    const { sha256: version } = await files.write('a.txt', 'two\n', {})
    expect(version).toBe(sha256(bytes('two\n')))
  })

  it('keeps bytes apart from those that the program changes later', async () => {
    const { files } = await open()
    const own = bytes('mine')
    const writing = files.write('own', own)
    own.fill(0)
    await writing
    expect(await files.readBytes('own')).toEqual(bytes('mine'))
  })

  it('replaces only the expected version', async () => {
    const { files } = await open()
    const first = sha256(bytes('one\n'))
    await expect(files.write('a.txt', bytes('x'), null)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    await files.write('a.txt', bytes('two'), { expectedSha256: first })
    await expect(files.write('a.txt', bytes('three'), first)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await files.readBytes('a.txt')).toEqual(bytes('two'))
  })

  it('refuses a mark over the secret that it hides, and keeps the file', async () => {
    const { files } = await open()
    const shown = await files.readBytes('token.txt')
    await expect(files.write('token.txt', shown)).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(await files.readBytes('token.txt')).toEqual(shown)
    await files.write('token.txt', 'empty\n', {})
    expect(await files.readBytes('token.txt')).toEqual(bytes('empty\n'))
  })

  it('is judged by the rules on write_file, on the path and on the content', async () => {
    const { files } = await open({
      policy: {
        preset: 'autonomous',
        rules: [
          { name: 'no docs', action: 'deny', tools: ['write_file'], paths: ['docs/**'] },
          { name: 'no bad', action: 'deny', tools: ['write_file'], args: { content: ['*bad*'] } },
          { name: 'asks', action: 'ask', tools: ['write_file'], paths: ['ask/**'] },
        ],
      },
    })
    await expect(files.write('docs/a', bytes('x'))).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await expect(files.write('b', bytes('a bad one'))).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await expect(files.write('ask/a', bytes('x'))).rejects.toMatchObject({ code: 'APPROVAL_REQUIRED' })
    const questions: string[] = []
    const approve = ({ tool, diff }: { tool: string; diff?: string }) => {
      questions.push(`${tool} ${diff?.includes('+x')}`)
      return 'allow' as const
    }
    await files.write('ask/a', bytes('x\n'), { approve })
    expect(questions).toEqual(['write_file true'])
  })

  it('refuses what does not fit its arguments', async () => {
    const { files } = await open()
    await expect(files.write('a', 5 as never)).rejects.toThrow(TypeError)
    await expect(files.write('a', 'x', { expectedSha: null } as never)).rejects.toThrow(/expectedSha256/)
    await expect(files.readBytes(5 as never)).rejects.toThrow(TypeError)
    await expect(files.readBytes('a.txt', { start: -1 })).rejects.toThrow(TypeError)
    await expect(files.stat('a.txt', { nofollow: true } as never)).rejects.toThrow(/noFollow/)
  })
})

describe('files.stat', () => {
  it('returns the metadata of entries, and nothing of the content of protected ones', async () => {
    const { files } = await open()
    expect(await files.stat('src/x.bin')).toMatchObject({ path: 'src/x.bin', type: 'file', size: 300_000 })
    expect(await files.stat('src')).toMatchObject({ type: 'directory', size: 0 })
    expect(await files.stat('.env')).toEqual({ path: '.env', type: 'file', size: 0, tag: '.env' })
    expect(await files.stat('none')).toBeUndefined()
  })

  it('refuses what policy hides', async () => {
    const { files } = await open({
      policy: { preset: 'autonomous', rules: [{ name: 'hide', action: 'deny', paths: ['private/**'] }] },
    })
    for (const path of ['private/p.txt', 'private/none'])
      await expect(files.stat(path)).rejects.toMatchObject({ code: 'POLICY_DENIED' })
  })
})

describe('files on disk', () => {
  it('reads and writes what the disk has', async () => {
    await writeFile(join(directory, 'd.bin'), noise)
    const { workspace, files } = await open({ backend: nodeBackend(directory) })
    expect(await files.readBytes('d.bin', { start: 10, end: 20 })).toEqual(noise.slice(10, 20))
    await files.write('sub/e.bin', noise, { mode: 0o600 })
    expect(new Uint8Array(await readFile(join(directory, 'sub/e.bin')))).toEqual(noise)
    expect(await files.stat('sub/e.bin')).toMatchObject({ type: 'file', size: noise.length, mode: 0o600 })
    await workspace.close()
  })
})

/** Collects what an iteration yields. */
async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

describe('the methods of files', () => {
  it('say what was cancelled', async () => {
    const { workspace, files } = await open()
    const signal = AbortSignal.abort()
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      'files.readBytes': () => files.readText('a.txt', { signal }),
      'files.stat': () => files.exists('a.txt', { signal }),
      'files.watch': () => files.watch('.', { signal }),
      'files.entries': () => files.entries('.', { signal }),
      'files.walk': () => listOf(files.walk('.', { signal })),
      'files.write': () => files.write('a.txt', 'x', { signal }),
      'files.batch': () => files.batch((tx) => tx.write('a.txt', 'x'), { signal }),
    }
    for (const [name, call] of Object.entries(calls)) {
      await expect(call()).rejects.toMatchObject({ code: 'ABORTED', message: `${name} was cancelled` })
    }
    expect(await workspace.call('read_file', { path: 'a.txt' }, { signal })).toMatchObject({
      ...{ code: 'ABORTED', message: 'read_file was cancelled' },
    })
  })

  it('read texts, entries and trees', async () => {
    const { files } = await open()
    expect(await files.readText('a.txt')).toBe('one\n')
    await expect(files.readText('src/x.bin')).rejects.toMatchObject({ code: 'UNSUPPORTED_ENCODING' })
    expect(await files.exists('a.txt')).toBe(true)
    expect(await files.exists('none')).toBe(false)
    expect(await files.entries('src')).toEqual([{ name: 'x.bin', type: 'file' }])
    expect((await listOf(files.walk())).map(({ path }) => path)).toEqual([
      ...['.env', 'a.txt', 'private', 'private/p.txt', 'src', 'src/x.bin', 'token.txt'],
    ])
    expect(await listOf(files.walk('.', { maxDepth: 1 }))).toHaveLength(5)
    for (const call of [files.stat(''), files.list(''), listOf(files.walk('')), files.batch((some) => some.stat(''))])
      await expect(call).rejects.toMatchObject({ message: 'Path "" is empty; the root is "."' })
  })

  it('append, make, link, rename, copy and delete', async () => {
    const { files } = await open()
    expect(await files.append('a.txt', 'two\n')).toEqual({ sha256: sha256(bytes('one\ntwo\n')) })
    await files.append('new/log', bytes('x'))
    await files.makeDirectory('d/e/f')
    await files.makeDirectory('d/e/f')
    await expect(files.makeDirectory('d', { recursive: false })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    await files.link('d/l', '../a.txt')
    expect(await files.readLink('d/l')).toBe('../a.txt')
    expect(await files.realPath('d/l')).toBe('a.txt')
    expect(await files.stat('d/l')).toMatchObject({ path: 'a.txt', type: 'file', size: 8 })
    expect(await files.stat('d/l', { noFollow: true })).toMatchObject({ path: 'd/l', type: 'link' })
    await expect(files.rename('a.txt', 'token.txt')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    await files.rename('a.txt', 'new/deep/b.txt')
    await files.copy('new', 'copy/of')
    expect(await files.readText('copy/of/deep/b.txt')).toBe('one\ntwo\n')
    await files.copy('new/log', 'copy/of/deep/b.txt', { overwrite: true })
    expect(await files.readText('copy/of/deep/b.txt')).toBe('x')
    await expect(files.delete('copy')).rejects.toMatchObject({ code: 'DIRECTORY_NOT_EMPTY' })
    await files.delete('copy', { recursive: true })
    expect(await files.exists('copy')).toBe(false)
    await expect(files.copy('new', 'new/in')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('keep a secret hidden where they copy or move it', async () => {
    const { files } = await open()
    await files.copy('token.txt', 'other.txt')
    expect(await files.readText('other.txt')).toContain('[REDACTED:')
    await files.rename('other.txt', 'third.txt')
    expect(await files.readText('third.txt')).toContain('[REDACTED:')
    await expect(files.copy('.env', 'env.txt')).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    await expect(files.rename('.env', 'env.txt')).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    await expect(files.link('env.txt', '.env')).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    await expect(files.link('out', '../../etc')).rejects.toMatchObject({ code: 'PATH_REJECTED' })
  })
})

describe('the bytes of a write', () => {
  const replace = defineTool({
    ...{ name: 'replace', title: 'Replace', description: 'Replaces a file.', permission: 'file:write:replace' },
    ...{ input: z.object({}), output: z.object({}), mutates: true, idempotent: false },
    plan: () => [{ permission: 'file:write:replace', path: 'a.txt' }],
    draft: async (_, { accesses: [access] }) => ({
      summary: 'Replaced',
      changes: [{ path: access?.path as never, expect: 'any', to: { type: 'file', bytes: shared } }],
      result: () => ({}),
    }),
  })
  let shared = bytes('')
  const doors: Readonly<Record<string, (workspace: Workspace, content: Uint8Array) => Promise<unknown>>> = {
    write: ({ files }, content) => files.write('a.txt', content),
    append: ({ files }, content) => files.append('a.txt', content),
    'write in a batch': ({ files }, content) => files.batch((tx) => tx.write('a.txt', content)),
    'append in a batch': ({ files }, content) => files.batch((tx) => tx.append('a.txt', content)),
    async writable({ files }, content) {
      const writer = (await files.writable('a.txt')).getWriter()
      await writer.write(content)
      content.fill(0x42)
      await writer.close()
    },
    writeFile: (workspace, content) => createFs(workspace).promises.writeFile('/a.txt', content),
    'an own tool': (workspace) => workspace.callTool('replace', {}),
    async 'resolve of a merge'(workspace, content) {
      const fork = await workspace.fork()
      await fork.files.write('a.txt', 'mine\n', { approve: () => 'allow' })
      await workspace.files.write('a.txt', 'theirs\n', { approve: () => 'allow' })
      content.set(bytes('GOOD\n'))
      return fork.merge({ resolve: { 'a.txt': content } })
    },
  }
  it.each(
    Object.keys(doors).flatMap((door) => [
      [door, 'Uint8Array', bytes] as const,
      [door, 'Buffer', (text: string) => Buffer.from(text)] as const,
    ]),
  )('by %s are those that an approval shows (%s)', async (door, _, contentOf) => {
    const content = contentOf('GOOD\n')
    shared = content as typeof shared
    const { workspace } = await open({
      policy: { preset: 'autonomous', rules: [{ name: 'a', action: 'ask', permissions: ['file:change'] }] },
      extraTools: [replace],
      approve() {
        content.fill(0x42)
        return 'allow'
      },
    })
    await doors[door]?.(workspace, content)
    expect(await workspace.files.readText('a.txt')).toMatch(/^(one\n)?GOOD\n$/)
  })
})

describe('a name that would become a protected one elsewhere', () => {
  const names = ['.env.', '.ENV. ', 'id_rsa ', '.e\u200cnv', '.git.', '.git ', 'a/.env.local.', '.npmrc..']
  const writes: Readonly<Record<string, (workspace: Workspace, path: string) => Promise<unknown>>> = {
    write: ({ files }, path) => files.write(`${path}/q`, 'x'),
    makeDirectory: ({ files }, path) => files.makeDirectory(`${path}/q`),
    rename: ({ files }, path) => files.rename('a.txt', `${path}/q`),
    write_file: (workspace, path) => workspace.callTool('write_file', { path: `${path}/q`, content: 'x' }),
    create_directory: (workspace, path) => workspace.callTool('create_directory', { path: `${path}/q/r` }),
  }
  it.each(names.flatMap((name) => Object.keys(writes).map((way) => [name, way] as const)))(
    'is refused as a directory as well: %j by %s',
    async (name, way) => {
      const { workspace, files } = await open()
      const answer = await writes[way]?.(workspace, name).catch((error: unknown) => error)
      expect(answer).toMatchObject({ code: 'PATH_REJECTED' })
      expect(await listOf(files.walk())).toHaveLength(7)
    },
  )

  it('does not end a walk if others have created it', async () => {
    const { files } = await open({ backend: memory({ ...tree, '.env./q': 'x', 'src/id_rsa /q/r': 'x' }) })
    expect((await listOf(files.walk())).map(({ path }) => path)).toContain('src/x.bin')
  })
})

describe('files.batch', () => {
  it('leaves time for timers, so that a signal ends it', async () => {
    const { files } = await open({ policy: { preset: 'autonomous', limits: { callsPerMinute: 1e9 } } })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 1)
    const endless = files.batch(
      async (tx) => {
        for (;;) await tx.exists('a.txt')
      },
      { signal: controller.signal },
    )
    await expect(endless).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('is one call whose reads see its writes, and is undone as a whole', async () => {
    const { workspace, files, records } = await open()
    const before = records().length
    const result = await files.batch(async (tx) => {
      await tx.write('n/one', '1')
      await tx.append('n/one', '2')
      await tx.rename('a.txt', 'n/a')
      await tx.delete('src', { recursive: true })
      expect(await files.exists('n/one')).toBe(false)
      return tx.readText('n/one')
    })
    expect(result).toBe('12')
    expect((await listOf(files.walk())).map(({ path }) => path)).toEqual([
      '.env',
      'n',
      'n/a',
      'n/one',
      'private',
      'private/p.txt',
      'token.txt',
    ])
    const batches = records()
      .slice(before)
      .filter(({ toolName }) => toolName === 'batch')
    expect(new Set(batches.map(({ toolCallId }) => toolCallId)).size).toBe(1)
    expect(await workspace.undo(String(batches[0]?.toolCallId))).toMatchObject({ ok: true })
    expect(await files.readText('a.txt')).toBe('one\n')
    expect(await files.readBytes('src/x.bin')).toEqual(noise)
    expect(await files.exists('n')).toBe(false)
  })

  it('commits nothing if the function throws, and throws the same error', async () => {
    const { files } = await open()
    const error = new RangeError('mine')
    await expect(
      files.batch(async (tx) => {
        await tx.write('n', '1')
        throw error
      }),
    ).rejects.toBe(error)
    expect(await files.exists('n')).toBe(false)
  })

  it('refuses what its function does after its end', async () => {
    const { files } = await open()
    let kept: Parameters<Parameters<typeof files.batch>[0]>[0] | undefined
    await files.batch(async (tx) => {
      kept = tx
    })
    await expect(kept?.write('n', '1')).rejects.toMatchObject({ code: 'INVALID_INPUT', message: /has ended/ })
  })

  it('judges each operation by the rules on its tool', async () => {
    const { files } = await open({
      policy: {
        preset: 'autonomous',
        tools: { delete_file: 'deny', move_file: 'ask' },
        rules: [
          { name: 'no bad', action: 'deny', tools: ['write_file'], args: { content: ['*bad*'] } },
          { name: 'asks', action: 'ask', tools: ['append_file'], args: { content: ['*ask*'] } },
          { name: 'hide', action: 'deny', permissions: ['file:view'], paths: ['private/**'] },
        ],
      },
    })
    const codes: unknown[] = []
    const note = (error: { code?: unknown }) => void codes.push(error.code)
    await files.batch(async (tx) => {
      await tx.delete('a.txt').catch(note)
      await tx.write('b', 'a bad one').catch(note)
      await tx.readBytes('private/p.txt').catch(note)
      await tx.readBytes('.env').catch(note)
      await tx.copy('.', 'c').catch(note)
      await tx.write('fine', 'fine')
    })
    expect(codes).toEqual(['POLICY_DENIED', 'POLICY_DENIED', 'POLICY_DENIED', 'POLICY_DENIED_SECRET', 'INVALID_INPUT'])
    expect(await files.readText('fine')).toBe('fine')
    for (const act of [
      (tx: Parameters<Parameters<typeof files.batch>[0]>[0]) => tx.rename('a.txt', 'b.txt'),
      (tx: Parameters<Parameters<typeof files.batch>[0]>[0]) => tx.append('a.txt', 'I ask').then(() => {}),
    ]) {
      await expect(files.batch(act)).rejects.toMatchObject({ code: 'APPROVAL_REQUIRED' })
      expect(await files.readText('a.txt')).toBe('one\n')
    }
    const tools: string[] = []
    await files.batch((tx) => tx.append('a.txt', 'I ask'), {
      approve: ({ tool }) => {
        tools.push(tool)
        return 'allow'
      },
    })
    expect(tools).toEqual(['batch'])
    expect(await files.readText('a.txt')).toBe('one\nI ask')
  })

  it('conflicts with changes by others in between', async () => {
    const { files } = await open()
    await expect(
      files.batch(async (tx) => {
        await tx.append('a.txt', 'two\n')
        await files.write('a.txt', 'other\n', {})
      }),
    ).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await files.readText('a.txt')).toBe('other\n')
  })
})

describe('streams of files', () => {
  it('read a file in parts, and refuse at once', async () => {
    const large = new Uint8Array(8 * 1024 * 1024 + 5).map((_, i) => i % 251)
    const { files } = await open({ backend: memory({ large, 'private/p.txt': 'x' }) })
    const parts = await listOf((await files.readable('large')) as unknown as AsyncIterable<Uint8Array>)
    expect(parts.map(({ length }) => length)).toEqual([8388608, 5])
    expect(Buffer.compare(Buffer.concat(parts), large)).toBe(0)
    await expect(files.readable('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const stream = (await files.readable('large')).getReader()
    await stream.read()
    await files.write('large', 'changed', {})
    await expect(stream.read()).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
  })

  it('search a file without secrets once as a whole, and then only the parts that they read', async () => {
    const size = 2 * 1024 * 1024
    const [plain, token] = ['x'.repeat(size), `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`]
    const backend = memory({ plain, secret: `${plain}\ntoken = "${token}"\n` })
    let bytes = 0
    const tags = new Map<string, string>()
    const counted: Backend = {
      ...backend,
      async stat(path) {
        const stat = await backend.stat(path)
        const tag = tags.get(path)
        return stat === undefined || tag === undefined ? stat : { ...stat, tag }
      },
      async read(path, range) {
        const read = await backend.read(path, range && { start: range.start, end: range.end })
        bytes += read.bytes.length
        return read
      },
    }
    Reflect.deleteProperty(counted, 'readsNow')
    const { files } = await open({ backend: counted })
    const ranges = Array.from({ length: 8 }, (_, i) => ({ start: (i * size) / 8, end: ((i + 1) * size) / 8 }))
    for (const range of ranges) expect((await files.readBytes('plain', range)).length).toBe(size / 8)
    expect(bytes / size).toBeGreaterThan(1)
    expect(bytes / size).toBeLessThan(3)
    for (let i = 0; i < 2; i++) {
      const end = new TextDecoder().decode(await files.readBytes('secret', { start: size }))
      expect(end).toBe('\ntoken = "[REDACTED:github-token:1]"\n')
    }
    // A change that the tag does not show.
    tags.set('plain', (await backend.stat('plain' as Path))?.tag ?? '')
    await files.write('plain', `${plain}\n${token}`, {})
    const changed = await files.readBytes('plain', { start: size })
    expect(new TextDecoder().decode(changed)).toBe('\n[REDACTED:github-token:1]')
  })

  it('write a file when they are closed, as one call', async () => {
    const { files, records } = await open()
    const before = records().length
    const writer = (await files.writable('out/s.txt')).getWriter()
    await writer.write('one ')
    await writer.write(bytes('two'))
    expect(await files.exists('out')).toBe(false)
    await writer.close()
    expect(await files.readText('out/s.txt')).toBe('one two')
    expect(
      records()
        .slice(before)
        .filter(({ pathsWritten }) => pathsWritten.includes('out/s.txt')).length,
    ).toBeGreaterThan(0)
    const aborted = (await files.writable('out/a.txt')).getWriter()
    await aborted.write('x')
    await aborted.abort()
    expect(await files.exists('out/a.txt')).toBe(false)
  })
})

describe('files.watch', () => {
  it('yields own and reported changes below a path, without hidden ones', async () => {
    const { workspace, files } = await open({
      policy: {
        preset: 'autonomous',
        rules: [{ name: 'hide', action: 'deny', permissions: ['file:view'], paths: ['private/**'] }],
      },
    })
    const end = new AbortController()
    const changes = await files.watch('.', { signal: end.signal })
    await files.write('n/one', '1')
    workspace.notifyExternalChange(['private/p.txt'])
    workspace.notifyExternalChange(['a.txt', 'private/p.txt'])
    workspace.notifyExternalChange()
    const seen = []
    for await (const change of changes) {
      seen.push(change)
      if (seen.length === 3) end.abort()
    }
    expect(seen).toEqual([
      { paths: ['n', 'n/one'], callId: expect.any(String) },
      { paths: ['a.txt'], external: true },
      { paths: undefined, external: true },
    ])
    await expect(files.watch('private')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('of a directory that leads to allowed files tells about these', async () => {
    const backend = memory({ 'a/b/c.txt': '1', 'a/x.txt': '1', 'private/s.txt': '1' })
    const workspace = await createWorkspace({ backend, policy: { preset: 'autonomous', allowedPaths: ['a/b/**'] } })
    const paths = ['a/b/c.txt', 'a/x.txt', 'private/s.txt']
    for (const start of ['.', 'a', 'a/b']) {
      const changes = (await workspace.files.watch(start))[Symbol.asyncIterator]()
      workspace.notifyExternalChange(paths)
      expect((await changes.next()).value, start).toEqual({ paths: ['a/b/c.txt'], external: true })
      await changes.return?.()
    }
    await expect(workspace.files.watch('private')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await expect(workspace.files.watch('a/x.txt')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await workspace.close()
  })

  it('ends the watch of a backend that opens it after the workspace was closed', async () => {
    let open = (_end: () => void): void => {}
    let isAsked = false
    let isEnded = false
    const opening = new Promise<() => void>((resolve) => {
      open = resolve
    })
    const watch = () => {
      isAsked = true
      return opening
    }
    const workspace = await createWorkspace({ backend: { ...memory(), watch }, policy: 'autonomous' })
    const watching = workspace.files.watch()
    await until('asked', () => isAsked)
    await workspace.close()
    open(() => {
      isEnded = true
    })
    const changes = (await watching)[Symbol.asyncIterator]()
    expect(isEnded).toBe(true)
    expect(await changes.next()).toEqual({ done: true, value: undefined })
  })

  it.each(['the workspace is closed', 'it is left while it waits', 'it is left before it begins'])(
    'ends, with the watch of the backend, when %s',
    async (when) => {
      let watches = 0
      const backend = {
        ...memory(),
        async watch() {
          watches += 1
          return () => {
            watches -= 1
          }
        },
      }
      const workspace = await createWorkspace({ backend, policy: 'autonomous' })
      const changes = (await workspace.files.watch())[Symbol.asyncIterator]()
      expect(watches).toBe(1)
      const waiting = when.includes('begins') ? undefined : changes.next()
      if (when.includes('closed')) await workspace.close()
      else expect(await changes.return?.()).toEqual({ done: true, value: undefined })
      if (waiting !== undefined) expect(await waiting).toEqual({ done: true, value: undefined })
      expect(watches).toBe(0)
      expect(await changes.next()).toEqual({ done: true, value: undefined })
    },
  )
})
