import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createArtifacts } from '../../src/audit/artifacts.ts'
import { limitResult } from '../../src/call/limit-result.ts'
import { createSha256 } from '../../src/files/hash/sha256.ts'
import { createSha256Portable } from '../../src/files/hash/sha256-portable.ts'
import { markPositions } from '../../src/files/secrets/index.ts'
import { utf8Length } from '../../src/files/text/utf8-length.ts'
import type { ToolContext } from '../../src/tools/define-tool.ts'
import { boundContent } from '../../src/tools/shared/bound-content.ts'
import { boundOutput } from '../../src/tools/shared/command-output.ts'
import { isoTime } from '../../src/tools/shared/iso-time.ts'
import { nearestPassage } from '../../src/tools/shared/nearest-passage.ts'
import { memoryOf, memoryPath } from '../../src/tools/shared/notes.ts'
import { occurrences } from '../../src/tools/shared/occurrences.ts'
import { resultSize } from '../../src/tools/shared/result-size.ts'
import { sessionOf, targetOf } from '../../src/tools/shared/target.ts'
import { newSha256 } from '../../src/tools/shared/text-change.ts'
import { truncatePatch } from '../../src/tools/shared/truncate-patch.ts'
import { submitPlan } from '../../src/tools/submit-plan.ts'

describe('occurrences', () => {
  it('equal those of indexOf with both algorithms', () => {
    const text = fc.stringMatching(/^[ab]{0,60}$/)
    fc.assert(
      fc.property(
        text,
        fc.stringMatching(/^[ab]{1,6}$/),
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        (text, needle, overlapping, limit) => {
          const expected: number[] = []
          for (
            let at = text.indexOf(needle);
            at !== -1 && expected.length < limit;
            at = text.indexOf(needle, at + (overlapping ? 1 : needle.length))
          )
            expected.push(at)
          expect(occurrences(text, needle, { overlapping, limit })).toEqual(expected)
          expect(occurrences(text, needle, { overlapping, limit, maxSteps: 0 })).toEqual(expected)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('a hash of several parts', () => {
  it('equals the hash of the whole', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (parts) => {
        const expected = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
        for (const hash of [createSha256(), createSha256Portable()]) {
          for (const part of parts) hash.update(part)
          expect(hash.digest()).toBe(expected)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('utf8Length', () => {
  it('equals the length of the encoded text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(utf8Length(text)).toBe(Buffer.byteLength(text))
      }),
    )
  })
})

describe('a bounded text', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '𝒳', '\n'), maxLength: 60 })

  it('keeps the leading whole lines that fit, or the leading characters if no line fits', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (content, maxBytes) => {
        const fits = (part: string) => Buffer.byteLength(part) <= maxBytes
        const starts = [...content].map((_, i, all) => all.slice(0, i + 1).join('')).filter(fits)
        const whole = starts.filter((part) => part === content || part.endsWith('\n')).at(-1)
        expect(boundContent(content, maxBytes)).toBe(whole ?? starts.at(-1) ?? '')
      }),
    )
  })

  it('of a command keeps as many final characters as fit, from the start of a nearby line', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (stdout, maxBytes) => {
        const artifacts: string[] = []
        const limits = { commandKeptBytes: 1000, commandOutputBytes: maxBytes } as never
        const keepArtifact = (_: string, whole: string) => `kept ${artifacts.push(whole)}`
        const bounded = boundOutput({ stdout, stderr: '' }, { limits, keepArtifact })
        if (Buffer.byteLength(stdout) <= maxBytes) {
          expect(bounded).toEqual({ stdout, stderr: '', truncated: false, uri: undefined })
          return
        }
        const all = [...stdout]
        const end = all.map((_, i) => all.slice(i).join('')).find((part) => Buffer.byteLength(part) <= maxBytes) ?? ''
        const line = end.indexOf('\n')
        const near = line !== -1 && line <= end.length / 2
        expect(bounded).toMatchObject({
          stdout: `[…]\n${near ? end.slice(line + 1) : end}`,
          truncated: true,
          uri: 'kept 1',
        })
        expect(artifacts).toEqual([stdout])
      }),
    )
  })

  it('of a patch is cut between hunks, and omits a file whose first hunk does not fit', () => {
    const head = '--- a/x\n+++ b/x\n'
    const hunks = ['@@ -1 +1 @@\n-a\n+b\n', '@@ -9 +9 @@\n-c\n+d\n', '@@ -20 +20 @@\n-e\n+f\n']
    const section = { text: head + hunks.join(''), binary: false }
    for (let maxBytes = 1; maxBytes < section.text.length; maxBytes++) {
      const fitting = [1, 2]
        .map((count) => head + hunks.slice(0, count).join(''))
        .filter(({ length }) => length <= maxBytes)
      expect(truncatePatch([section], maxBytes)).toEqual({ text: fitting.at(-1) ?? '', truncated: true })
    }
    expect(truncatePatch([{ ...section, text: 'rename from a\n' }], 3)).toEqual({ text: '', truncated: true })
    expect(truncatePatch([section], section.text.length)).toEqual({ text: section.text, truncated: false })
  })
})

describe('a bounded result', () => {
  it('keeps the start of long texts and lists, and stores the whole in an artifact', async () => {
    const artifacts = createArtifacts('run')
    const result = {
      ok: true,
      warnings: ['first'],
      list: Array.from({ length: 1000 }, (_, i) => ({ path: `file-${i}.ts`, line: i, isNew: null })),
      text: `${'x'.repeat(332)}𝒳${'x'.repeat(5000)}`,
      record: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field-${i}`, i])),
    }
    const { list, text, record, warnings, artifactUri, ...rest } = limitResult(
      result,
      4000,
      artifacts,
    ) as typeof result & {
      artifactUri: string
    }
    expect(rest).toEqual({ ok: true, truncated: true })
    expect(list.length).toBeGreaterThan(5)
    expect(list).toEqual(result.list.slice(0, list.length))
    expect(JSON.stringify(list).length).toBeLessThanOrEqual(1000)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000)
    expect(text).toBe(`${result.text.slice(0, text.length - 1)}…`)
    expect(Buffer.from(text).toString()).toBe(text)
    expect(record).toBe(result.record)
    expect(warnings).toEqual(['first', `The result was cut to 4000 bytes; read the complete result at ${artifactUri}`])
    expect(JSON.parse(await artifacts.read(artifactUri))).toEqual(result)
  })
})

describe('a bounded result, by need', () => {
  const limited = (result: object, maxBytes: number) =>
    limitResult(
      { ok: true, warnings: [] as string[], ...result },
      maxBytes,
      createArtifacts('run'),
    ) as unknown as Record<string, string>

  it('gives a long field the space that short ones do not use', () => {
    const { content = '', note } = limited({ content: 'line\n'.repeat(20_000), note: 'n'.repeat(500) }, 50_000)
    expect(note).toBe('n'.repeat(500))
    expect(content.length).toBeGreaterThan(48_000)
    expect(content).toMatch(/\nline\n…$/)
  })

  it('shows more of each field with a larger bound, and stays within it', () => {
    const field = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '𝒳'), maxLength: 4000, minLength: 300 })
    const fields = fc.record({ content: field, stdout: field, stderr: field, list: fc.array(field, { maxLength: 5 }) })
    fc.assert(
      fc.property(
        fields,
        fc.integer({ min: 2000, max: 20_000 }),
        fc.integer({ min: 1, max: 5000 }),
        (result, low, more) => {
          const shownOf = (fields: Record<string, string>) =>
            ['content', 'stdout', 'stderr', 'list'].map((name) => JSON.stringify(fields[name]).length)
          const small = limited(result, low)
          const large = limited(result, low + more)
          for (const [index, length] of shownOf(small).entries()) {
            // A cut text ends at a line end, with a mark of up to five UTF-16 units.
            expect(shownOf(large)[index]).toBeGreaterThanOrEqual(length - 8)
          }
          expect(resultSize(small)).toBeLessThanOrEqual(low)
          expect(result.stdout.endsWith((small.stdout as string).replace('[…]\n', ''))).toBe(true)
          expect(result.content.startsWith((small.content as string).replace(/…$/, ''))).toBe(true)
        },
      ),
    )
  })

  it('cuts a diff at hunks', () => {
    const section = (name: string) =>
      `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n${[1, 20, 40].map((at) => `@@ -${at} +${at} @@\n-${'a'.repeat(300)}\n+b\n`).join('')}`
    const diff = section('x') + section('y') + section('z')
    for (let maxBytes = 600; maxBytes < 3000; maxBytes += 50) {
      const { diff: limitedDiff = '' } = limited({ diff }, maxBytes)
      expect(diff.startsWith(limitedDiff)).toBe(true)
      expect(limitedDiff === '' || diff === limitedDiff || /^(@@|diff)/.test(diff.slice(limitedDiff.length))).toBe(true)
    }
  })
})

describe('nearestPassage', () => {
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `line ${i + from}`).join('\n')
  it.each<[string, string, string, unknown]>([
    ['shares the most lines with the text', 'a\nb\nx\nb\nc\n', ' b\nc  \nd\n', { line: 2, text: 'b\nx\nb' }],
    ['may contain a line twice', 'x\na\na\n', 'a\na\nb', { line: 1, text: 'x\na\na' }],
    [
      'shares words with the longest line of the text',
      'one\nconst answer = 41\nend',
      '{\nconst answer is 41\n}',
      { line: 1, text: 'one\nconst answer = 41\nend' },
    ],
    ['is undefined for a text without words', 'one\ntwo\n', '(((\n', undefined],
    ['is undefined if no word is shared', 'one\ntwo\n', 'three', undefined],
    [
      'is shortened if it is long',
      numbered(0, 400),
      numbered(1, 399),
      { line: 2, text: `${numbered(1, 399).slice(0, 2000)}…` },
    ],
  ])('%s', (_, text, formatted, expected) => {
    expect(nearestPassage(text, formatted)).toEqual(expected)
  })
})

describe('a missing precondition of a tool', () => {
  it('is named in the error', async () => {
    expect(() => targetOf({ accesses: [] }, 1)).toThrow('planned no access 1')
    expect(() => sessionOf({ commands: undefined })).toThrow('This workspace has no shell')
    expect(() => memoryOf({ memory: undefined })).toThrow('The workspace has no memory')
    expect(() => memoryPath({})).toThrow('The workspace has no memory')
    const other = { path: 'b.txt' as never, before: null, after: null }
    expect(() => newSha256({ applied: [other] }, 'a.txt' as never)).toThrow('the receipt does not contain the file')
  })

  it('an approved plan has no artifact if none can be stored', async () => {
    const draft = async (keepArtifact: () => string | undefined) => {
      const { result } = await submitPlan.draft({ plan: 'Mend it' }, { keepArtifact } as unknown as ToolContext)
      return result({ applied: [] })
    }
    expect(await draft(() => 'artifact://r/p.md')).toEqual({ approved: true, planUri: 'artifact://r/p.md' })
    expect(await draft(() => undefined)).toEqual({ approved: true })
  })

  it('replaces an invalid time of the storage by a valid one', () => {
    expect(isoTime(1_767_225_600_000)).toBe('2026-01-01T00:00:00.000Z')
    expect(isoTime(Number.NaN)).toBe('1970-01-01T00:00:00.000Z')
  })
})

describe('marks in a text', () => {
  it('are found only if they are known and end within the length limit', () => {
    const marks = new Map([['[REDACTED:token:1]', 'one']])
    const text = `[REDACTED:token:2][REDACTED:${'x'.repeat(300)}] [REDACTED:token:1]\n[REDACTED:[REDACTED:token:1`
    const start = text.indexOf('[REDACTED:token:1]')
    expect([...markPositions(text, (mark) => marks.get(mark))]).toEqual([{ start, end: start + 18, value: 'one' }])
  })
})
