import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memorySink } from '../../src/audit/sinks.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { sha256 } from '../../src/files/hash/sha256.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'

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

describe('files.readBytes', () => {
  it('returns any bytes, whole and in ranges', async () => {
    const { files } = await open()
    expect(await files.readBytes('src/x.bin')).toEqual(noise)
    expect(await files.readBytes('src/x.bin', { start: 250_000, end: 250_010 })).toEqual(noise.slice(250_000, 250_010))
    expect(await files.readBytes('src/x.bin', { start: 299_999 })).toEqual(noise.slice(-1))
    expect(await files.readBytes('src/x.bin', { start: 400_000 })).toEqual(new Uint8Array())
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
