import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findSecrets, findSecretsInSteps } from '../../../src/files/secrets/find.ts'
import { redact } from '../../../src/files/secrets/index.ts'
import { SLICE } from '../../../src/files/secrets/slices.ts'
import { times } from '../../counts.ts'
import { letters, passwords, tokens } from './tokens.ts'

const key = `-----BEGIN PRIVATE KEY-----\n${`${letters(64)}\n`.repeat(3)}-----END PRIVATE KEY-----`
const wide = (text: string) => [...text].map((char) => `${char}\0`).join('')
const samples = [
  ...[...tokens, ...passwords].map(([, before, secret, after]) => `${before}${secret}${after}`),
  key,
  ...tokens.slice(0, 5).map(([, before, secret, after]) => wide(` ${before}${secret}${after}`)),
]

/** Text of a length without a secret, whose last line is empty. */
const filler = (length: number) => `${'short words. '.repeat(Math.ceil(length / 13)).slice(0, length - 1)}\n`

describe('the search for secrets in slices', () => {
  it('finds at each border of slices what it finds at the start of a text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...samples), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 250 }),
        (texts, border, before) => {
          const text = `${texts.join('\n\n')}\n`
          const shift = SLICE * border - before
          const expected = findSecrets(text).map(({ kind, start, end }) => ({
            kind,
            start: start + shift,
            end: end + shift,
          }))
          expect(findSecrets(filler(shift) + text)).toEqual(expected)
        },
      ),
      { numRuns: times(60, 20_000) },
    )
  })

  it.each(samples.map((text) => [text.slice(0, 40), text]))('finds %j over every border', (_, text) => {
    const found = findSecrets(`${text}\n`)
    const step = times(Math.ceil(text.length / 8), 1)
    for (let before = 0; before <= text.length; before += step) {
      const shift = SLICE - before
      const expected = found.map(({ kind, start, end }) => ({ kind, start: start + shift, end: end + shift }))
      expect(findSecrets(`${filler(shift)}${text}\n`)).toEqual(expected)
    }
  })

  it('pauses in each kind of text', () => {
    const long = SLICE * 20
    const body = letters(500).repeat(long / 500)
    for (const text of [
      body,
      filler(long),
      `-----BEGIN PRIVATE KEY-----\n${body}`,
      wide(filler(long)),
      '://'.repeat(long),
    ]) {
      let steps = 0
      for (const _ of { [Symbol.iterator]: () => findSecretsInSteps(text) }) steps += 1
      expect(steps).toBeGreaterThanOrEqual(10)
    }
  })

  const megabytes = (text: string) => text.repeat(Math.ceil(times(2_000_000, 62_000_000) / text.length))

  it.each([
    ['a token with a prefix', `ghp_${megabytes('a1B2')}`],
    ['a token after a name', `ya29.${megabytes('a1B2')}`],
    ['an authorization', `authorization: bearer a1${letters(20)}.${megabytes('a1B2')}`],
    ['a private key on one line', `-----BEGIN PRIVATE KEY-----\n${megabytes('a1B2')}`],
    ['text of two bytes per character', `${megabytes('a\0')} \0\n\0${wide(`ghp_${letters(36)}`)}`],
    ['white space after a password', `PASSWORD=abcdefgh1${megabytes(' ')}`],
  ])('finds %s of many megabytes', (_, text) => {
    expect(findSecrets(text).length).toBeGreaterThan(0)
    expect(redact(text).text).toContain('[REDACTED:')
  })
})
