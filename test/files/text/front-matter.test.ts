import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { noteText, parseNote } from '../../../src/files/text/front-matter.ts'
import { anyCharacter } from '../../code-points.ts'

const word = fc.string({ unit: anyCharacter, maxLength: 12 })
const content = fc.string({ maxLength: 40 }).map((text) => text.replaceAll('\r', ''))

/** Parses front matter with a YAML library, as the reference. */
const byYaml = (text: string) => parse(text.split('\n---\n')[0]?.slice(4) ?? '', { version: '1.2', logLevel: 'error' })

describe('a note', () => {
  it('is parsed as it was written, by parseNote and by YAML', () => {
    fc.assert(
      fc.property(word, fc.option(word, { nil: undefined }), fc.array(word), fc.array(word), content, (...parts) => {
        const [id, title, labels, scopes, text] = parts
        const note = noteText(id, { title, labels, scopes, content: text })
        expect(parseNote(note)).toEqual({ title, labels, scopes, content: text })
        const fields = byYaml(note)
        expect(fields).toEqual({
          id,
          ...(title === undefined ? {} : { title }),
          ...(labels.length === 0 ? {} : { labels }),
          ...(scopes.length === 0 ? {} : { scopes }),
        })
      }),
      { numRuns: 300 },
    )
  })

  const value = fc.oneof(
    fc.constantFrom('a', 'team-a', "'it''s'", '"a\\"b"', '[]', '[a, b]', '["a", \'b\']', '[a,b ]', '[ "x y" , z]'),
    fc.constantFrom(
      '',
      '~',
      'null',
      '!!str a',
      '&x a',
      '*x',
      '{a: b}',
      '[a',
      'a]',
      '[a, [b]]',
      'a: b',
      '|',
      '>-',
      '1',
      '0x1',
    ),
    fc.constantFrom(
      'true',
      'yes',
      '"a',
      "'a",
      'a # b',
      'a #b',
      '[a] # b',
      '[a,, b]',
      '[a,]',
      '- a',
      '@a',
      '%a',
      '`a',
      '?',
      '[1, a]',
    ),
    fc.string({ unit: fc.constantFrom(...`ab ,:#[]{}"'-&*!|>\\1`), maxLength: 8 }),
  )
  const line = fc.oneof(
    fc
      .tuple(fc.constantFrom('id', 'title', 'labels', 'scopes', 'other', '"scopes"', 'scopes ', '<<'), value)
      .map(([k, v]) => `${k}: ${v}`),
    fc.constantFrom(
      'scopes:',
      'labels:',
      '- a',
      '  - b',
      '  - "c d"',
      '  x',
      '# note',
      '',
      'scopes:a',
      '\tscopes: [a]',
      '...',
    ),
  )

  it('has the same scopes and labels as in YAML, or is rejected', () => {
    let agreed = 0
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        const text = `---\n${lines.join('\n')}\n---\nbody`
        const ours = parseNote(text)
        if (ours === undefined) return
        let theirs: Record<string, unknown>
        try {
          theirs = (parse(lines.join('\n'), { version: '1.2', logLevel: 'error' }) ?? {}) as Record<string, unknown>
        } catch {
          // For text that is not YAML, a note may only be more restricted, or have no scopes and labels.
          return
        }
        const list = (value: unknown) => (value === undefined ? [] : Array.isArray(value) ? value : [value])
        expect({ text, scopes: list(theirs.scopes) }).toEqual({ text, scopes: ours.scopes })
        expect({ text, labels: list(theirs.labels) }).toEqual({ text, labels: ours.labels })
        if (ours.scopes.length > 0) agreed += 1
      }),
      { numRuns: 3000 },
    )
    expect(agreed).toBeGreaterThan(2)
  })

  it.each([
    'scopes:',
    'scopes: ~',
    'scopes: null',
    'scopes: {a: b}',
    'scopes: [a',
    'scopes: [a]\nscopes: [b]',
    'scopes: *x',
    'scopes: 1',
    '"scopes": [a]',
    'scopes:\n  a',
    'scopes: "a" b',
    'scopes: a # b',
    'scopes: a: b',
    "scopes: a'b'",
    "scopes: 'a' b",
    'scopes: [a] b',
    'scopes: yes',
    'scopes: a\u2028b',
    'scopes:\n- a\u2028b',
    '1scopes: [a]',
    'scopes: ["a" b]',
    'scopes: ["a\\xb"]',
    'scopes: [a#b]',
    'scopes: [a, ]',
    'scopes:\n- a\n  - b',
    'scopes: a\n- b',
    'id:\nscopes: [a]',
    'id: [x]\nid: y',
    'scopes: |\n  a',
  ])('is invalid if its scopes are written as %j', (front) =>
    expect(parseNote(`---\n${front}\n---\nx`)).toBeUndefined(),
  )

  it.each<[string, Parameters<typeof noteText>[1], string]>([
    ['id', { title: undefined, labels: [], scopes: [], content: 'x\n' }, '---\nid: "id"\n---\n\nx\n'],
    [
      'a"b',
      { title: 'T: é', labels: ['a', 'b'], scopes: ['team-a', 'c d'], content: '' },
      '---\nid: "a\\"b"\ntitle: "T: é"\nlabels: ["a", "b"]\nscopes: ["team-a", "c d"]\n---\n\n',
    ],
    [
      '\u007f\u0085\u2028\ufeff\uffff',
      { title: undefined, labels: [], scopes: ['s'], content: '---\n' },
      '---\nid: "\\u007f\\u0085\\u2028\\ufeff\\uffff"\nscopes: ["s"]\n---\n\n---\n',
    ],
  ])('with the id %j is written and read', (id, note, text) => {
    expect(noteText(id, note)).toBe(text)
    expect(parseNote(text)).toEqual(note)
    expect(byYaml(text).id).toBe(id)
  })

  it.each<[string, readonly string[]]>([
    ['scopes: team-a', ['team-a']],
    ['scopes:   team-a  ', ['team-a']],
    ['scopes: []', []],
    ["scopes: [a, \"b, c\", 'd''e']", ['a', 'b, c', "d'e"]],
    ['scopes: ["a\\"b", "c]"]', ['a"b', 'c]']],
    ['scopes: [ a b , c ]', ['a b', 'c']],
    ['scopes:\n- a\n- "b"', ['a', 'b']],
    ['other: {x: [1]}\nscopes: [a]', ['a']],
    ['\n# note\nscopes:\n# more\n- a\n   \n  # end', ['a']],
    ['scopes: a - b', ['a - b']],
    ['scopes: \t\n- a ', ['a']],
    ['scopes: [a]  ', ['a']],
    ['scopes: [ ]', []],
    ['scopes: two long words', ['two long words']],
    ['scopes: [notes, Bruno]', ['notes', 'Bruno']],
  ])('has the scopes of %j', (front, scopes) => {
    expect(parseNote(`---\n${front}\n---\nx`)).toEqual({ title: undefined, labels: [], scopes, content: 'x' })
    expect([byYaml(`---\n${front}\n---\n`).scopes].flat()).toEqual(scopes)
  })

  it.each(['title: [a]', 'title:\n- a', 'labels: {}', 'labels: 1'])('is rejected with %j', (front) => {
    expect(parseNote(`---\n${front}\n---\nx`)).toBeUndefined()
  })

  it('starts after at most one empty line', () => {
    expect(parseNote('---\nid: a\n---\n\n\nx')?.content).toBe('\nx')
    expect(parseNote('---\nid: a\n---\nx\n\ny')?.content).toBe('x\n\ny')
    expect(parseNote('---\nid: a\n---\n')?.content).toBe('')
    expect(parseNote('no front matter')).toEqual({
      title: undefined,
      labels: [],
      scopes: [],
      content: 'no front matter',
    })
  })

  it('is the whole text without front matter, and rejected if the front matter does not end', () => {
    expect(parseNote('# Title\n\n---\n')).toMatchObject({ scopes: [], content: '# Title\n\n---\n' })
    expect(parseNote('---\nscopes: [a]\n')).toBeUndefined()
    expect(parseNote('---\r\nscopes: [a]\r\ntags:\r\n  - x: y\r\n---\r\ntext\r\n')).toMatchObject({ scopes: ['a'] })
  })
})
