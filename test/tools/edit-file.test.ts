import { describe, expect, it } from 'vitest'
import { ownTime } from '../own-time.ts'
import { bench } from './setup.ts'

describe('edit_file', () => {
  it('replaces the only occurrence and keeps every other byte', async () => {
    const { ok, bytes } = await bench({ 'a.ts': '\ufeffone\r\ntwo\r\nthree' })
    const answer = await ok('edit_file', { path: 'a.ts', oldText: 'one\ntwo', newText: '1\n2\n3' })
    expect(Buffer.from(await bytes('a.ts')).toString()).toBe('\ufeff1\r\n2\r\n3\r\nthree')
    expect(answer).toMatchObject({ replacements: 1, insertions: 3, deletions: 2 })
    expect(answer.diff).toContain('-two')
  })

  it('ends each replacement like the replaced line in a file of mixed line ends', async () => {
    const { ok, text } = await bench({ 'a.ts': 'a b a\r\nc a\n' })
    await ok('edit_file', { path: 'a.ts', oldText: 'a', newText: 'x\ny', replaceAll: true })
    expect(await text('a.ts')).toBe('x\r\ny b x\r\ny\r\nc x\ny\n')
  })

  it('keeps UTF-16', async () => {
    const stored = Buffer.from('\ufeffaé𝒳\n', 'utf16le')
    const { ok, bytes } = await bench({ 'a.txt': new Uint8Array(stored) })
    await ok('edit_file', { path: 'a.txt', oldText: 'é', newText: 'ü𝒴' })
    expect(Buffer.from(await bytes('a.txt')).equals(Buffer.from('\ufeffaü𝒴𝒳\n', 'utf16le'))).toBe(true)
  })

  it('refuses an ambiguous oldText and lists every line, including overlaps', async () => {
    const { call } = await bench({ 'a.ts': 'aaa\nb\nxaa\n' })
    expect(await call('edit_file', { path: 'a.ts', oldText: 'aa', newText: 'c' })).toMatchObject({
      code: 'EDIT_AMBIGUOUS',
      occurrences: 3,
      lines: [1, 1, 3],
    })
    expect(await call('edit_file', { path: 'a.ts', oldText: 'aa', newText: 'c', replaceAll: true })).toMatchObject({
      ok: true,
      replacements: 2,
    })
  })

  it('shows the nearest passage if oldText does not occur', async () => {
    const { call, ok } = await bench({
      'a.ts': 'import x\n\nfunction f() {\n\treturn 1\n}\n\nfunction g() {\n\treturn 2\n}\n',
    })
    const answer = await call('edit_file', { path: 'a.ts', oldText: 'function g() {\n  return 2\n}', newText: 'x' })
    expect(answer).toMatchObject({
      code: 'EDIT_NO_MATCH',
      nearest: { line: 7, text: 'function g() {\n\treturn 2\n}' },
    })
    await ok('edit_file', { path: 'a.ts', oldText: answer.nearest.text, newText: 'x' })
  })

  it('never matches fuzzily', async () => {
    const { code, snapshot } = await bench({ 'a.ts': 'Foo  bar\n“q”\nI\n' })
    const before = await snapshot()
    for (const oldText of ['foo  bar', 'Foo bar', 'Foo  bar ', '"q"', 'ı', 'Foo  bar\r\n']) {
      expect(await code('edit_file', { path: 'a.ts', oldText, newText: 'x' })).toBe('EDIT_NO_MATCH')
    }
    expect(await snapshot()).toEqual(before)
  })

  it('applies several edits in order, all or none', async () => {
    const { ok, call, text } = await bench({ 'a.ts': 'a b c' })
    const edits = [
      { oldText: 'a', newText: 'x' },
      { oldText: 'x b', newText: 'y' },
    ]
    expect(await ok('edit_file', { path: 'a.ts', edits })).toMatchObject({ replacements: 2 })
    expect(await text('a.ts')).toBe('y c')
    const refused = await call('edit_file', { path: 'a.ts', edits: [{ oldText: 'c', newText: 'd' }, ...edits] })
    expect(refused).toMatchObject({ code: 'EDIT_NO_MATCH', edit: 1 })
    expect(await text('a.ts')).toBe('y c')
  })

  it('returns the same result for a dry run and changes nothing', async () => {
    const { ok, snapshot } = await bench({ 'a.ts': 'a\nb\n' })
    const before = await snapshot()
    const input = { path: 'a.ts', oldText: 'b', newText: 'c' }
    const dry = await ok('edit_file', { ...input, dryRun: true })
    expect(await snapshot()).toEqual(before)
    const real = await ok('edit_file', input)
    expect(dry).toMatchObject({
      diff: real.diff,
      insertions: 1,
      deletions: 1,
      replacements: 1,
      oldSha256: real.oldSha256,
    })
    expect(dry).toMatchObject({ dryRun: true, newSha256: null })
  })

  it('refuses a stale version, and an edit that changes nothing', async () => {
    const { code, sha } = await bench({ 'a.ts': 'a' })
    const expectedSha256 = '0'.repeat(64)
    expect(await code('edit_file', { path: 'a.ts', oldText: 'a', newText: 'b', expectedSha256 })).toBe('WRITE_CONFLICT')
    expect(await code('edit_file', { path: 'a.ts', oldText: 'a', newText: 'b', expectedSha256: null })).toBe(
      'WRITE_CONFLICT',
    )
    expect(
      await code('edit_file', { path: 'a.ts', oldText: 'a', newText: 'a', expectedSha256: await sha('a.ts') }),
    ).toBe('INVALID_INPUT')
    expect(await code('edit_file', { path: 'a.ts', oldText: 'a' })).toBe('INVALID_INPUT')
    expect(
      await code('edit_file', { path: 'a.ts', oldText: 'a', newText: 'b', edits: [{ oldText: 'a', newText: 'b' }] }),
    ).toBe('INVALID_INPUT')
  })

  it('matches across the line ends of a mixed file and keeps them', async () => {
    const { ok, text } = await bench({ 'a.txt': 'a\r\nb\nc\r\nd\n' })
    await ok('edit_file', { path: 'a.txt', oldText: 'a\nb\nc', newText: 'A\nB\nC' })
    expect(await text('a.txt')).toBe('A\r\nB\r\nC\r\nd\n')
    await ok('edit_file', { path: 'a.txt', oldText: 'd', newText: 'd\ne' })
    expect(await text('a.txt')).toBe('A\r\nB\r\nC\r\nd\ne\n')
  })

  describe('with secrets in the file', () => {
    const token = `ghp_${'a1B2'.repeat(10)}`
    const stored = `before\ntoken = "${token}" # note\nafter\n`

    it('edits around secrets, sees only marks, and keeps the secrets', async () => {
      const { ok, text, code } = await bench({ 'a.txt': stored })
      const answer = await ok('edit_file', { path: 'a.txt', oldText: '# note', newText: '# new note' })
      expect(await text('a.txt')).toBe(stored.replace('note', 'new note'))
      expect(JSON.stringify(answer)).not.toContain(token)
      expect(await code('edit_file', { path: 'a.txt', oldText: token, newText: 'x' })).toBe('EDIT_NO_MATCH')
    })

    it('refuses to change a part of a mark or to write a mark, but allows removing a whole mark', async () => {
      const { ok, text, code } = await bench({ 'a.txt': stored })
      const { content } = await ok('read_file', { path: 'a.txt' })
      const mark = /\[REDACTED:[^\]]+\]/.exec(content)?.[0] as string
      for (const oldText of [mark.slice(1), mark.slice(0, -1), `"${mark.slice(0, 5)}`, 'REDACTED', ':1]" #']) {
        expect(await code('edit_file', { path: 'a.txt', oldText, newText: 'x' })).toBe('POLICY_DENIED_SECRET')
      }
      expect(await code('edit_file', { path: 'a.txt', oldText: 'before', newText: mark })).toBe('POLICY_DENIED_SECRET')
      expect(await code('edit_file', { path: 'a.txt', oldText: mark, newText: mark })).toBe('POLICY_DENIED_SECRET')
      expect(await text('a.txt')).toBe(stored)
      await ok('edit_file', { path: 'a.txt', oldText: mark, newText: 'gone' })
      expect(await text('a.txt')).toBe(stored.replace(token, 'gone'))
    })
  })

  it('takes linear time for every text', async () => {
    const { call, ok } = await bench({ 'a.txt': 'a'.repeat(1_000_000), 'b.txt': 'ab\r\n'.repeat(250_000) })
    const start = ownTime()
    await call('edit_file', { path: 'a.txt', oldText: `b${'a'.repeat(400_000)}`, newText: '' })
    await call('edit_file', { path: 'a.txt', oldText: 'a'.repeat(500_000), newText: '' })
    await call('edit_file', { path: 'a.txt', oldText: `${'a'.repeat(500_000)}b`, newText: '' })
    expect(await ok('edit_file', { path: 'b.txt', oldText: 'b\n', newText: 'c\n', replaceAll: true })).toMatchObject({
      replacements: 250_000,
    })
    expect(ownTime() - start).toBeLessThan(8000)
  })
})

describe('edit_file with many matches', () => {
  it.each([['a\n'], ['a\r\nab\n']])(
    'refuses more than 250,000 in one edit, before it compares anything: %j',
    async (part) => {
      const text = part.repeat(250_001)
      const { call, text: textOf } = await bench({ 'a.txt': text })
      const start = ownTime()
      expect(await call('edit_file', { path: 'a.txt', oldText: 'a', newText: 'bc', replaceAll: true })).toMatchObject({
        code: 'LIMIT_EXCEEDED',
        limit: 'replacements of one edit',
        value: 250_000,
      })
      expect(ownTime() - start).toBeLessThan(1000)
      expect(await textOf('a.txt')).toBe(text)
    },
  )
})

describe('edit_file in a file of mixed line ends', () => {
  it.each<[string, string, object, string]>([
    [
      'ends a new line like the line that contains it',
      'a b\r\na b\na b',
      { oldText: ' b', newText: '\nc', replaceAll: true },
      'a\r\nc\r\na\nc\na\nc',
    ],
    ['keeps line ends if the new text has none', 'a\r\nb\nc', { oldText: 'b', newText: 'x' }, 'a\r\nx\nc'],
    [
      'uses the last line end of the file after the last line',
      'a\nb\r\nlast',
      { oldText: 'last', newText: 'x\ny' },
      'a\nb\r\nx\r\ny',
    ],
    ['matches one kind of line end with another', 'a\r\nb\nc\r\n', { oldText: 'a\nb\nc', newText: 'x' }, 'x\r\n'],
  ])('%s', async (_, before, edit, after) => {
    const { ok, text } = await bench({ 'a.txt': before })
    await ok('edit_file', { path: 'a.txt', ...edit })
    expect(await text('a.txt')).toBe(after)
  })

  it('changes text after a mark, but never a part of the mark', async () => {
    const token = `ghp_${'a1B2'.repeat(10)}`
    const { ok, code, text } = await bench({ 'a.txt': `x\nkey ${token} x\nx\nkey2 ${token.toLowerCase()}${token} y\n` })
    await ok('edit_file', { path: 'a.txt', oldText: 'x', newText: 'z', replaceAll: true })
    expect(await text('a.txt')).toBe(`z\nkey ${token} z\nz\nkey2 ${token.toLowerCase()}${token} y\n`)
    expect(await code('edit_file', { path: 'a.txt', oldText: 'REDACTED', newText: 'y', replaceAll: true })).toBe(
      'POLICY_DENIED_SECRET',
    )
    await ok('edit_file', { path: 'a.txt', oldText: 'key2', newText: '[REDACTED:nothing:9]' })
  })
})
