import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { fieldProblem, inEnglish } from '../../src/util/in-english.ts'

const text = z.string()

/** A schema for each kind of issue, a wrong value, and what is said about it. */
const rows: readonly (readonly [schema: z.ZodType, wrong: unknown, problem: string])[] = [
  [text, undefined, 'is missing'],
  [text, 7, 'must be a string, not 7'],
  [text, null, 'must be a string, not null'],
  [text, ['x'], 'must be a string, not a list'],
  [z.number(), 'hunter2', 'must be a number, not a string'],
  [z.number(), Number.NaN, 'must be a number, not NaN'],
  [z.int(), 1.5, 'must be a whole number, not 1.5'],
  [z.boolean(), 'yes', 'must be true or false, not a string'],
  [z.array(text), { a: 1 }, 'must be a list, not an object'],
  [z.object({}), 1, 'must be an object, not 1'],
  [z.record(text, text), true, 'must be an object, not true'],
  [z.bigint(), 1, 'must be a bigint, not 1'],
  [z.enum(['a', 'b']), 'c', 'must be "a" or "b"'],
  [z.enum(['a', 'b']), 3, 'must be "a" or "b"'],
  [z.enum(['a', 'b']), undefined, 'is missing'],
  [z.literal(1), 2, 'must be 1'],
  [text.min(1), '', 'must not be empty'],
  [z.array(text).min(1), [], 'must not be empty'],
  [text.min(2), 'x', 'must have at least 2 characters'],
  [text.max(1), 'xx', 'must have at most 1 character'],
  [z.array(text).length(2), ['x'], 'must have exactly 2 items'],
  [z.number().min(1), 0, 'must be at least 1'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.number().multipleOf(5), 7, 'must be a multiple of 5'],
  [text.regex(/^a+$/), 'b', 'must match /^a+$/'],
  [text.startsWith('a'), 'b', 'must match a'],
  [text.endsWith('a'), 'b', 'must match a'],
  [text.includes('a'), 'b', 'must match a'],
  [z.email(), 'b', 'must match email'],
  [z.strictObject({}), { a: 1 }, 'has unknown fields: "a"'],
  [z.union([text, z.array(text)]), 5, 'must be a string or a list, not 5'],
  [z.union([text, z.array(text)]), undefined, 'is missing'],
  [z.union([text.min(3), z.array(text).min(1)]), 'x', 'must have at least 3 characters'],
  [z.union([z.object({ a: text }), z.object({ b: text })]), {}, 'has none of the possible forms'],
  [z.map(text.min(3), text), new Map([['a', 'b']]), 'must have at least 3 characters'],
  [text.refine(() => false), 'x', 'is not valid'],
  [text.refine(() => false, 'must rhyme'), 'x', 'must rhyme'],
]

describe('the problem of a field', () => {
  it.each(rows.map(([schema, wrong, problem], index) => [index, problem, schema, wrong] as const))(
    '%i: %s',
    (_, problem, schema, wrong) => {
      expect(schema.safeParse(wrong, inEnglish).error?.issues[0]?.message).toBe(problem)
    },
  )

  it('completes the name of the field', () => {
    expect(fieldProblem('path', 'is missing')).toBe('path is missing')
    expect(fieldProblem('path', 'give either this or that')).toBe('path: give either this or that')
  })

  it('is in the language that the program has configured', () => {
    const english = z.config()
    try {
      for (const [language, message] of [
        [z.locales.de(), /^Ungültige Eingabe/],
        [z.locales.en(), /^is missing$/],
      ] as const) {
        z.config(language)
        expect(text.safeParse(undefined, inEnglish).error?.issues[0]?.message).toMatch(message)
      }
    } finally {
      z.config(english)
    }
  })
})
