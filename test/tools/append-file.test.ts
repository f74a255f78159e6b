import { describe, expect, it } from 'vitest'
import { bench } from './setup.ts'

describe('append_file', () => {
  it('creates a missing file with its parents', async () => {
    const { ok, text } = await bench({})
    expect(await ok('append_file', { path: 'a/b.log', content: 'x\n' })).toMatchObject({
      created: true,
      oldSha256: null,
      bytesAppended: 2,
      sizeBytes: 2,
    })
    expect(await text('a/b.log')).toBe('x\n')
  })

  it('keeps the line end, the encoding and the BOM of the file', async () => {
    const wide = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le').swap16())
    const { ok, bytes, text } = await bench({
      'crlf.txt': 'a\r\n',
      'cr.txt': 'a\r',
      'bom.txt': '\ufeffa\n',
      'wide.txt': wide('\ufeffa\r\n'),
    })
    await ok('append_file', { path: 'crlf.txt', content: 'b\nc\r\n' })
    expect(await text('crlf.txt')).toBe('a\r\nb\r\nc\r\n')
    await ok('append_file', { path: 'cr.txt', content: 'b\n' })
    expect(await text('cr.txt')).toBe('a\rb\r')
    await ok('append_file', { path: 'bom.txt', content: 'b\n' })
    expect(await text('bom.txt')).toBe('\ufeffa\nb\n')
    expect(await ok('append_file', { path: 'wide.txt', content: 'é\n' })).toMatchObject({ bytesAppended: 6 })
    expect(Buffer.from(await bytes('wide.txt'))).toEqual(Buffer.from(wide('\ufeffa\r\né\r\n')))
  })

  it('warns if the file does not end in a newline', async () => {
    const { ok, text } = await bench({ 'a.txt': 'a' })
    expect((await ok('append_file', { path: 'a.txt', content: 'b' })).warnings.join()).toContain('newline')
    expect(await text('a.txt')).toBe('ab')
  })

  it('refuses a file over the size limit, a stale version, binary files and directories', async () => {
    const { call, code, snapshot, sha } = await bench(
      {
        'a.txt': '12345678',
        blob: new Uint8Array([1, 0, 2]),
        'latin.txt': new Uint8Array([0xe9, 0x0a]),
        d: { text: '' },
        'e/f': '',
      },
      { limits: { appendTotalBytes: 10 } },
    )
    const before = await snapshot()
    expect(await call('append_file', { path: 'a.txt', content: 'éé' })).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      hint: expect.stringContaining('another'),
    })
    expect(await code('append_file', { path: 'new.txt', content: '12345678901' })).toBe('LIMIT_EXCEEDED')
    expect(await code('append_file', { path: 'a.txt', content: 'x', expectedSha256: null })).toBe('WRITE_CONFLICT')
    expect(await code('append_file', { path: 'new.txt', content: 'x', expectedSha256: await sha('a.txt') })).toBe(
      'WRITE_CONFLICT',
    )
    expect(await code('append_file', { path: 'blob', content: 'x' })).toBe('UNSUPPORTED_BINARY')
    expect(await code('append_file', { path: 'latin.txt', content: 'x' })).toBe('UNSUPPORTED_ENCODING')
    expect(await code('append_file', { path: 'e', content: 'x' })).toBe('IS_DIRECTORY')
    expect(await code('append_file', { path: 'n/x', content: 'x', createParents: false })).toBe('NOT_FOUND')
    expect(await snapshot()).toEqual(before)
  })

  it('keeps the record of the lines that the run has read', async () => {
    const { ok, code } = await bench({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    await ok('read_file', { path: 'a.txt' })
    await ok('append_file', { path: 'a.txt', content: 'x\n' })
    await ok('write_file', { path: 'a.txt', content: 'all\n' })
    await ok('append_file', { path: 'b.txt', content: 'x\n' })
    expect(await code('write_file', { path: 'b.txt', content: 'all\n' })).toBe('WRITE_CONFLICT')
  })
})
