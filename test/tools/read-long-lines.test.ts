import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connect, workspaceOver } from '../adapters/mcp-client.ts'
import { times } from '../counts.ts'
import { type Answer, bench } from './setup.ts'

type Read = (input: object) => Promise<Answer>

/** Reads a file to its end; each call continues where the previous one stopped. */
async function readInParts(read: Read, path: string, maxLines = 1000): Promise<Answer[]> {
  const parts: Answer[] = []
  let startLine = 1
  let startColumn = 1
  for (;;) {
    const part = await read({ path, startLine, startColumn, maxLines })
    parts.push(part)
    if (!part.truncated) return parts
    if (part.nextColumn === undefined) [startLine, startColumn] = [part.endLine + 1, 1]
    else {
      expect(part.warnings.join()).toContain(`startLine ${part.endLine}, startColumn ${part.nextColumn}`)
      ;[startLine, startColumn] = [part.endLine, part.nextColumn]
    }
    expect(parts.length).toBeLessThan(10_000)
  }
}

const joined = (parts: readonly Answer[]) => parts.map(({ content }) => content).join('')
const token = `ghp_${'a1B2'.repeat(10)}`

describe('a line that is too long for one call', () => {
  it('is continued with startColumn, named by the warning', async () => {
    const line = `${'x'.repeat(65_000)}${'é'.repeat(1000)}`
    const { ok } = await bench({ 'a.txt': `one\n${line}\nthree\n` })
    expect(await ok('read_file', { path: 'a.txt' })).toMatchObject({ endLine: 1, truncated: true, content: 'one\n' })
    const first = await ok('read_file', { path: 'a.txt', startLine: 2 })
    expect(first).toMatchObject({
      ...{ endLine: 2, truncated: true, nextColumn: 65_269 },
      warnings: ['Line 2 is too long for one reading; continue with startLine 2, startColumn 65269'],
    })
    const second = await ok('read_file', { path: 'a.txt', startLine: 2, startColumn: first.nextColumn })
    expect(second).toMatchObject({ startLine: 2, endLine: 3, truncated: false, warnings: [] })
    expect(second).not.toHaveProperty('nextColumn')
    expect(first.content + second.content).toBe(`${line}\nthree\n`)
  })

  it.each([
    ['after the line', { startLine: 1, startColumn: 5 }],
    ['after the last line', { startLine: 2, startColumn: 4 }],
    ['far away', { startLine: 1, startColumn: 1e9 }],
  ])('refuses a startColumn %s', async (_, range) => {
    for (const limits of [{}, { textFileBytes: 1 }]) {
      const { call } = await bench({ 'a.txt': 'one\ntwo' }, { limits })
      expect(await call('read_file', { path: 'a.txt', ...range })).toMatchObject({
        code: 'INVALID_INPUT',
        field: 'startColumn',
      })
    }
  })

  const pieces = fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }).filter((text) => !/[\0-\x1f]/.test(text)) },
    fc.constantFrom('\n', '\r\n', '\r', '\n\n', 'é'.repeat(40), '𝒳'.repeat(30), 'x'.repeat(200), ` ${token} `),
  )
  const texts = fc.tuple(fc.boolean(), fc.array(pieces, { maxLength: 20 })).map(([bom, all]) => {
    return `${bom ? '\ufeff' : ''}${all.join('')}`
  })

  it.each([
    ['loaded whole', {}],
    ['over the size limit of text files', { textFileBytes: 1 }],
  ])('reads back to the whole file in parts, %s', async (_, sizes) => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.integer({ min: 64, max: 400 }),
        fc.integer({ min: 1, max: 9 }),
        async (text, max, n) => {
          const { ok } = await bench({ 'a.txt': text }, { limits: { ...sizes, readBytes: max } })
          const whole = await bench({ 'a.txt': text })
          const parts = await readInParts((input) => ok('read_file', input), 'a.txt', n)
          const expected = (await whole.ok('read_file', { path: 'a.txt', maxLines: 1000 })).content as string
          const plain = (content: string) => content.replace(/(\[REDACTED:[a-z-]+):\d+\]/g, '$1]')
          expect(plain(joined(parts))).toBe(plain(expected))
          const shown = text.replace(/^\ufeff/, '')
          if (!text.includes(token)) expect(joined(parts)).toBe(shown)
          let end = 0
          for (const { content } of parts) {
            expect(content.isWellFormed()).toBe(true)
            expect(content).not.toContain(token.slice(0, 12))
            end += content.length
            if (!text.includes(token)) expect(shown.slice(end - 1, end + 1)).not.toBe('\r\n')
            if (!content.includes('[REDACTED')) expect(Buffer.byteLength(content)).toBeLessThanOrEqual(max)
          }
        },
      ),
      { numRuns: times(30, 2000) },
    )
  })

  it('counts as read once all of its parts were shown in order', async () => {
    const text = `one\n${'x'.repeat(150_000)}\ntwo\n`
    const open = () => bench({ 'a.txt': text }, { staleGuard: 'shown' })
    const whole = await open()
    const write = { path: 'a.txt', content: 'new', expectedSha256: await whole.sha('a.txt') }
    expect((await readInParts((input) => whole.ok('read_file', input), 'a.txt')).length).toBe(4)
    expect(await whole.call('write_file', write)).toMatchObject({ ok: true })

    const gap = await open()
    for (const range of [{}, { startLine: 2 }, { startLine: 2, startColumn: 140_000 }]) {
      await gap.ok('read_file', { path: 'a.txt', ...range })
    }
    expect(await gap.code('write_file', write)).toBe('WRITE_CONFLICT')
  })

  it('reads whole as a resource of the Model Context Protocol', async () => {
    const text = `one\n${'é𝒳'.repeat(40_000)}\r\ntwo`
    const { client } = await connect(await workspaceOver({ 'a.txt': text }))
    const { contents } = await client.readResource({ uri: 'wardspace://files/a.txt' })
    expect(contents).toMatchObject([{ text }])
    const part = await client.readResource({ uri: 'wardspace://files/a.txt?startLine=2&startColumn=119999&maxLines=1' })
    expect(part.contents).toMatchObject([{ text: '𝒳\r\n' }])
  })

  it('is continued in an artifact', async () => {
    const { ok } = await bench({ 'a.txt': 'x' })
    const { artifactUri } = await ok('write_file', { path: 'b.txt', content: 'y'.repeat(100_000) })
    const parts = await readInParts((input) => ok('read_file', input), artifactUri)
    expect(joined(parts)).toContain(`\n+${'y'.repeat(100_000)}\n`)
  })
})
