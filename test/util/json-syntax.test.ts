import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { findJsonError } from '../../src/util/json-syntax.ts'
import { times } from '../counts.ts'

/** Whether the platform accepts a text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** JSON with a few characters removed, doubled or replaced. */
const damaged = fc
  .tuple(
    fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.jsonValue().map((value) => JSON.stringify(value, null, 2)),
    ),
    fc.array(
      fc.tuple(fc.nat(), fc.constantFrom(...'{}[],:"\\/u0019.-+eE\n\t\u0001 tfn*\''), fc.constantFrom(0, 1, 2)),
      {
        maxLength: 3,
      },
    ),
  )
  .map(([text, damages]) =>
    damages.reduce((current, [at, char, kind]) => {
      const place = at % (current.length + 1)
      return current.slice(0, place) + (kind === 1 ? '' : char) + current.slice(kind === 0 ? place : place + 1)
    }, text),
  )

/** Parts of JSON in any order. */
const pieces = fc
  .array(fc.constantFrom(...'{}[],:-1"\n\\ ', '"a"', '01', '1e5', 'true', 'nul'), { maxLength: 12 })
  .map((parts) => parts.join(''))

/** JSON with names of which some are there twice in one object, also in another spelling. */
const { value: named } = fc.letrec<{ value: string; members: string }>((tie) => ({
  members: fc
    .array(fc.tuple(fc.constantFrom('"a"', '"\\u0061"', '"b"', '"__proto__"', '""'), tie('value')), { maxLength: 3 })
    .map((all) => `{${all.map(([name, value]) => `${name}: ${value}`).join(',')}}`),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('1', '"a"', '{}'),
    tie('members'),
    fc.array(tie('value'), { maxLength: 3 }).map((all) => `[${all.join()}]`),
  ),
}))

describe('findJsonError', () => {
  it('accepts exactly the texts that JSON.parse accepts', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 2, arbitrary: damaged }, pieces), (text) => {
        expect(findJsonError(text) === undefined).toBe(isJson(text))
      }),
      { numRuns: times(500, 200_000) },
    )
  })

  it('finds an error where V8 finds it', () => {
    let compared = 0
    fc.assert(
      fc.property(damaged, (text) => {
        const error = findJsonError(text)
        if (error === undefined) return
        let message = ''
        try {
          JSON.parse(text)
        } catch (cause) {
          message = String(cause)
        }
        const [, position] = /at position (\d+)/.exec(message) ?? []
        // Of texts and numbers, V8 tells another place than the one where they begin to be wrong.
        if (position === undefined || !/^SyntaxError: (?:Expected|Unexpected non)/.test(message)) return
        const lines = text.slice(0, Number(position)).split(/\r\n|[\n\r]/)
        compared += 1
        expect([error.line, error.column]).toEqual([lines.length, (lines.at(-1)?.length ?? 0) + 1])
      }),
      { numRuns: times(250, 100_000) },
    )
    expect(compared).toBeGreaterThan(0)
  })

  it.each([
    ['', { line: 1, column: 1, message: 'Unexpected end of the text' }],
    ['{\n  "a": 1\n  "b": 2\n}', { line: 3, column: 3, message: 'Expected a comma or }' }],
    ['{ "a": 1, }', { line: 1, column: 11, message: 'A comma before } is not allowed' }],
    ['[1,]', { line: 1, column: 4, message: 'A comma before ] is not allowed' }],
    ["{ 'a': 1 }", { line: 1, column: 3, message: 'Expected a name in double quotes' }],
    ['{ "a": 1 } x', { line: 1, column: 12, message: 'Unexpected text after the end of the value' }],
    ['{ "a" 1 }', { line: 1, column: 7, message: 'Expected : after the name' }],
    ['// note\n1', { line: 1, column: 1, message: 'Comments are not allowed' }],
    ['"a\nb"', { line: 1, column: 3, message: 'A text is not closed on its line' }],
    ['{ "a": undefined }', { line: 1, column: 8, message: 'Expected a value' }],
  ])('tells what is wrong in %j', (text, expected) => {
    expect(findJsonError(text)).toEqual(expected)
  })

  it('allows comments and a last comma where a file may have them, and nothing else', () => {
    const text = '// a\n{ /* b */ "a": [1, 2,], // c\n "b": {"c": null,},\n}\n// d'
    expect(findJsonError(text, { isLenient: true })).toBeUndefined()
    expect(findJsonError(text)).toMatchObject({ line: 1, column: 1 })
    for (const wrong of ['{,}', '[,]', '[1,,]', '{"a":1,,}', '{"a",}', '/* open', '{} /', '{ a: 1 }']) {
      expect(findJsonError(wrong, { isLenient: true }), wrong).toBeDefined()
    }
  })

  it('refuses a name twice in one object where names must be unique, at the place where YAML does', () => {
    let refused = 0
    fc.assert(
      fc.property(named, (text) => {
        const places = parseDocument(text, { prettyErrors: false }).errors.map(({ pos }) => pos[0])
        const expected = places.length === 0 ? undefined : Math.min(...places)
        const error = findJsonError(text, { uniqueNames: true })
        if (error !== undefined) refused += 1
        expect(error?.message.replace(/".*"/, '""')).toBe(
          expected === undefined ? undefined : 'The name "" is given twice',
        )
        expect(error && error.column - 1).toBe(expected)
        expect(findJsonError(text)).toBeUndefined()
      }),
      { numRuns: times(150, 20_000) },
    )
    expect(refused).toBeGreaterThan(times(5, 500))
  })

  it('takes time linear in the text, at any depth', () => {
    expect(findJsonError('['.repeat(1_000_000))).toMatchObject({ column: 1_000_001 })
    expect(findJsonError(`"${'a\\n'.repeat(1_000_000)}"`)).toBeUndefined()
    expect(findJsonError(`${'/* */'.repeat(300_000)}1`, { isLenient: true })).toBeUndefined()
  })
})
