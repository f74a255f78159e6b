import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { bench } from './setup.ts'

const sha = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')

describe('write_file', () => {
  it('creates a file with its parents and returns its version', async () => {
    const { ok, text } = await bench({})
    const answer = await ok('write_file', { path: 'a/b/c.ts', content: 'é\n' })
    expect(answer).toMatchObject({ created: true, oldSha256: null, newSha256: sha('é\n'), bytesWritten: 3 })
    expect(await text('a/b/c.ts')).toBe('é\n')
  })

  it('creates no parents with createParents: false', async () => {
    const { code, snapshot } = await bench({})
    expect(await code('write_file', { path: 'a/b.ts', content: '', createParents: false })).toBe('NOT_FOUND')
    expect(await snapshot()).toEqual({})
  })

  it('replaces only the expected version', async () => {
    const { ok, call, code, text } = await bench({ 'a.ts': 'one\n' })
    const refused = await call('write_file', { path: 'a.ts', content: 'x' })
    expect(refused).toMatchObject({ code: 'WRITE_CONFLICT', currentSha256: sha('one\n') })
    expect(await code('write_file', { path: 'a.ts', content: 'x', expectedSha256: sha('other') })).toBe(
      'WRITE_CONFLICT',
    )
    expect(await code('write_file', { path: 'a.ts', content: 'x', expectedSha256: null })).toBe('WRITE_CONFLICT')
    await ok('write_file', { path: 'a.ts', content: 'two\n', expectedSha256: sha('one\n') })
    expect(await text('a.ts')).toBe('two\n')
    // The run wrote all of this version, so it needs no hash.
    await ok('write_file', { path: 'a.ts', content: 'three\n' })
  })

  it('needs no hash after a complete read, but needs one after a partial read', async () => {
    const { ok, code } = await bench({ 'a.ts': 'one\ntwo\n' })
    await ok('read_file', { path: 'a.ts', maxLines: 1 })
    expect(await code('write_file', { path: 'a.ts', content: 'x' })).toBe('WRITE_CONFLICT')
    await ok('read_file', { path: 'a.ts', startLine: 2 })
    await ok('write_file', { path: 'a.ts', content: 'x' })
  })

  it('does not count a cut line as read', async () => {
    const { ok, code } = await bench({ 'a.txt': 'x'.repeat(70_000) })
    expect(await ok('read_file', { path: 'a.txt' })).toMatchObject({ truncated: true, endLine: 1 })
    expect(await code('write_file', { path: 'a.txt', content: 'x' })).toBe('WRITE_CONFLICT')
  })

  it('requires hash and read with the stale guard "shown"', async () => {
    const { ok, code } = await bench({ 'a.ts': 'one\n' }, { staleGuard: 'shown' })
    const expectedSha256 = sha('one\n')
    expect(await code('write_file', { path: 'a.ts', content: 'x', expectedSha256 })).toBe('WRITE_CONFLICT')
    await ok('read_file', { path: 'a.ts' })
    await ok('write_file', { path: 'a.ts', content: 'x', expectedSha256 })
  })

  it('respects its mode', async () => {
    const { ok, code } = await bench({ 'a.ts': 'a' })
    expect(await code('write_file', { path: 'a.ts', content: '', mode: 'CREATE_NEW' })).toBe('ALREADY_EXISTS')
    expect(await code('write_file', { path: 'b.ts', content: '', mode: 'REPLACE_EXISTING' })).toBe('NOT_FOUND')
    await ok('write_file', { path: 'b.ts', content: '', mode: 'CREATE_NEW' })
  })

  it('keeps encoding, BOM and permission bits', async () => {
    const utf16 = new Uint8Array([0xff, 0xfe, 0x61, 0, 0x0a, 0])
    const { ok, bytes, backend } = await bench({
      'w.txt': utf16,
      'bom.txt': '\ufeffa\n',
      x: { text: '#!', mode: 0o755 },
    })
    await ok('write_file', { path: 'w.txt', content: 'é', expectedSha256: sha(utf16) })
    expect([...(await bytes('w.txt'))]).toEqual([0xff, 0xfe, 0xe9, 0])
    await ok('write_file', { path: 'bom.txt', content: '\ufeffb', expectedSha256: sha('\ufeffa\n') })
    expect([...(await bytes('bom.txt'))]).toEqual([0xef, 0xbb, 0xbf, 0x62])
    await ok('write_file', { path: 'x', content: '#!/bin/sh', expectedSha256: sha('#!') })
    expect((await backend.stat('x' as never))?.mode).toBe(0o755)
  })

  it('warns if line ends change', async () => {
    const { ok } = await bench({ 'a.txt': 'a\r\nb\r\n' })
    const expectedSha256 = sha('a\r\nb\r\n')
    const answer = await ok('write_file', { path: 'a.txt', content: 'a\nb\n', expectedSha256 })
    expect(answer.warnings.join()).toContain('crlf')
  })

  it('replaces a binary file by its version', async () => {
    const binary = new Uint8Array([1, 0, 2])
    const { ok, code } = await bench({ blob: binary })
    expect(await code('write_file', { path: 'blob', content: 'x' })).toBe('WRITE_CONFLICT')
    await ok('write_file', { path: 'blob', content: 'x', expectedSha256: sha(binary) })
  })

  it('never writes a mark over its secret', async () => {
    const token = `ghp_${'a1B2'.repeat(10)}`
    const stored = `token = ${token}\n`
    const { ok, code, text } = await bench({ 'a.txt': stored })
    const { content } = await ok('read_file', { path: 'a.txt' })
    expect(content).toContain('[REDACTED:')
    expect(await code('write_file', { path: 'a.txt', content })).toBe('POLICY_DENIED_SECRET')
    expect(await text('a.txt')).toBe(stored)
  })

  it('refuses content over the limit, lone surrogates and directories', async () => {
    const { code, snapshot } = await bench({ 'd/a.ts': '' }, { limits: { writeBytes: 10 } })
    const before = await snapshot()
    expect(await code('write_file', { path: 'a', content: 'ééééé!' })).toBe('LIMIT_EXCEEDED')
    expect(await code('write_file', { path: 'a', content: '\ud800' })).toBe('INVALID_INPUT')
    expect(await code('write_file', { path: 'd', content: '' })).toBe('IS_DIRECTORY')
    expect(await code('write_file', { path: '.', content: '' })).toMatch(/PATH_REJECTED|POLICY_DENIED/)
    expect(await code('write_file', { path: 'd/a.ts/x', content: '' })).toBe('NOT_A_DIRECTORY')
    expect(await snapshot()).toEqual(before)
  })
})
