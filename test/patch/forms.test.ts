import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { applyToFile, refuseAddedMarks } from '../../src/patch/apply-file.ts'
import { applyBinary } from '../../src/patch/binary-apply.ts'
import { createLineIndex } from '../../src/patch/line-index.ts'
import { planPatch } from '../../src/patch/plan.ts'
import { parseUnified } from '../../src/patch/unified.ts'
import type { LogicalPath } from '../../src/paths/logical-path.ts'
import { type ApplyRow, applied, chunked, named, refused, unreadable } from './forms.ts'

/** A string stands for its UTF-8; an array for bytes. */
function bytesOf(content: ApplyRow['old']): Uint8Array | null {
  if (content === null) return null
  return typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content)
}

async function outcome(old: ApplyRow['old'], patch: string, textFileBytes = 1_000_000): Promise<unknown> {
  const [change] = planPatch(patch).changes
  if (change === undefined) throw new Error('no change')
  return Buffer.from(await applyToFile(bytesOf(old), change, { textFileBytes }))
}

describe('a patch of one file', () => {
  it.each([...applied, ...chunked])('$what', async ({ old, patch, result, limit }) => {
    expect(await outcome(old, patch, limit)).toEqual(Buffer.from(bytesOf(result) ?? []))
  })

  it.each(named)('has the names of its header: %j', (header, oldPath, newPath) => {
    const old = oldPath === null ? '@@ -0,0 +1 @@\n+b\n' : '@@ -1 +1 @@\n-a\n+b\n'
    const hunk = newPath === null ? '@@ -1 +0,0 @@\n-a\n' : old
    const patch = header.startsWith('diff ') ? header : `${header}\n${hunk}`
    expect(parseUnified(patch)).toMatchObject([{ oldPath, newPath }])
  })

  it.each(refused)('is refused: $what', async ({ old, patch, error, limit }) => {
    await expect(outcome(old, patch, limit)).rejects.toMatchObject(error)
  })

  it.each(unreadable)('is no patch: %s', (_, patch, line, message) => {
    expect(() => planPatch(patch)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(message),
        details: expect.objectContaining({ line }),
      }),
    )
  })

  it('tells a long line in part', async () => {
    const patch = `--- a/a\n+++ b/a\n@@ -1 +1 @@\n-${'x'.repeat(400)}\n+y\n`
    await expect(outcome(`${'z'.repeat(300)}\n`, patch)).rejects.toMatchObject({
      details: {
        expected: [{ line: 1, text: `${'x'.repeat(300)}…` }],
        actual: [{ line: 1, text: 'z'.repeat(300) }],
      },
    })
  })
})

describe('a mark in a patch', () => {
  const secret = `token = "ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}"\n`
  const old = new TextEncoder().encode(`first\n${secret}last\n`)
  const marked = 'token = "[REDACTED:github-token:1]"'

  function addition(line: string): string {
    return `--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n first\n+${line}\n`
  }

  it.each([
    ['stands for another secret than any of the file', '[REDACTED:github-token:77]'],
    ['is none', '[REDACTED:]'],
  ])('may be written where it %s', (_, line) => {
    const [change] = planPatch(addition(line)).changes
    expect(() => change && refuseAddedMarks(old, change)).not.toThrow()
  })

  it('may be anything in a file that the patch brings whole', () => {
    const [change] = planPatch(`*** Begin Patch\n*** Add File: a\n+${marked}\n*** End Patch\n`).changes
    expect(() => change && refuseAddedMarks(old, change)).not.toThrow()
  })

  it('may go with its file', () => {
    const [change] = planPatch(`--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-${marked}\n`).changes
    expect(() => change && refuseAddedMarks(old, change)).not.toThrow()
  })
})

describe('a binary patch', () => {
  const path = 'a.bin' as LogicalPath
  const idOf = async (bytes: Uint8Array, name = 'SHA-1') =>
    Buffer.from(
      await crypto.subtle.digest(name, Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes])),
    ).toString('hex')
  const none = '0'.repeat(40)
  const old = Buffer.from('0123456789')
  const corrupt = { code: 'INVALID_PATCH', message: 'Cannot patch "a.bin": the binary patch is corrupt' }

  async function patched(
    from: Uint8Array | null,
    method: 'literal' | 'delta',
    data: Uint8Array,
    ids: { oldId?: string; newId?: string } = {},
    size = data.length,
  ): Promise<string> {
    const body = {
      type: 'binary' as const,
      method,
      data: deflateSync(data),
      size,
      oldId: ids.oldId ?? (from === null ? none : await idOf(from)),
      newId: ids.newId ?? (await idOf(data)),
    }
    return Buffer.from(await applyBinary(from, body, path, 70_000)).toString('latin1')
  }

  it('makes the bytes that its ids name, in either hash', async () => {
    expect(await patched(null, 'literal', Buffer.from('new'))).toBe('new')
    expect(await patched(new Uint8Array(), 'literal', Buffer.from('new'), { oldId: none })).toBe('new')
    expect(await patched(new Uint8Array(), 'literal', Buffer.from('new'))).toBe('new')
    const ids = { oldId: await idOf(old, 'SHA-256'), newId: await idOf(Buffer.from('new'), 'SHA-256') }
    expect(await patched(old, 'literal', Buffer.from('new'), ids)).toBe('new')
    expect(await patched(old, 'literal', Buffer.from('x'), { newId: none })).toBe('')
  })

  it('is refused on any other version, and on none', async () => {
    for (const [from, oldId] of [
      [null, await idOf(old)],
      [new Uint8Array(), await idOf(old)],
      [old, none],
      [old, await idOf(Buffer.from('x'))],
    ] as const) {
      await expect(patched(from, 'literal', Buffer.from('new'), { oldId })).rejects.toMatchObject({
        code: 'PATCH_CONFLICT',
      })
    }
  })

  it('is refused over the limit, before anything is inflated', async () => {
    const tooLarge = { code: 'FILE_TOO_LARGE', details: { limit: 70_000 } }
    await expect(patched(null, 'literal', Buffer.from('new'), {}, 70_001)).rejects.toMatchObject(tooLarge)
    // A delta says its own size: 70,001.
    const delta = Buffer.from([10, 0xf1, 0xa2, 0x04])
    await expect(patched(old, 'delta', delta)).rejects.toMatchObject(tooLarge)
  })

  it.each([
    ['inflates to more than it says', 3],
    ['inflates to less than it says', 5],
  ])('is corrupt where it %s', async (_, size) => {
    await expect(patched(null, 'literal', Buffer.from('four'), {}, size)).rejects.toMatchObject(corrupt)
  })

  it('is corrupt where it is not deflated, and where the result has another id', async () => {
    const body = { type: 'binary' as const, method: 'literal' as const, size: 4, oldId: none, newId: await idOf(old) }
    await expect(applyBinary(null, { ...body, data: Buffer.from('four') }, path, 10)).rejects.toMatchObject(corrupt)
    await expect(patched(null, 'literal', Buffer.from('four'), { newId: await idOf(old) })).rejects.toMatchObject(
      corrupt,
    )
  })

  it('copies from the old bytes, and 65,536 of them where a delta names no length', async () => {
    const from = Buffer.alloc(65_540, 'abcdefg')
    const size = [0x84, 0x80, 0x04]
    const wanted = Buffer.concat([from.subarray(1, 65_537), Buffer.from('x'), from.subarray(0, 3)])
    const delta = Buffer.from([...size, ...size, 0x81, 1, 1, 0x78, 0x90, 3])
    expect(await patched(from, 'delta', delta, { newId: await idOf(wanted) })).toBe(wanted.toString('latin1'))
  })

  it.each([
    ['says another size of the old bytes', [9, 1, 1, 0x78]],
    ['has the command that is none', [10, 1, 0]],
    ['adds bytes that it does not hold', [10, 5, 5, 0x78]],
    ['adds more than it says', [10, 1, 2, 0x78, 0x78]],
    ['copies from behind the end', [10, 5, 0x91, 8, 5]],
    ['copies more than it says', [10, 2, 0x90, 5]],
    ['breaks off in the offset and length of a copy', [10, 2, 0x91]],
    ['makes less than it says', [10, 5, 1, 0x78]],
    ['breaks off in its sizes', [0x8a]],
  ])('is corrupt where its delta %s', async (_, delta) => {
    await expect(patched(old, 'delta', Buffer.from(delta), { newId: await idOf(old) })).rejects.toMatchObject(corrupt)
  })
})

describe('finding lines', () => {
  const lines = Array.from({ length: 600 }, (_, i): string => (i % 2 === 0 ? 'a' : 'b'))

  it('finds the same in one pass over a text that says the same again and again', () => {
    for (const [at, content] of [
      [299, 'c'],
      [150, 'a'],
      [501, 'a'],
    ] as const) {
      const text = lines.with(at, content)
      const index = createLineIndex(text.length, (line) => text[line] as string)
      for (const run of [
        [...lines.slice(0, 200), 'a'],
        [...lines.slice(0, 201)],
        [...lines.slice(1, 100), 'b', 'b'],
        [...lines.slice(1, 100), 'b', 'a', 'a', 'b'],
      ]) {
        const wanted = run.join(',')
        const found = text.flatMap((_, i) => (text.slice(i, i + run.length).join(',') === wanted ? [i] : []))
        expect(index.occurrences(run)).toEqual(found)
      }
    }
  })

  it('gives up where all searches together cost too much', () => {
    const index = createLineIndex(lines.length, (line) => lines[line] as string)
    const run = [...lines.slice(0, 200), 'b']
    const searches = () => {
      for (let i = 0; i < 100_000; i++) index.occurrences(run)
    }
    expect(searches).toThrow('Cannot place the hunks: they stand too far from where they say')
  })
})
