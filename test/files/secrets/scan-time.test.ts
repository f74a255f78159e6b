import { describe, expect, it } from 'vitest'
import { precededFormats, prefixedFormats } from '../../../src/files/secrets/formats.ts'
import { mayHoldSecret, redact } from '../../../src/files/secrets/index.ts'
import { times } from '../../counts.ts'
import { ownTime } from '../../own-time.ts'

const UNITS = times(25_000, 2_000_000)
const fill = (text: string, units = UNITS) => text.repeat(Math.ceil(units / text.length)).slice(0, units)
const base64 = (text: string) => Buffer.from(text).toString('base64url')

const HEADER = 'eyJhbGciOiJIUzI1NiJ9'
const LONG = times(2_000_000, 4_000_000)

/** Texts of one long run, of many near misses, and of many secrets. */
const shapes: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'aA0-_/+=@:. \n[{"\\'].map((char) => [`a run of ${JSON.stringify(char)}`, fill(char)])),
  'a header of megabytes': `eyJ${fill('A', LONG)}.AAAAAAAAAA.${'B'.repeat(30)}`,
  'a payload of megabytes': `${HEADER}.${fill('A', LONG)}.${'B'.repeat(10)}`,
  'a signature of megabytes': `${HEADER}.AAAAAAAAA.${fill('B', LONG)}`,
  'nested arrays in a header': `${base64(`{"alg":${'['.repeat(LONG / 2)}`)}.AAAAAAAAAA.${'B'.repeat(30)}`,
  'many headers': fill(`${HEADER}.`),
  'headers that do not decode': fill('.eyJAAAAAAAAAAAAAAAAAAAAAAA'),
  'many JSON Web Tokens': fill(`${HEADER}.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U `),
  'many Discord tokens': fill('MTIzNDU2Nzg5MDEyMzQ1Njc4.AAAAAA.'),
  'many addresses': fill('postgres://a:b2cdefgh@h '),
  'one address': `postgres://a:${fill('%41')}`,
  'many private keys': fill(`-----BEGIN PRIVATE KEY-----\n${'A'.repeat(40)}\n`),
  'one private key': `-----BEGIN PRIVATE KEY-----\n${fill(`${'A'.repeat(64)}\n`)}`,
  'a private key of short lines': `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n${fill('A\n')}`,
  'many ends of private keys': fill('-----END PRIVATE KEY-----'),
  'many names of passwords': fill('password='),
  'many passwords': fill('PASSWORD=abcdefgh1\n'),
  'long names of passwords': fill(`${'a.'.repeat(60)}password=`),
  'many names in fields': fill('name: password '),
  'many names and keys': fill('name="password" key: a=b, '),
  'many values before names': fill('value: abcdefgh1\nname: pwd\n'),
  'values before a name': fill(`value=${'a='.repeat(60)} key=pwd `),
  'white space around names': fill(`${' '.repeat(90)}\n name: pass${' '.repeat(30)}\n`),
  'parameters before names': fill(`${'a='.repeat(60)} pwd=`),
  'quotes around names': fill(`${'\\'.repeat(7)}"pass${'\\'.repeat(7)}": `),
  'many schemes': fill('authorization: bearer '),
  'one authorization': `authorization: bearer a1aaaaaaaaaaaaaaaaaaaa${fill('=a')}`,
  'many marks': fill('[REDACTED:'),
  ...Object.fromEntries(
    [...prefixedFormats.flatMap(({ prefixes }) => prefixes), ...precededFormats.flatMap(({ after }) => after)].flatMap(
      (prefix) => [
        [`many ${prefix}`, fill(prefix)],
        [`${prefix} and a run`, prefix + fill('a0')],
        [`near misses of ${prefix}`, fill(`_${prefix}AAAAAAAAAAAAAAAAAAA!`)],
        [`${prefix} with many bodies`, fill(`${prefix}${'a0'.repeat(45)}\n`)],
      ],
    ),
  ),
}

describe('the search for secrets', () => {
  it.each(Object.entries(shapes))('takes little time for each unit of %s', (_, text) => {
    const bytes = new TextEncoder().encode(text)
    const started = ownTime()
    mayHoldSecret(bytes)
    redact(text)
    // Some 2 ns for ordinary text, up to 500 ns where each few units are a secret.
    expect(ownTime() - started).toBeLessThan(100 + text.length * (text.length > UNITS * 1.5 ? 0.0005 : 0.002))
  })
})
