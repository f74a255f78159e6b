import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { faulty } from '../../src/testing/index.ts'
import { bench } from './setup.ts'

const put = (backend: Backend, text: string) =>
  backend.commit(
    [{ path: 'a.txt' as never, expect: 'any', to: { type: 'file', bytes: new TextEncoder().encode(text) } }],
    { durability: 'durable' },
  )

const sha = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

describe('read_file', () => {
  it('returns lines with the version of the whole file', async () => {
    const stored = '\ufeffone\r\ntwo\r\nthree'
    const { ok } = await bench({ 'a.ts': stored })
    expect(await ok('read_file', { path: 'a.ts', startLine: 2, maxLines: 1 })).toMatchObject({
      content: 'two\r\n',
      startLine: 2,
      endLine: 2,
      totalLines: 3,
      sha256: sha(stored),
      truncated: true,
      kind: 'TEXT_SOURCE',
      encoding: 'utf-8',
      eol: 'crlf',
      bom: true,
    })
    expect((await ok('read_file', { path: 'a.ts', lineNumbers: true })).content).toBe(
      '     1 | one\r\n     2 | two\r\n     3 | three',
    )
  })

  it('limits lines and bytes, and reports the cut', async () => {
    const { ok } = await bench({
      'long.txt': 'x\n'.repeat(1500),
      'wide.txt': `${'é'.repeat(20_000)}\n`.repeat(3),
      'one.txt': `a${'𝒳'.repeat(40_000)}`,
    })
    expect(await ok('read_file', { path: 'long.txt' })).toMatchObject({
      endLine: 200,
      truncated: true,
      totalLines: 1500,
    })
    const clamped = await ok('read_file', { path: 'long.txt', maxLines: 5000 })
    expect(clamped).toMatchObject({ endLine: 1000, truncated: true })
    expect(clamped.warnings.join()).toContain('1000')
    expect(await ok('read_file', { path: 'wide.txt' })).toMatchObject({ endLine: 1, truncated: true })
    const { content } = await ok('read_file', { path: 'one.txt' })
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(65_536)
    expect(content.isWellFormed()).toBe(true)
  })

  it('reads an empty file, and refuses a start after the end', async () => {
    const { ok, call } = await bench({ 'e.txt': '', 'a.txt': 'a\n' })
    expect(await ok('read_file', { path: 'e.txt' })).toMatchObject({
      content: '',
      totalLines: 0,
      endLine: 0,
      truncated: false,
    })
    expect(await call('read_file', { path: 'a.txt', startLine: 2 })).toMatchObject({
      code: 'INVALID_INPUT',
      totalLines: 1,
    })
  })

  it('refuses binary and protected files without showing a byte', async () => {
    const { call, code } = await bench({
      blob: new Uint8Array([1, 0, 2]),
      'latin.txt': new Uint8Array([0x61, 0xe9, 0x0a]),
      '.env': 'PASSWORD=hunter2',
      l: { link: '.env' },
      d: { text: '' },
      'e/f': '',
    })
    expect(await code('read_file', { path: 'blob' })).toBe('UNSUPPORTED_BINARY')
    expect(await call('read_file', { path: 'latin.txt' })).toMatchObject({ code: 'UNSUPPORTED_ENCODING', offset: 1 })
    expect(await code('read_file', { path: 'e' })).toBe('IS_DIRECTORY')
    for (const path of ['.env', 'l', './x/../.env']) {
      const answer = await call('read_file', { path })
      expect(answer.code).toBe('POLICY_DENIED_SECRET')
      expect(JSON.stringify(answer)).not.toContain('hunter2')
    }
  })

  it('reads the stored diff of a change in ranges, but not of another run', async () => {
    const { ok, code } = await bench({ 'a.ts': 'a\n' })
    const { artifactUri, diff } = await ok('edit_file', { path: 'a.ts', oldText: 'a', newText: 'b' })
    expect((await ok('read_file', { path: artifactUri })).content).toBe(diff)
    expect((await ok('read_file', { path: artifactUri, startLine: 2, maxLines: 1 })).content).toBe('--- a/a.ts\n')
    expect(await code('read_file', { path: 'artifact://other/x' })).toMatch(/NOT_FOUND|PATH_REJECTED|POLICY_DENIED/)
    expect(await code('read_file', { path: 'artifact://../x' })).toMatch(/NOT_FOUND|PATH_REJECTED|POLICY_DENIED/)
  })

  describe('of a file over the size limit of text files', () => {
    const limits = { textFileBytes: 1000 }
    const token = `ghp_${'a1B2'.repeat(10)}`
    const lines = Array.from({ length: 20_000 }, (_, i) =>
      i % 1000 === 7 ? `line ${i + 1} ${token} é` : `line ${i + 1} with some text 𝒳 to make several parts of it`,
    )

    it.each([
      ['utf-8', '\n', false],
      ['utf-8', '\r\n', true],
      ['utf-16le', '\r\n', true],
      ['utf-16be', '\n', true],
    ] as const)('in %s with %j returns the same as for a file that is loaded whole', async (encoding, end, bom) => {
      const text = `${bom ? '\ufeff' : ''}${lines.join(end)}`
      const bytes = encoding === 'utf-8' ? Buffer.from(text) : Buffer.from(text, 'utf16le')
      if (encoding === 'utf-16be') bytes.swap16()
      const stored = new Uint8Array(bytes)
      const whole = await bench({ 'a.txt': stored })
      const parts = await bench({ 'a.txt': stored }, { limits })
      for (const range of [
        {},
        { startLine: 19_990 },
        { startLine: 9_000, maxLines: 20 },
        { startLine: 15_000, maxLines: 1000 },
      ]) {
        const input = { path: 'a.txt', ...range }
        const [one, other] = [await whole.ok('read_file', input), await parts.ok('read_file', input)]
        // The number of a mark depends on the range that was examined, and each call has its own id.
        const plain = (answer: typeof one) => ({
          ...answer,
          callId: 'any',
          content: answer.content.replace(/(\[REDACTED:[a-z-]+):\d+\]/g, '$1]'),
        })
        expect(plain(other)).toEqual(plain(one))
        expect(other.content).not.toContain(token)
      }
      expect(await parts.code('read_file', { path: 'a.txt', startLine: 20_001 })).toBe('INVALID_INPUT')
      expect((await parts.ok('file_info', { path: 'a.txt' })).sha256).toBe(sha(stored))
    })

    const pem = `-----BEGIN PRIVATE KEY-----\n${`${'QUJDREVG'.repeat(8)}\n`.repeat(10)}-----END PRIVATE KEY-----\n`
    const part = 1024 * 1024
    it.each<[string, string, object[]]>([
      ['a line end across two parts', `${'x\n'.repeat(part / 2 - 1)}y\r\nz\r\n`, [{}, { startLine: part / 2 }]],
      [
        'other line ends in a later part',
        `${'x\r\n'.repeat(part / 3 + 1)}\r\n${'y\n'.repeat(20)}\r`,
        [{ startLine: 9 }],
      ],
      ['both line ends in the first part', `x\r\ny\n${'z\n'.repeat(part)}`, [{ startLine: 2 }]],
      [
        'a secret across the edges of the range',
        `a\n${pem}${'b\n'.repeat(800)}`,
        [
          { startLine: 1, maxLines: 3 },
          { startLine: 5, maxLines: 3 },
        ],
      ],
    ])('with %s returns the same as for a file that is loaded whole', async (_, text, ranges) => {
      const whole = await bench({ 'a.txt': text })
      const parts = await bench({ 'a.txt': text }, { limits })
      for (const range of ranges) {
        const [one, other] = await Promise.all(
          [whole, parts].map(({ ok }) => ok('read_file', { path: 'a.txt', ...range })),
        )
        expect({ ...other, callId: '', content: '' }).toEqual({ ...one, callId: '', content: '' })
        expect(other?.content).not.toContain('QUJD')
      }
    })

    it('shows nothing of a secret that a limit cuts', async () => {
      const text = `${'x'.repeat(90)} ${token} ${'y'.repeat(2000)}\n`
      const { ok } = await bench({ 'a.txt': text }, { limits: { ...limits, readBytes: 100 } })
      const { content, truncated } = await ok('read_file', { path: 'a.txt' })
      expect({ content, truncated }).toEqual({ content: `${'x'.repeat(90)} `, truncated: true })
    })

    it('stops when it is cancelled and when the file changes', async () => {
      const stored = 'x\n'.repeat(part)
      const stopping = new AbortController()
      for (const [happens, expected] of [
        [() => stopping.abort(), { code: 'ABORTED' }],
        [(backend: Backend) => put(backend, 'y\n'), { code: 'WRITE_CONFLICT' }],
      ] as const) {
        const backend: Backend = faulty(memory({ 'a.txt': stored }), {
          on: 'read',
          nth: 1,
          when: 'after',
          run: () => happens(backend),
        })
        const { call } = await bench({}, { backend, limits })
        expect(
          await call('read_file', { path: 'a.txt' }, expected.code === 'ABORTED' ? { signal: stopping.signal } : {}),
        ).toMatchObject(expected)
      }
    })

    it('refuses binary and broken text, and edits', async () => {
      const utf16 = new Uint8Array(2000)
      utf16.set([0xff, 0xfe, 0x61])
      const wide = await bench({ utf16 }, { limits })
      expect(await wide.code('read_file', { path: 'utf16' })).toMatch(/UNSUPPORTED/)
      const broken = Buffer.concat([Buffer.from('é'.repeat(1_000_000)), Buffer.from([0xff])])
      const { code } = await bench({ blob: new Uint8Array(2000), broken: new Uint8Array(broken) }, { limits })
      expect(await code('read_file', { path: 'blob' })).toMatch(/UNSUPPORTED/)
      expect(await code('read_file', { path: 'broken' })).toBe('UNSUPPORTED_ENCODING')
      expect(await code('edit_file', { path: 'broken', oldText: 'é', newText: 'e' })).toBe('FILE_TOO_LARGE')
    })
  })
})
