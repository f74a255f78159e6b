import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visiblePrefixes } from '../../../src/files/secrets/formats.ts'
import { type ContentChange, HiddenSecrets } from '../../../src/files/secrets/hidden.ts'
import { redact } from '../../../src/files/secrets/index.ts'
import { WINDOW, WindowTable } from '../../../src/files/secrets/window-table.ts'
import { times } from '../../counts.ts'
import { ownTime } from '../../own-time.ts'
import { letters, shortest, tokens } from './tokens.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const token = `ghp_${letters(36)}`
const find = (before: string, after: string, marks: readonly string[] = []) =>
  new HiddenSecrets(marks).find([{ before: bytes(before), after: bytes(after) }])

describe('HiddenSecrets', () => {
  it('finds a secret that an adjacent character makes visible, and names its mark', () => {
    expect(find(`a ${token} b`, `ax${token} b`)).toEqual({ index: 0, mark: '[REDACTED:github-token:1]' })
    expect(find(`a ${token} b`, `a ${token} c`)).toBeUndefined()
    expect(find(`a ${token} b`, 'a b')).toBeUndefined()
    expect(find(`a x${token} b`, `a x${token} c`)).toBeUndefined()
  })

  it('finds twelve characters of a secret, but not eleven', () => {
    expect(find(token, `a ${token.slice(3, 15)} b`)).toMatchObject({ index: 0 })
    expect(find(token, `a ${token.slice(3, 14)} b`)).toBeUndefined()
    expect(find(token, `a ${token.slice(-12)}`)).toMatchObject({ index: 0 })
  })

  it.each(shortest.flatMap(([kind, prefixes, body]) => prefixes.split(' ').map((prefix) => [kind, prefix, body])))(
    'finds every twelve characters of a token, with its prefix: %s %s',
    (_, prefix = '', body = '') => {
      const whole = prefix + body
      const missed = Array.from({ length: whole.length - 11 }, (__, at) => whole.slice(at, at + 12)).filter(
        (piece) => find(whole, `a ${piece} b`) === undefined,
      )
      expect(redact(whole).marks).toHaveLength(1)
      expect(missed).toEqual([])
    },
  )

  it('searches every content for the secrets of all contents', () => {
    const other = bytes(`x${token}`)
    const changes: ContentChange[] = [
      { before: undefined, after: bytes('plain') },
      { before: undefined, after: other },
      { before: bytes(token), after: undefined },
    ]
    expect(new HiddenSecrets().find(changes)).toMatchObject({ index: 1 })
    const hidden = new HiddenSecrets()
    hidden.add(bytes(`a ${token}`))
    expect(hidden.find([{ before: undefined, after: other }])).toMatchObject({ index: 0 })
    expect(hidden.find([{ before: undefined, after: bytes(`a ${token}`) }])).toBeUndefined()
  })

  it('finds the same in a version that it has searched before', () => {
    const utf16 = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))
    const versions = [bytes(`a ${token} b`), bytes('a b'), utf16(`a ${token} b`), utf16('a b'), bytes(`é ${token}`)]
    const part = token.slice(5, 20)
    for (const before of versions) {
      const found = () =>
        [`ax${token} b`, `a ${token} c`, part].map((text) =>
          new HiddenSecrets().find([
            { before, after: bytes(text) },
            { before: bytes(`c ${token}`), after: utf16(`c ${token} ${part}`) },
          ]),
        )
      expect(found()).toEqual(found())
    }
    expect(new HiddenSecrets().find([{ before: versions[0], after: bytes(part) }])).toMatchObject({ index: 0 })
  })

  it('accepts text that was visible before or that the reader has written', () => {
    const part = token.slice(5, 20)
    expect(find(`${token} ${part}`, `${token} b ${part}`)).toBeUndefined()
    expect(find(token, `${token} b ${part}`, [`append ${part}`])).toBeUndefined()
    expect(find(token, `${token} b ${part}`, ['another text'])).toMatchObject({ index: 0 })
  })

  it('finds a short secret that is visible more often and hidden less often', () => {
    const url = 'postgres://app:hunter2@db/app'
    expect(find(url, url.replace('://', ': //'))).toEqual({ index: 0, mark: '[REDACTED:url-password:1]' })
    expect(find(url, `${url} hunter2`)).toBeUndefined()
    expect(find(`${url} hunter2`, 'hunter2')).toBeUndefined()
    expect(find(`${url} ${url}`, url)).toBeUndefined()
    expect(find(url, 'hunter2', ['hunter2'])).toBeUndefined()
    expect(find(url, 'hunter3')).toBeUndefined()
  })

  it('finds text that becomes a part of a secret, except for an operation that brings back what was there', () => {
    const alter = (before: string, after: string, refusals?: { count: number }) =>
      new HiddenSecrets([], refusals).find([{ before: bytes(before), after: bytes(after) }])
    const url = 'postgres://app:hunter2@db/app'
    for (const [before, after] of [
      [`a ${token}_`, `a ${token}_${token.slice(4)}`],
      [url, url.replace('hunter2', 'hunter2x')],
      [url, url.replace('hunter2', 'xhunter2')],
    ] as const) {
      expect(alter(before, after, { count: 0 })).toMatchObject({ index: 0 })
      expect(alter(before, after)).toBeUndefined()
    }
    expect(alter(url, url.replace('hunter2', 'other2'), { count: 0 })).toBeUndefined()
  })

  it('reads UTF-16', () => {
    const utf16 = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))
    const swapped = (text: string) => new Uint8Array(Buffer.from(utf16(text)).swap16())
    for (const encode of [utf16, swapped]) {
      const glued = { before: encode(`a ${token}`), after: encode(`ax${token}`) }
      expect(new HiddenSecrets().find([glued])).toMatchObject({ index: 0 })
      expect(new HiddenSecrets().find([{ before: bytes(token), after: encode(`x${token}`) }])).toMatchObject({
        index: 0,
      })
    }
  })

  it('agrees with a search for every window', () => {
    const secrets = tokens.map(([, before, secret, after]) => ({ before, secret, after }))
    const change = fc.tuple(fc.constantFrom(...secrets), fc.nat(80), fc.nat(80), fc.constantFrom('', 'x', ' ', '\n'))
    fc.assert(
      fc.property(change, ([{ before, secret, after }, from, length, glue]) => {
        const text = before + secret + after
        const changed = `${text.slice(0, from)}${glue}${text.slice(from + (glue === '' ? length : 0))}`
        const visible = redact(changed).text.split(/\[REDACTED:[a-z-]+:[0-9]+\]/)
        const windows = redact(text).marks.flatMap(({ kind, originalStart, originalEnd }) => {
          const prefix = visiblePrefixes.get(kind)?.exec(text.slice(0, originalStart))?.[0] ?? ''
          const hidden = text.slice(originalStart - prefix.length, originalEnd)
          return Array.from({ length: Math.max(0, hidden.length - WINDOW + 1) }, (_, at) =>
            hidden.slice(at, at + WINDOW),
          )
        })
        const shows = windows.some((window) => visible.some((part) => part.includes(window)))
        if (secret.length >= WINDOW) expect(find(text, changed) !== undefined).toBe(shows)
      }),
      { numRuns: times(250, 10_000) },
    )
  })

  it.each([
    ['one secret', (length: number) => [token, 'x '.repeat(length / 2)]],
    ['many secrets', (length: number) => [`${token}\n`.repeat(length / 40), `${token}\n`.repeat(length / 40)]],
    ['many different secrets', (length: number) => [different(length / 40), different(length / 40)]],
    ['parts of a secret', (length: number) => [token, token.slice(4, 15).repeat(length / 12)]],
    ['short secrets', (length: number) => [short(length / 30), 'hunter'.repeat(length / 6)]],
  ] as const)('takes linear time: %s', (_, texts) => {
    const time = (length: number): number => {
      const [before, after] = texts(length) as [string, string]
      const started = ownTime()
      find(before, after)
      return ownTime() - started
    }
    time(1000)
    const small = Math.min(time(30_000), time(30_000))
    const large = Math.min(time(240_000), time(240_000))
    // The text is 8 times as long. Quadratic time would be 64 times as long. Short times are not reliable.
    expect(large).toBeLessThan(Math.max(100, small * 30))
  })
})

describe('WindowTable', () => {
  it('finds every window of every secret, after it has grown', () => {
    const table = new WindowTable()
    const secrets = different(500).trim().split('\n')
    expect([...table.search(secrets.join('\n'))]).toEqual([])
    for (const [index, secret] of secrets.entries()) table.add(secret, String(index))
    for (const [index, secret] of secrets.entries()) {
      const matches = [...table.search(`a ${secret.slice(-20)} b`)]
      expect(matches.map(({ window }) => window)).toEqual(
        Array.from({ length: 9 }, (_, at) => secret.slice(-20).slice(at, at + WINDOW)),
      )
      expect(matches.at(-1)?.mark).toBe(String(index))
    }
  })
})

function different(count: number): string {
  let text = ''
  for (let i = 0; i < count; i++)
    text += `ghp_${(i * 2_654_435_761).toString(36).padStart(12, 'a')}${letters(16)}${String(i).padStart(8, '0')}\n`
  return text
}

function short(count: number): string {
  let text = ''
  for (let i = 0; i < count; i++) text += `redis://a:h${i.toString(36)}nter@b\n`
  return text
}
