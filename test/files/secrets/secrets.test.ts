import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mayHoldToken } from '../../../src/files/secrets/find.ts'
import { mayHoldSecret, redact, toOriginalOffset } from '../../../src/files/secrets/index.ts'
import { lineHasSecret, mayHoldPrivateKey, mayHoldUrlPassword } from '../../../src/files/secrets/prefilter.ts'
import { createDocumentCache } from '../../../src/files/text/document.ts'
import type { LogicalPath } from '../../../src/paths/logical-path.ts'
import { times } from '../../counts.ts'
import { ownTime } from '../../own-time.ts'
import { base64url, digits, hex, jwt, letters, shortest, tokens, upper } from './tokens.ts'

describe('redact', () => {
  const byPrefixes = shortest.map(([kind, prefixes, body]) => [prefixes, kind, body] as const)
  it.each(byPrefixes)('hides a token of the minimum length after %s, and no shorter one', (prefixes, kind, body) => {
    for (const prefix of prefixes.split(' ')) {
      const visiblePrefix = prefix.endsWith('.') ? prefix : ''
      expect(redact(`a ${prefix}${body} b`).text).toBe(`a ${visiblePrefix}[REDACTED:${kind}:1] b`)
      expect(mayHoldSecret(new TextEncoder().encode(prefix + body))).toBe(true)
      const shorter = `a ${prefix}${body.slice(0, -1)} b`
      expect(redact(shorter).text).toBe(shorter)
    }
  })

  const escapes = [
    '\\n',
    '\\t',
    '\\r',
    '\\b',
    '\\0',
    '\\\\n',
    '\\"',
    '\\/',
    '\\u000a',
    '\\u003d',
    '\\x0a',
    '%0A',
    '%3d',
    '%20',
  ]
  it.each(escapes)('hides every token with a prefix after the escape %s', (written) => {
    const shown: string[] = []
    for (const [kind, prefixes, body] of shortest) {
      for (const prefix of prefixes.split(' ')) {
        const visiblePrefix = prefix.endsWith('.') ? prefix : ''
        for (const before of ['', `{"a":"b${written}`]) {
          const { text } = redact(`${before}${written}${prefix}${body}"}`)
          if (text !== `${before}${written}${visiblePrefix}[REDACTED:${kind}:1]"}`) shown.push(text)
          const bytes = new TextEncoder().encode(`${before}${written}${prefix}${body}"}`)
          if (!mayHoldSecret(bytes) || !lineHasSecret(bytes, 0, bytes.length)) shown.push(`${prefix} in bytes`)
        }
      }
    }
    expect(shown.join('\n')).toBe('')
  })

  it.each(escapes)('shows no part of a token of any format after the escape %s', (written) => {
    const shown: string[] = []
    for (const [kind, before, secret, after] of tokens) {
      const { text } = redact(`x${written}${before}${secret}${after}`)
      const parts = Array.from({ length: secret.length - 11 }, (_, at) => secret.slice(at, at + 12))
      if (parts.some((part) => text.includes(part))) shown.push(`${kind}: ${text}`)
    }
    expect(shown).toEqual([])
  })

  it('hides all of two tokens without a separator between them', () => {
    const prefixed = shortest.filter(([, prefixes]) => !prefixes.endsWith('.'))
    const shown: string[] = []
    for (const [, prefixes, body] of prefixed) {
      for (const prefix of prefixes.split(' ')) {
        const token = prefix + body
        const { text } = redact(`a ${token}${token} b`)
        for (let at = 0; at + 12 <= token.length; at++) {
          if (text.includes(token.slice(at, at + 12))) shown.push(`${prefix}: ${text}`)
        }
      }
    }
    expect(shown).toEqual([])
  })

  const wideEncodings: readonly (readonly [name: string, unit: (code: number) => readonly number[]])[] = [
    ['UTF-16LE', (code) => [code, 0]],
    ['UTF-16BE', (code) => [0, code]],
    ['UTF-32LE', (code) => [code, 0, 0, 0]],
    ['UTF-32BE', (code) => [0, 0, 0, code]],
  ]
  it.each(wideEncodings)('hides every token in %s without a byte order mark', (_, unit) => {
    for (const [kind, before, secret, after] of tokens) {
      for (const [left, right] of [
        ['', ''],
        ['first line\nkey: ', '\nlast line\n'],
      ]) {
        const text = `${left}${before}${secret}${after}${right}`
        const bytes = Uint8Array.from([...text].flatMap((character) => unit(character.charCodeAt(0))))
        const stored = Buffer.from(bytes).toString('latin1')
        const { text: redacted, marks } = redact(stored)
        expect(
          marks.map((mark) => mark.kind),
          text,
        ).toEqual([kind])
        expect(redacted.replaceAll('\0', '')).toBe(`${left}${before}[REDACTED:${kind}:1]${after}${right}`)
        expect(stored.slice(marks[0]?.originalStart, marks[0]?.originalEnd).replaceAll('\0', '')).toBe(secret)
        expect(mayHoldSecret(bytes)).toBe(true)
      }
    }
  })

  it.each(tokens)('hides %s', (kind, before, secret, after) => {
    for (const [left, right] of [
      ['', ''],
      ['const a = "', '"\n'],
      ['grün ', ' grün'],
      ['x: ', ',\r\n'],
    ]) {
      const text = `${left}${before}${secret}${after}${right}`
      const { text: redacted, marks } = redact(text)
      expect(marks).toHaveLength(1)
      expect(redacted).toBe(`${left}${before}[REDACTED:${kind}:1]${after}${right}`)
      expect(text.slice(marks[0]?.originalStart, marks[0]?.originalEnd)).toBe(secret)
      expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(true)
    }
  })

  it('numbers marks in the order of the text, each once', () => {
    const token = `ghp_${letters(36)}`
    const { text, marks } = redact(`${token}\nAKIA${upper(16)} ${token}`)
    expect(text).toBe('[REDACTED:github-token:1]\n[REDACTED:aws-access-key-id:2] [REDACTED:github-token:3]')
    expect(marks.map(({ mark }) => mark)).toEqual([
      '[REDACTED:github-token:1]',
      '[REDACTED:aws-access-key-id:2]',
      '[REDACTED:github-token:3]',
    ])
  })

  it('numbers marks in the order of the text, not of the search', () => {
    expect(redact(`redis://:correct-horse@h ghp_${letters(36)}`).text).toBe(
      'redis://:[REDACTED:url-password:1]@h [REDACTED:github-token:2]',
    )
  })

  it('gives adjacent secrets separate marks', () => {
    expect(redact(`GOCSPX-${letters(27)}-AKIA${upper(16)}`).text).toBe(
      '[REDACTED:google-oauth-secret:1][REDACTED:aws-access-key-id:2]',
    )
  })

  it('gives nested secrets one mark', () => {
    expect(redact(`Authorization: Bearer ${jwt}.${letters(30)}`).text).toBe(
      'Authorization: Bearer [REDACTED:authorization:1]',
    )
  })

  it('gives overlapping secrets one mark', () => {
    const header = base64url('{"alg":"HS256"}')
    const text = `a ${header}.${letters(8)}-SG.${letters(22)}.${letters(43)} b`
    expect(redact(text)).toMatchObject({
      text: 'a [REDACTED:jwt:1] b',
      marks: [{ originalStart: 2, originalEnd: text.length - 2 }],
    })
  })

  it('continues the numbers of texts that look like marks', () => {
    const { text, marks } = redact(`see [REDACTED:github-token:1], [REDACTED:jwt:41]: ghp_${letters(36)}`)
    expect(text).toBe('see [REDACTED:github-token:1], [REDACTED:jwt:41]: [REDACTED:github-token:42]')
    expect(marks).toHaveLength(1)
    expect(redact('[REDACTED:github-token:1]').marks).toEqual([])
  })

  it('returns a text without secrets unchanged', () => {
    const text = 'nothing here'
    expect(redact(text)).toEqual({ text, marks: [] })
  })

  describe('private keys', () => {
    const pem = (type: 'rsa' | 'ec' | 'ed25519', format: 'pkcs8' | 'sec1' | 'pkcs1'): string => {
      const { privateKey } =
        type === 'rsa'
          ? generateKeyPairSync('rsa', { modulusLength: 1024 })
          : type === 'ec'
            ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
            : generateKeyPairSync('ed25519')
      return String(privateKey.export({ type: format as 'pkcs8', format: 'pem' }))
    }
    const keys: [string, string][] = [
      ['RSA', pem('rsa', 'pkcs1')],
      ['PKCS #8', pem('rsa', 'pkcs8')],
      ['EC', pem('ec', 'sec1')],
      ['Ed25519', pem('ed25519', 'pkcs8')],
      [
        'encrypted',
        String(
          generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
            type: 'pkcs1',
            format: 'pem',
            cipher: 'aes-128-cbc',
            passphrase: 'x',
          }),
        ),
      ],
    ]

    it.each(keys)('%s: hides the content of every line and keeps the line count', (_, key) => {
      for (const eol of ['\n', '\r\n']) {
        const block = key.trimEnd().replaceAll('\n', eol)
        const original = `# before${eol}${block}${eol}after${eol}`
        const { text, marks } = redact(original)
        expect(text.split('\n')).toHaveLength(original.split('\n').length)
        expect(text.replace(/\[REDACTED:private-key:[0-9]+\]/g, '').replace(/\s+/g, ' ')).toBe('# before after ')
        expect(marks.length).toBe(block.split(/\s*\n\s*/).length)
        expect(mayHoldSecret(Buffer.from(original))).toBe(true)
      }
    })

    it.each(keys)('%s: hides a key in JSON, on one line', (_, key) => {
      const { text } = redact(JSON.stringify({ id: 1, key, more: true }))
      expect(text).toBe('{"id":1,"key":"[REDACTED:private-key:1]\\n","more":true}')
    })

    it.each(keys)('%s: hides indented, concatenated string literals', (_, key) => {
      const source = `const key =\n${key
        .trimEnd()
        .split('\n')
        .map((line) => `    '${line}\\n' +`)
        .join('\n')}\n  ''\n`
      const { text } = redact(source)
      for (const line of key.trimEnd().split('\n')) if (line !== '') expect(text).not.toContain(line)
      expect(text.split('\n')).toHaveLength(source.split('\n').length)
      expect(text).toMatch(/^const key =\n {4}'\[REDACTED/)
    })

    it.each(keys)('%s: hides a truncated key', (_, key) => {
      const cut = key.slice(0, Math.floor(key.length * 0.6))
      const { text } = redact(`${cut}\n\n"and what follows"`)
      expect(text.replace(/\[REDACTED:private-key:[0-9]+\]/g, '').trim()).toBe('"and what follows"')
    })

    const block = (...lines: string[]): string =>
      [`-----BEGIN PRIVATE ${'KEY'}-----`, ...lines, `-----END PRIVATE ${'KEY'}-----`].join('\n')

    it.each<[string, string]>([
      ['one line of the shortest length', letters(32)],
      ['a line and twice as much other text', `${letters(40)}\n${'words and '.repeat(7)}words `],
      ['a line and any number of letters that are not ASCII', `${letters(40)}\n${'é\u0080'.repeat(100)}`],
      ['armour headers', `Version: GnuPG v1.4.11\nComment: https://gnupg.org/x\n\n${letters(64)}\n=aB3d`],
    ])('a block with %s is a key', (_, body) => {
      const text = block(body)
      const lines = text.split('\n').filter((line) => line !== '')
      expect(
        redact(text).marks.map(({ originalStart, originalEnd }) => text.slice(originalStart, originalEnd)),
      ).toEqual(lines)
      expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(true)
    })

    it.each<[string, string]>([
      ['lines that are too short', block(letters(31), letters(31), letters(31))],
      ['a line and more text that is not a key', block(letters(40), `${'words and '.repeat(7)}words x`)],
      ['a line and more punctuation', block(letters(40), ' . '.repeat(40))],
      ['no content, before Base64', `${block().replace('\n', '')}\n${letters(64)}\n`],
    ])('a block with %s is not a key', (_, text) => {
      expect(redact(text).text).toBe(text)
      expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(false)
    })

    const unfinishedKey = `-----BEGIN PRIVATE ${'KEY'}-----\n${letters(64)}`
    it.each<[string, string]>([
      [`\n${letters(20)}`, ''],
      [`\n${letters(20)}\nnext words`, '\nnext words'],
      [`\r\n\r\n${letters(20)}`, ''],
      ['\n\n\n\n\nname', '\n\n\n\n\nname'],
      ['\nnext words', '\nnext words'],
      [' .\nname', ' .\nname'],
      ['\n- name', '\n- name'],
      [`\n; then\n${letters(64)}`, `\n; then\n${letters(64)}`],
      [' name', ' name'],
      ['; then', '; then'],
    ])('a block that is truncated before %j ends there', (after, left) => {
      const { text } = redact(unfinishedKey + after)
      expect(text.replace(/\s*\[REDACTED:private-key:[0-9]+\]/g, '')).toBe(left)
    })

    it('two keys, and one without an end before a complete one', () => {
      const key = pem('ec', 'sec1').trimEnd()
      const cut = key.slice(0, 120)
      const { text } = redact(`${key}\nbetween\n${cut}\n!\n${key}\nend`)
      expect(text.split('\n').filter((line) => !line.startsWith('[REDACTED:private-key:'))).toEqual([
        'between',
        '!',
        'end',
      ])
    })

    it('ignores public keys, certificates and programs that contain the header', () => {
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
      for (const text of [
        String(publicKey.export({ type: 'spki', format: 'pem' })),
        `if (text.includes('-----BEGIN PRIVATE ${'KEY'}-----')) return 'PRIVATE KEY'\n`,
        `const begin = '-----BEGIN RSA PRIVATE ${'KEY'}-----'\nconst end = '-----END RSA PRIVATE ${'KEY'}-----'\n`,
        `-----BEGIN PRIVATE ${'KEY'}-----\n...\n-----END PRIVATE ${'KEY'}-----\n`,
      ]) {
        expect(redact(text).text).toBe(text)
        expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(false)
      }
    })

    it('are only searched for if the text contains their name', () => {
      const may = (text: string) => mayHoldPrivateKey(new TextEncoder().encode(text))
      expect(['PRIVATE KEY', 'V and a PRIVATE KEY'].map(may)).toEqual([true, true])
      expect(['', 'V', 'PRIVATE-KEY', 'PRIVATE', 'V KEY'].map(may)).toEqual([false, false, false, false, false])
    })
  })

  it('reports that UTF-16 may hold a secret without a search, and nothing else', () => {
    const may = (...bytes: number[]) => mayHoldSecret(Uint8Array.from(bytes))
    expect([may(0xfe, 0xff, 0, 0x61), may(0xff, 0xfe, 0x61, 0)]).toEqual([true, true])
    expect([may(), may(0xff), may(0xef, 0xbb, 0xbf), may(0x61, 0xff)]).toEqual([false, false, false, false])
  })

  it.each([
    ['an identifier', 'const thisIsAVeryLongIdentifierName_whichGoesOnAndOn = getTheOtherVeryLongIdentifierName()'],
    ['a git hash', 'commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12'],
    ['an integrity hash', `"integrity": "sha512-${letters(86)}=="`],
    ['a data URL', `url(data:image/png;base64,${letters(200)})`],
    ['a UUID', 'id: 123e4567-e89b-12d3-a456-426614174000'],
    ['too short for GitHub', `ghp_${letters(35)}`],
    ['inside of a word', `xghp_${letters(36)}`],
    ['too long for AWS', `AKIA${upper(17)}`],
    ['too short for AWS', `AKIA${upper(15)}`],
    ['40 characters without a name', `const hash = '${letters(40)}'`],
    ['a variable', `Authorization: Bearer $\{process.env.TOKEN_OF_THE_SERVICE}`],
    ['a placeholder', 'Authorization: Bearer your-very-own-token-goes-here'],
    ['a sentence', 'an authorization: bearer authentication-and-authorization'],
    ['a token without a header', `${base64url('{"hello":"world, how are you"}')}.${letters(30)}.${letters(43)}`],
    ['the header of a token within a word', `x${jwt}`],
    ['two parts', `${base64url('{"alg":"HS256"}')}.${letters(30)}`],
    ['no password', 'postgres://localhost:5432/app and mysql://user@host/db'],
    ['a placeholder password', 'postgres://user:password@localhost/db'],
    ['more placeholder passwords', 'ftp://a:passwd@h mysql://a:pass@h mongodb://a:PWD@h'],
    ['no scheme', 'see ://user:secretpass@host'],
    ['too many digits for Telegram', `${digits(11)}:AA${letters(33)}`],
    ['the same password', 'postgres://postgres:postgres@localhost/db'],
    [
      'a variable password',
      `postgres://app:$\{PASSWORD}@db/app, mysql://app:<password>@db, redis://:$PW@h, amqp://a:%s@h, amqp://a:pass%d@h`,
    ],
    ['another address', 'https://user:secretpass@example.com/a and http://a:b@c'],
    ['a port and an at sign', 'redis://cache:6379/0, mail me@example.com'],
    ['a class name', '.sk-folding-cube-and-more .sk-cube-grid-and-more { }'],
    ['npm variables', 'npm_config_registry npm_package_version_number_of_this'],
    ['a path', 'src/components/navigation/sidebar/items/index.tsx'],
    ['rules', `${'-'.repeat(80)}\n${'='.repeat(80)}\n${'/'.repeat(80)}\n${'_'.repeat(80)}`],
  ])('ignores %s', (_, text) => {
    expect(redact(text).text).toBe(text)
    expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(false)
  })

  it('finds almost nothing in the files of real packages', () => {
    const findings: string[] = []
    let bytes = 0
    for (const entry of readdirSync('node_modules', { recursive: true }).map(String)) {
      if (bytes > 8_000_000) break
      if (!/\.(?:js|ts|mjs|cjs|json|md|mts|cts|yml|css)$/.test(entry)) continue
      const stat = statSync(`node_modules/${entry}`)
      if (!stat.isFile() || stat.size > 500_000) continue
      bytes += stat.size
      for (const { kind } of redact(readFileSync(`node_modules/${entry}`, 'utf8')).marks)
        findings.push(`${entry} ${kind}`)
    }
    expect(bytes).toBeGreaterThan(1_000_000)
    // The findings have the right format: examples of tokens in documentation and tests.
    expect(findings.length, findings.join('\n')).toBeLessThan(5)
  })
})

/** Ordinary text, parts of secrets, complete secrets, and text that looks like a mark. */
const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(...tokens.map(([, before, secret, after]) => before + secret + after)),
    fc.constantFrom(
      'ghp_',
      'sk-',
      'eyJ',
      '-',
      '_',
      '/',
      '.',
      ' ',
      '\n',
      '\r\n',
      '://',
      '@',
      ':',
      '=',
      '"',
      'é',
      '\u00a0',
      '😀',
    ),
    fc.constantFrom(
      '[REDACTED:jwt:1]',
      '[REDACTED:',
      ']',
      `-----BEGIN PRIVATE ${'KEY'}-----`,
      `-----END PRIVATE ${'KEY'}-----`,
    ),
    fc.integer({ min: 1, max: 70 }).map(letters),
    fc.string({ maxLength: 5 }),
  ),
  { maxLength: 14 },
)

describe('properties', () => {
  it('marks are ordered, disjoint and unique, and restore the text', () => {
    fc.assert(
      fc.property(pieces, (parts) => {
        const original = parts.join('')
        const { text, marks } = redact(original)
        let rebuilt = ''
        let from = 0
        for (const { kind, mark, start, end, originalStart, originalEnd } of marks) {
          expect(start).toBeGreaterThanOrEqual(from)
          expect(text.slice(start, end)).toBe(mark)
          expect(mark).toMatch(/^\[REDACTED:[a-z-]+:[0-9]+\]$/)
          expect(mark).toContain(`:${kind}:`)
          expect(text.split(mark)).toHaveLength(2)
          expect(original).not.toContain(mark)
          expect(original.slice(originalStart, originalEnd)).not.toMatch(/[\r\n]/)
          rebuilt += text.slice(from, start) + original.slice(originalStart, originalEnd)
          from = end
        }
        expect(rebuilt + text.slice(from)).toBe(original)
        expect(text.split('\n')).toHaveLength(original.split('\n').length)
      }),
      { numRuns: times(150, 500) },
    )
  })

  it('mayHoldSecret is true exactly if redact finds a secret', () => {
    let count = 0
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('')
        const { marks } = redact(text)
        expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(marks.length > 0)
        if (marks.length === 0) return
        count += 1
        expect(mayHoldSecret(Buffer.from(`\ufeff${text}`, 'utf16le'))).toBe(true)
      }),
      { numRuns: times(150, 500) },
    )
    expect(count).toBeGreaterThan(times(12, 50))
  })

  it('a mark is not a secret', () => {
    const lines = tokens.map(([, before, secret, after]) => before + secret + after)
    for (const text of [...lines, lines.join('\n')]) {
      const once = redact(text)
      expect(once.marks.length).toBeGreaterThan(0)
      expect(redact(once.text)).toEqual({ text: once.text, marks: [] })
    }
  })

  it('offsets outside of marks refer to the same character', () => {
    fc.assert(
      fc.property(pieces, fc.nat(400), (parts, offset) => {
        const original = parts.join('')
        const redaction = redact(original)
        const originalOffset = toOriginalOffset(redaction, offset)
        const inside = redaction.marks.some(({ start, end }) => start < offset && offset < end)
        if (inside || offset > redaction.text.length) expect(originalOffset).toBeUndefined()
        else {
          const at = originalOffset as number
          expect(at).toBeLessThanOrEqual(original.length)
          // The same text follows, up to the next mark.
          const next = redaction.marks.find(({ start }) => start >= offset)
          const until = next === undefined ? original.length : next.originalStart
          expect(original.slice(at, until)).toBe(redaction.text.slice(offset, next?.start))
        }
      }),
      { numRuns: times(150, 500) },
    )
    expect(toOriginalOffset(redact('abc'), -1)).toBeUndefined()
    expect(toOriginalOffset(redact('abc'), 4)).toBeUndefined()
    expect(toOriginalOffset(redact('abc'), Number.NaN)).toBeUndefined()
    expect(toOriginalOffset(redact('abc'), 3)).toBe(3)
  })

  it('offsets at the ends of a mark refer to the ends of the secret', () => {
    const secret = `ghp_${letters(36)}`
    const redaction = redact(`a ${secret} b`)
    const [mark] = redaction.marks
    expect(toOriginalOffset(redaction, 2)).toBe(2)
    expect(toOriginalOffset(redaction, 3)).toBeUndefined()
    expect(toOriginalOffset(redaction, mark?.end as number)).toBe(2 + secret.length)
    expect(toOriginalOffset(redaction, redaction.text.length)).toBe(secret.length + 4)
  })
})

describe('cost', () => {
  const begin = `-----BEGIN PRIVATE ${'KEY'}-----`
  it.each([
    ['letters', 'a'],
    ['separators', '-'],
    ['slashes', '/'],
    ['starts of tokens', 'sk-'],
    ['starts of Slack tokens', 'xoxb-'],
    ['starts of GitHub tokens', 'github_pat_'],
    ['headers', 'eyJ'],
    ['headers apart', 'eyJ-'],
    ['dotted headers', `eyJ${'a'.repeat(17)}.`],
    ['dotted valid headers', `${base64url('{"alg":"HS256"}')}.`],
    ['keys begun', begin],
    ['unfinished keys with spaces', '-----BEGIN                                         '],
    ['keys ended', `-----END PRIVATE ${'KEY'}-----`],
    ['unfinished keys and a line', `${begin}\n${'a'.repeat(64)}\n`],
    ['schemes', 'redis://'],
    ['schemes and users', 'redis://a:'],
    ['schemes, users, no host', `redis://${'a'.repeat(120)}:${'b'.repeat(200)}`],
    ['colons', ':'],
    ['authorizations', 'authorization: bearer '],
    ['hashes', `${hex(40)} `],
    ['runs', `${'a'.repeat(20)} `],
    ['runs before dots', `${'a'.repeat(20)}.`],
    ['marks', '[REDACTED:a:1]'],
    ['open marks', '[REDACTED:'],
    ['secrets', `AKIA${upper(16)} `],
    ['spaces', ' '],
    ['slack', 'hooks.slack.com/services/T'],
  ])('is linear: %s', (_, unit) => {
    const time = (length: number): number => {
      const text = unit.repeat(Math.ceil(length / unit.length))
      let best = Number.POSITIVE_INFINITY
      for (let i = 0; i < 5; i++) {
        const started = ownTime()
        redact(text)
        best = Math.min(best, ownTime() - started)
      }
      return best
    }
    time(1000)
    const small = time(50_000)
    const large = time(400_000)
    // The text is 8 times as long. Quadratic time would be 64 times as long. Short times are not reliable.
    expect(large).toBeLessThan(Math.max(80, small * 30))
  })
})

describe('similar to a token of several parts, but ignored', () => {
  const part = 'a'.repeat(27)
  it.each([
    ['a header that is too short', `eyJhbGciOiJIUzI1N.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'x'.repeat(43)}`],
    ['a header that is not Base64', `eyJhbGciOiJIUzI1NiJ9x.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'x'.repeat(43)}`],
    ['a header that is not JSON', `eyJ${'x'.repeat(21)}.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'x'.repeat(43)}`],
    ['a number that is too long', `${base64url('8'.repeat(21))}.Gabcde.${part}`],
    ['a number and a letter', `${base64url(`${'8'.repeat(17)}x`)}.Gabcde.${part}`],
    ['a number that is not Base64', `${'M'.repeat(25)}.Gabcde.${part}`],
    ['a first part that is not a number', `${'M'.repeat(24)}.Gabcde.${part}`],
  ])('%s', (_, text) => {
    expect(redact(`a ${text} b`).marks).toEqual([])
  })

  const run = 'x'.repeat(25)
  it.each<[string, string, boolean]>([
    ['', run, false],
    ['', 'x'.repeat(39), false],
    ['', 'x'.repeat(40), true],
    ['', 'x'.repeat(41), false],
    ['a ', run, false],
    ['.', run, false],
    ['G.', run, true],
    ['SG.', run, true],
    ['x.', run, false],
    ['F\u00ae', run, false],
    ['', `ghp_${run}`, true],
    ['', `gx${run}`, false],
    ['', `${run}ghp_${run}`, false],
    ['', `${run}_ghp_${run}`, true],
    ['', `${run}_gx_${run}`, false],
    ['', `${run}-${'gh'.padEnd(20, 'x')}`, true],
    ['', `${run}-${'gh'.padEnd(19, 'x')}`, false],
    ['', `${run}xxxxxxx-`, false],
  ])('after %j, %s may hold a token: %s', (before, token, worth) => {
    const look = (after: string) =>
      mayHoldToken(Buffer.from(`${before}${token}${after}`, 'latin1'), before.length, before.length + token.length)
    expect([look(''), look(' ghp_'), look('.')]).toEqual([worth, worth, true])
  })

  it.each<[string, boolean]>([
    ['', false],
    ['@', false],
    ['redis://a:b@h', true],
    ['redis://a:b@', true],
    ['://@', true],
    ['://a', false],
    ['a://b/c@d', false],
    ['a://b c@d', false],
    ['a://b\u00e9@d', false],
    ['a:/b@c', false],
    ['a//b@c', false],
    ['a:x/b@c', false],
    ['a:/xb@c', false],
    ['a:/ b@c', false],
    ['@ a://b@', true],
    ['a://@b@', true],
    [`${'x'.repeat(70)} a://b@`, true],
    [`${'x'.repeat(63)}@ ${'x'.repeat(90)}`, false],
    [`a://${'b'.repeat(100)}@`, true],
    [`a://${'b'.repeat(100)}`, false],
  ])('%s may hold the password of an address: %s', (text, may) => {
    const within = (before: string, after: string) =>
      mayHoldUrlPassword(Buffer.from(before + text + after, 'latin1'), before.length, before.length + text.length)
    expect([within('', ''), within(' ', ' '), within(':', '@'), within('://', `${'x'.repeat(80)}@`)]).toEqual([
      may,
      may,
      may,
      may,
    ])
  })

  /** Returns the ranges of ASCII texts for which `lineHasSecret` is wrong. */
  const wrongRanges = (ranges: Iterable<readonly [text: string, from: number, to: number, holds: boolean]>) => {
    const encoder = new TextEncoder()
    return [...ranges].filter(([text, from, to, holds]) => lineHasSecret(encoder.encode(text), from, to) !== holds)
  }

  it('a range of bytes has a secret if its text alone has one, for any cut', () => {
    const cuts = tokens.flatMap(([, before, secret, after]) => {
      const text = `${before}${secret}${after}`
      const end = before.length + secret.length
      return [before.length, before.length + 1, end - 1, end, Math.min(end + 1, text.length)].flatMap((cut) => [
        [text, 0, cut, redact(text.slice(0, cut)).marks.length > 0] as const,
        [text, cut, text.length, redact(text.slice(cut)).marks.length > 0] as const,
      ])
    })
    expect(wrongRanges(cuts)).toEqual([])
  })

  it('a range of bytes has a secret if its text alone has one, for any surrounding text', () => {
    const ranges = tokens.flatMap(([, before, secret, after]) =>
      ['x1', '_', '.', '@', `${secret} `, `${'x'.repeat(70)}@`].flatMap((around) => {
        const text = `${before}${secret}${after}`
        const whole = `${around}${text}${around}plain words${around}${text}`
        const end = around.length + text.length
        const plain = end + around.length
        return [[whole, around.length, end, true] as const, [whole, plain, plain + 11, false] as const]
      }),
    )
    expect(wrongRanges(ranges)).toEqual([])
  })

  it('an address on the next line does not belong to this line', () => {
    const line = 'https://example.org and many more words than that '.repeat(3)
    const bytes = new TextEncoder().encode(`${line}\nuser:password@host`)
    expect(lineHasSecret(bytes, 0, line.length)).toBe(false)
    expect(lineHasSecret(new TextEncoder().encode(`${line}postgres://user:hunter2secret@h`), 0, line.length + 31)).toBe(
      true,
    )
  })
})

describe('the document cache', () => {
  it('keeps the last documents that fit, or a single one that is too large', () => {
    const path = 'a.txt' as LogicalPath
    const bytes = (size: number) => new Uint8Array(size).fill(0x61)
    const cache = createDocumentCache(3 * (100 * 3 + 512))
    const [first, second, third, fourth] = [bytes(100), bytes(100), bytes(100), bytes(100)]
    const documents = [first, second, third].map((each) => cache.of(each, path))
    expect(cache.of(first, path)).toBe(documents[0])
    cache.of(fourth, path)
    expect(cache.of(third, path)).toBe(documents[2])
    expect(cache.of(first, path)).not.toBe(documents[0])
    const large = bytes(10_000)
    expect(cache.of(large, path)).toBe(cache.of(large, path))
    expect(cache.of(large, path).text).toBe('a'.repeat(10_000))
  })
})
