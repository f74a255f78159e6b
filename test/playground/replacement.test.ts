import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { memoryByteStore } from '../../playground/projects/byte-store.ts'
import { compileMatches } from '../../playground/session/line-matches.ts'
import { createOpenFiles } from '../../playground/session/open-files.ts'
import { openSession } from '../../playground/session/open-session.ts'
import { createReplacement } from '../../playground/session/replacement.ts'

const literal = (text: string, caseSensitive = true) => ({ text, regex: false, caseSensitive })

async function open(files: Readonly<Record<string, string | Uint8Array>>) {
  const backend = memory(files)
  const project = { info: { id: 'p', name: 'P' }, backend, kept: memoryByteStore() }
  const session = await openSession(project, { settings: { policy: 'readOnly' } })
  const viewer = await createWorkspace({ backend: { ...backend, close: async () => {} }, policy: 'readOnly' })
  const opened = createOpenFiles(session)
  const replacement = createReplacement({
    session,
    files: opened,
    look: (tool, input, options) => viewer.callTool(tool, input, options),
  })
  const text = async (path: string) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode((await backend.read(path as never)).bytes)
  return { session, opened, replacement, text }
}

describe('the matches of a text', () => {
  /** Patterns, with borders, anchors, classes and alternatives. */
  const patterns = [
    'a',
    'a+',
    '\\ba',
    'a\\b',
    '^a',
    'a$',
    '[ab]+',
    'a|b',
    '(a|ab)(c|bcd)?',
    '\\w+',
    'é',
    '.',
    'b{2}',
    '\\s+',
  ]
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ' ', 'é', '😀', '-', '\n'), { maxLength: 60 })

  it('are those that JavaScript finds in each line', () => {
    fc.assert(
      fc.property(fc.constantFrom(...patterns), texts, (pattern, characters) => {
        const text = characters.join('')
        const bytes = new TextEncoder().encode(text)
        const found: string[] = []
        compileMatches({ text: pattern, regex: true, caseSensitive: true })(bytes, ({ start, end, lineStart }) => {
          const decode = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to))
          found.push(`${decode(lineStart, start).length} ${decode(start, end)}`)
          return true
        })
        const expected = text
          .split('\n')
          .flatMap((line) => [...line.matchAll(new RegExp(pattern, 'gu'))])
          .flatMap(({ 0: match, index }) => (match === '' ? [] : [`${index} ${match}`]))
        expect(found).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })
})

describe('replacing in all files', () => {
  it('replaces each match as replaceAll does, keeps every other byte, and is undone in one step', async () => {
    const files: Readonly<Record<string, string>> = {
      'a.txt': '\ufeffone two one\r\nONE\r\n',
      'src/b.js': 'const one = "one"\n',
      'none.txt': 'nothing\n',
      'é.txt': '😀one😀\n',
    }
    const { session, replacement, text } = await open(files)
    await replacement.find(literal('one'))
    expect(replacement.state.value.files.map(({ path, matches }) => [path, matches.length])).toEqual([
      ['a.txt', 2],
      ['src/b.js', 2],
      ['é.txt', 1],
    ])
    await replacement.apply('$& $1')
    for (const [path, before] of Object.entries(files)) {
      expect(await text(path), path).toBe(before.replaceAll('one', () => '$& $1'))
    }
    expect(replacement.state.value.done?.text).toBe('Replaced 5 matches in 3 files')
    expect(session.timeline.value).toHaveLength(1)
    await replacement.undo()
    for (const [path, before] of Object.entries(files)) expect(await text(path), path).toBe(before)
    await session.close()
  })

  it.each([
    ['(\\w+)=(\\w+)', '$2=$1'],
    ['^(a)|b', '<$1$&>'],
    ['\\b(?<first>a)', '$<first>$<first>$$'],
    ['c$', '[$1$&]'],
  ])('writes groups of the pattern %j into %j as JavaScript does, line by line', async (pattern, replacement) => {
    const before = 'a=b c\r\nab é=ü\n\na c'
    const parts = await open({ 'a.txt': before })
    await parts.replacement.find({ text: pattern, regex: true, caseSensitive: true })
    await parts.replacement.apply(replacement)
    const lines = before.split(/(\r?\n)/).map((line) => line.replace(new RegExp(pattern, 'gu'), replacement))
    expect(await parts.text('a.txt')).toBe(lines.join(''))
    await parts.session.close()
  })

  it('refuses groups of a pattern that repeats a group, which could take forever', async () => {
    const { session, replacement, text } = await open({ 'a.txt': `${'a'.repeat(40)}b` })
    await replacement.find({ text: '(a+)+$|b', regex: true, caseSensitive: true })
    await replacement.apply('$1')
    expect(replacement.state.value.trouble).toContain('repeats a group')
    expect(await text('a.txt')).toContain('b')
    await session.close()
  })

  it('leaves out single matches, whole files, files with drafts, secrets and what is not text', async () => {
    const { session, opened, replacement, text } = await open({
      'a.txt': 'x x x\n',
      'b.txt': 'x\n',
      'draft.txt': 'x\n',
      '.env': 'KEY=x\n',
      'binary.bin': Uint8Array.from([0x78, 0, 0xff, 0x78]),
    })
    await opened.open('draft.txt')
    opened.edit('draft.txt', 'mine x\n')
    await replacement.find(literal('X', false))
    expect(replacement.state.value.files.map(({ path, hasDraft }) => [path, hasDraft])).toEqual([
      ['a.txt', false],
      ['b.txt', false],
      ['draft.txt', true],
    ])
    replacement.toggle('a.txt', 1)
    replacement.toggle('b.txt')
    await replacement.apply('y')
    expect([await text('a.txt'), await text('b.txt'), await text('draft.txt'), await text('.env')]).toEqual([
      'y x y\n',
      'x\n',
      'x\n',
      'KEY=x\n',
    ])
    expect(opened.all.value[0]).toMatchObject({ draft: 'mine x\n', theirs: undefined })
    await session.close()
  })

  it('changes nothing if a file has changed since the search, or the pattern is wrong', async () => {
    const { session, replacement, text } = await open({ 'a.txt': 'x\n', 'b.txt': 'x\n' })
    await replacement.find(literal('x'))
    await session.save('b.txt', 'new x\n', replacement.state.value.files[1]?.sha256 ?? '')
    await replacement.apply('y')
    expect(replacement.state.value.trouble).toContain('“b.txt” has changed since the search')
    expect(await text('a.txt')).toBe('x\n')
    await replacement.find({ text: '(', regex: true, caseSensitive: true })
    expect(replacement.state.value).toMatchObject({ files: [], trouble: expect.stringContaining('never closed') })
    await session.close()
  })
})
