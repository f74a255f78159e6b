import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyHunks } from '../../src/patch/apply.ts'
import { applyToFile, refuseAddedMarks } from '../../src/patch/apply-file.ts'
import { applyBinary } from '../../src/patch/binary-apply.ts'
import type { Hunk } from '../../src/patch/file-change.ts'
import { createLineIndex } from '../../src/patch/line-index.ts'
import { joinPieces } from '../../src/patch/patched-text.ts'
import { planPatch } from '../../src/patch/plan.ts'
import { createTextLines } from '../../src/patch/text-lines.ts'
import { parseUnified } from '../../src/patch/unified.ts'
import type { LogicalPath } from '../../src/paths/logical-path.ts'
import { type ApplyRow, applied, chunked, git, headerNames, kinds, refused, unreadable } from './forms.ts'

/** The UTF-8 of a string, or the bytes of an array. */
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

  it.each(headerNames)('has the paths in its header: %j', (header, oldPath, newPath) => {
    const old = oldPath === null ? '@@ -0,0 +1 @@\n+b\n' : '@@ -1 +1 @@\n-a\n+b\n'
    const hunk = newPath === null ? '@@ -1 +0,0 @@\n-a\n' : old
    const patch = header.startsWith('diff ') ? header : `${header}\n${hunk}`
    expect(parseUnified(patch)).toMatchObject([{ oldPath, newPath }])
  })

  it.each(kinds)('has the kind of change in its header: %j', (patch, change) => {
    expect(parseUnified(patch)).toMatchObject([change])
  })

  it.each([
    ['*** Add File:  a \n+x', { kind: 'create', newPath: 'a', mayCreate: false, insertions: 1, deletions: 0 }],
    ['*** Delete File: a', { kind: 'delete', oldPath: 'a', newPath: null, mayCreate: false, insertions: 0 }],
    ['*** Update File: a\n@@\n x\n-y\n+z\n+w', { kind: 'modify', mayCreate: false, insertions: 2, deletions: 1 }],
    [
      '*** Update File: a\n x\n-y\n+z\n\n',
      {
        body: {
          type: 'chunks',
          chunks: [{ line: 3, anchors: [], oldLines: ['x', 'y'], newLines: ['x', 'z'], kept: [0, -1], atEnd: false }],
          endsLine: false,
        },
      },
    ],
    ['*** Update File: a\n*** Move to: b', { kind: 'rename', oldPath: 'a', newPath: 'b', insertions: 0 }],
    ['*** Update File: a\n*** Move to: a\n-x', { kind: 'modify', oldPath: 'a', newPath: 'a', deletions: 1 }],
  ])('has the kind of change in its V4A header: %j', (rows, change) => {
    expect(planPatch(`*** Begin Patch\n${rows}\n*** End Patch\n`).changes).toMatchObject([change])
  })

  it.each([
    [
      git('index 1..2', 'Binary files a and b differ'),
      'UNSUPPORTED_BINARY',
      'Remove the file, or create the patch with git diff --binary.',
    ],
    [git('new file mode 120000'), 'POLICY_DENIED', 'Patches can only change files: remove that section.'],
  ])('is refused with advice: %j', (patch, code, hint) => {
    expect(() => planPatch(patch)).toThrow(
      expect.objectContaining({ code, details: expect.objectContaining({ hint }) }),
    )
  })

  it.each(refused)('is refused: $what', async ({ old, patch, error, limit }) => {
    await expect(outcome(old, patch, limit)).rejects.toMatchObject(error)
  })

  it.each(unreadable)('is refused: %s', (_, patch, line, message) => {
    expect(() => planPatch(patch)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(message),
        details: expect.objectContaining({ line }),
      }),
    )
  })

  it.each([
    ...[
      '/etc/evil',
      '/dev/nullx',
      '"/etc/evil"',
      '"\\057etc/evil"',
      '//etc/evil',
      ' /etc/evil',
      '/etc/evil\t2020-01-01 00:00:00',
    ],
    ...['C:/evil', '"C:/evil"', '../evil', '"../evil"', '"/etc/evil', 'a//etc/evil', '"a//etc/evil"'],
  ])('refuses the name %j in every header', (name) => {
    const hunk = '@@ -1 +1 @@\n-a\n+b\n'
    const patches = [
      `--- ${name}\n+++ ${name}\n${hunk}`,
      `--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+b\n`,
      `--- ${name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n`,
      `--- a/x\n+++ ${name}\n${hunk}`,
      `--- ${name}\n+++ b/x\n${hunk}`,
      `diff --git a/x b/x\n--- ${name}\n+++ ${name}\n${hunk}`,
      ...(/\t| \/|"\/etc\/evil$/.test(name) ? [] : [`diff --git ${name} ${name}\nnew file mode 100644\n`]),
      ...(name.startsWith('a/') || name.startsWith('"a/') || name === '"/etc/evil' || name.startsWith(' ')
        ? []
        : [
            `diff --git a/x b/x\nsimilarity index 100%\nrename from x\nrename to ${name}\n`,
            `diff --git a/x b/x\ncopy from ${name}\ncopy to x\n`,
            `*** Begin Patch\n*** Add File: ${name.replaceAll('"', '')}\n+x\n*** End Patch\n`,
          ]),
    ]
    for (const patch of patches) {
      // Without quotes and without a common directory, the two names of `diff --git` cannot be separated.
      const code = patch.includes('new file mode') ? /^(PATH_REJECTED|INVALID_PATCH)$/ : /^PATH_REJECTED$/
      expect(() => planPatch(patch), patch).toThrow(expect.objectContaining({ code: expect.stringMatching(code) }))
    }
  })

  it('treats /dev/null in every header as no file', () => {
    const create = '+++ b/x\n@@ -0,0 +1 @@\n+b\n'
    for (const header of ['--- /dev/null\n', 'diff --git /dev/null b/x\nnew file mode 100644\n--- /dev/null\n']) {
      expect(planPatch(header + create).paths).toEqual(['x'])
    }
  })

  it.each([
    '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+// ... rest of code unchanged\n c\n',
    '*** Begin Patch\n*** Update File: x\n a\n-b\n+# ... existing code ...\n*** End Patch\n',
  ])('refuses an added placeholder: %j', (patch) => {
    expect(() => planPatch(patch)).toThrow(
      expect.objectContaining({
        code: 'INVALID_PATCH',
        details: expect.objectContaining({ line: 3, hint: expect.stringContaining('in full') }),
      }),
    )
    const withOld = patch.replace(/^ a$/m, ' /* ... */')
    expect(planPatch(withOld).paths).toEqual(['x'])
  })

  it('cuts a long line in an error', async () => {
    const patch = `--- a/a\n+++ b/a\n@@ -1 +1 @@\n-${'x'.repeat(400)}\n+y\n`
    await expect(outcome(`${'z'.repeat(300)}\n`, patch)).rejects.toMatchObject({
      details: {
        expected: [{ line: 1, text: `${'x'.repeat(300)}…` }],
        actual: [{ line: 1, text: 'z'.repeat(300) }],
      },
    })
  })
})

describe('a plan', () => {
  it('states the format, the paths and the changes', () => {
    const patch = '--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n'
    expect(planPatch(`${patch}diff --git a/b b/c\nrename from b\nrename to c\n`)).toMatchObject({
      format: 'unified',
      paths: ['a', 'd', 'b', 'c'],
      insertions: 2,
      deletions: 2,
      deletes: 1,
    })
    expect(planPatch('*** Begin Patch\n*** Delete File: a\n*** End Patch\n')).toMatchObject({
      format: 'v4a',
      deletes: 1,
    })
  })

  it('is refused for a patch without changes', () => {
    expect(() => planPatch('nothing\n')).toThrow(
      expect.objectContaining({
        code: 'INVALID_PATCH',
        message: 'Cannot read the patch: it contains no change',
        details: {
          hint: 'Give a unified diff (--- a/NAME, +++ b/NAME, @@ -1,3 +1,4 @@) or a patch from *** Begin Patch to *** End Patch.',
        },
      }),
    )
  })

  it.each([
    ['--- a/x\n+++ b/x\n@@ -1,x +1 @@\n', 3, '@@ -START,LINES +START,LINES @@'],
    [
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n',
      5,
      'Count the lines of the hunk again: old lines are those with a blank or -, new lines those with a blank or +.',
    ],
    ['--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n', 3, undefined],
  ])('that fails says how to write it: %j', (patch, line, hint) => {
    expect(() => planPatch(patch)).toThrow(
      expect.objectContaining({ code: 'INVALID_PATCH', details: hint === undefined ? { line } : { line, hint } }),
    )
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
    ['in hunks', addition(marked)],
    ['beside text that only looks like a mark', addition(marked).replace('1,2', '1,3').concat('+[REDACTED:]\n')],
    ['in chunks', `*** Begin Patch\n*** Update File: a\n first\n+${marked}\n*** End Patch\n`],
  ])('is never written over its secret, %s', (_, patch) => {
    const [change] = planPatch(patch).changes
    expect(() => change && refuseAddedMarks(old, change)).toThrow(
      expect.objectContaining({
        code: 'POLICY_DENIED_SECRET',
        message: 'Cannot write [REDACTED:github-token:1] over the secret that it replaces in "a"',
        details: {
          path: 'a',
          hint: 'Keep lines with a mark as context, and change only the lines around them.',
        },
      }),
    )
  })

  it('represents its secret, in a file that is not UTF-8 and has many secrets', async () => {
    const tokens = Array.from(
      { length: 12 },
      (_, i) => `k${i} = "ghp_${String(i).padStart(2, '0')}${'a1B2c3D4e5'.repeat(4).slice(0, 34)}"\n`,
    )
    const text = `\xe9\n${tokens.join('')}last\n`
    const patch = '--- a/a\n+++ b/a\n@@ -13,2 +13,2 @@\n k11 = "[REDACTED:github-token:12]"\n-last\n+end\n'
    expect(await outcome([...Buffer.from(text, 'latin1')], patch)).toEqual(
      Buffer.from(text.replace('last', 'end'), 'latin1'),
    )
  })

  it.each(['\u00e9', '\u20ac'])(
    'hides the secret in the lines that a refusal shows, also of a file that is not UTF-8: %s',
    async (letter) => {
      const text = `${letter}\n${secret}last\n`
      const bytes = letter === '\u00e9' ? [...Buffer.from(text, 'latin1')] : text
      const patch = '--- a/a\n+++ b/a\n@@ -2,2 +2,2 @@\n-none\n+x\n last\n'
      await expect(outcome(bytes, patch)).rejects.toMatchObject({
        code: 'PATCH_CONFLICT',
        details: {
          actual: [
            { line: 2, text: marked },
            { line: 3, text: 'last' },
          ],
        },
      })
    },
  )

  it.each([
    ['represents none of the secrets of the file', '[REDACTED:github-token:77]'],
    ['is not valid', '[REDACTED:]'],
  ])('may be written if it %s', (_, line) => {
    const [change] = planPatch(addition(line)).changes
    expect(() => change && refuseAddedMarks(old, change)).not.toThrow()
  })

  it('is allowed in a file that the patch creates', () => {
    const [change] = planPatch(`*** Begin Patch\n*** Add File: a\n+${marked}\n*** End Patch\n`).changes
    expect(() => change && refuseAddedMarks(old, change)).not.toThrow()
  })

  it('is allowed in a file that does not exist yet', () => {
    const [change] = planPatch(`--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+${marked}\n`).changes
    expect(() => change && refuseAddedMarks(null, change)).not.toThrow()
  })

  it('may be deleted with its file', () => {
    const [change] = planPatch(`--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-${marked}\n`).changes
    expect(() => change && refuseAddedMarks(old, change)).not.toThrow()
  })
})

/** A line of a binary patch in git's format. */
function rowOf(bytes: readonly number[]): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'
  const letter = String.fromCharCode(bytes.length <= 26 ? 64 + bytes.length : 70 + bytes.length)
  let row = ''
  for (let i = 0; i < bytes.length; i += 4) {
    let value = [0, 1, 2, 3].reduce((sum, at) => sum * 256 + (bytes[i + at] ?? 0), 0)
    let group = ''
    for (let at = 0; at < 5; at++, value = Math.floor(value / 85)) group = digits.charAt(value % 85) + group
    row += group
  }
  return letter + row
}

it('reads binary lines of every length', () => {
  const whole = Array.from({ length: 52 }, (_, i) => (i < 4 ? 0xff : (i * 37) & 0xff))
  for (let length = 1; length <= 52; length++) {
    const bytes = whole.slice(0, length)
    const index = `index ${'a'.repeat(40)}..${'b'.repeat(40)}`
    const [change] = parseUnified(git(index, 'GIT binary patch', 'literal 9', rowOf(bytes), rowOf([7]), ''))
    expect(change?.body).toMatchObject({ data: Uint8Array.from([...bytes, 7]) })
    const short = `${rowOf(bytes)}00000`
    expect(() => parseUnified(git(index, 'GIT binary patch', 'literal 9', short, ''))).toThrow('is corrupt')
  }
  for (const letter of ['@', '[', '`', '{']) {
    const rows = ['GIT binary patch', 'literal 9', `${letter}${rowOf([1]).slice(1)}`]
    expect(() => parseUnified(git(...rows))).toThrow('is corrupt')
  }
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

  it('produces bytes with the stated id, in SHA-1 and SHA-256', async () => {
    expect(await patched(null, 'literal', Buffer.from('new'))).toBe('new')
    expect(await patched(new Uint8Array(), 'literal', Buffer.from('new'), { oldId: none })).toBe('new')
    expect(await patched(new Uint8Array(), 'literal', Buffer.from('new'))).toBe('new')
    const ids = { oldId: await idOf(old, 'SHA-256'), newId: await idOf(Buffer.from('new'), 'SHA-256') }
    expect(await patched(old, 'literal', Buffer.from('new'), ids)).toBe('new')
    expect(await patched(old, 'literal', Buffer.from('x'), { newId: none })).toBe('')
  })

  it('is evaluated and committed like any other change', async () => {
    const body = {
      type: 'binary' as const,
      method: 'literal' as const,
      data: deflateSync(Buffer.from('new')),
      size: 3,
      oldId: await idOf(old),
      newId: await idOf(Buffer.from('new')),
    }
    const change = {
      line: 1,
      kind: 'modify' as const,
      oldPath: path,
      newPath: path,
      mayCreate: false,
      body,
      insertions: 0,
      deletions: 0,
    }
    expect(Buffer.from(await applyToFile(old, change, { textFileBytes: 3 })).toString()).toBe('new')
    await expect(applyToFile(old, change, { textFileBytes: 2 })).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' })
  })

  it('is refused on any other version, and on a missing file', async () => {
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

  it('is refused over the limit before it is inflated', async () => {
    const tooLarge = { code: 'FILE_TOO_LARGE', details: { limit: 70_000 } }
    await expect(patched(null, 'literal', Buffer.from('new'), {}, 70_001)).rejects.toMatchObject(tooLarge)
    // A delta that declares a size of 70,001.
    const delta = Buffer.from([10, 0xf1, 0xa2, 0x04])
    await expect(patched(old, 'delta', delta)).rejects.toMatchObject(tooLarge)
  })

  it.each([
    ['inflates to more than it declares', 3],
    ['inflates to less than it declares', 5],
  ])('is corrupt if it %s', async (_, size) => {
    await expect(patched(null, 'literal', Buffer.from('four'), {}, size)).rejects.toMatchObject(corrupt)
  })

  it('is corrupt if it is not deflated, or the result has another id', async () => {
    const body = { type: 'binary' as const, method: 'literal' as const, size: 4, oldId: none, newId: await idOf(old) }
    await expect(applyBinary(null, { ...body, data: Buffer.from('four') }, path, 10)).rejects.toMatchObject(corrupt)
    await expect(patched(null, 'literal', Buffer.from('four'), { newId: await idOf(old) })).rejects.toMatchObject(
      corrupt,
    )
  })

  it('copies from the old bytes, 65,536 of them if a delta specifies no length', async () => {
    const from = Buffer.alloc(65_540, 'abcdefg')
    const size = [0x84, 0x80, 0x04]
    const target = Buffer.concat([from.subarray(1, 65_537), Buffer.from('x'), from.subarray(0, 3)])
    const delta = Buffer.from([...size, ...size, 0x81, 1, 1, 0x78, 0x90, 3])
    expect(await patched(from, 'delta', delta, { newId: await idOf(target) })).toBe(target.toString('latin1'))
  })

  it.each([
    ['copies to the end of the old bytes', [10, 2, 0x91, 8, 2], '89'],
    ['ends with added bytes', [10, 3, 0x90, 1, 2, 0x78, 0x79], '0xy'],
    ['declares its sizes in several bytes', [0x8a, 0, 0x81, 0, 1, 0x78], 'x'],
  ])('produces the new bytes if its delta %s', async (_, delta, requested) => {
    const body = { type: 'binary' as const, method: 'delta' as const, data: deflateSync(Buffer.from(delta)) }
    const ids = { oldId: await idOf(old), newId: await idOf(Buffer.from(requested)) }
    const result = await applyBinary(old, { ...body, size: delta.length, ...ids }, path, 10)
    expect(Buffer.from(result).toString()).toBe(requested)
  })

  it('copies with an offset and a length of two bytes each', async () => {
    const from = Buffer.from(Array.from({ length: 1000 }, (_, i) => i & 0xff))
    const expected = from.subarray(0x0102, 0x0102 + 0x0103)
    const delta = Buffer.from([0xe8, 7, 0x83, 2, 0xb3, 2, 1, 3, 1])
    expect(await patched(from, 'delta', delta, { newId: await idOf(expected) })).toBe(expected.toString('latin1'))
  })

  it('may produce up to the limit of bytes', async () => {
    const delta = Buffer.from([10, 12, 0x90, 10, 2, 0x78, 0x79])
    const body = { type: 'binary' as const, method: 'delta' as const, data: deflateSync(delta), size: delta.length }
    const ids = { oldId: await idOf(old), newId: await idOf(Buffer.from('0123456789xy')) }
    expect(await applyBinary(old, { ...body, ...ids }, path, 12)).toHaveLength(12)
    await expect(applyBinary(old, { ...body, ...ids }, path, 11)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' })
  })

  it('states which version it needs', async () => {
    const refusal = {
      code: 'PATCH_CONFLICT',
      message: 'Cannot patch "a.bin": it is not the version that the binary patch was created from',
      details: { path, hint: 'Create the patch again from the current file.' },
    }
    const oldId = `0${'1'.repeat(39)}`
    for (const from of [null, new Uint8Array(), old]) {
      await expect(patched(from, 'literal', Buffer.from('new'), { oldId })).rejects.toMatchObject(refusal)
    }
  })

  it('is corrupt if its checksum is wrong, or its id only starts with zeros', async () => {
    const data = deflateSync(Buffer.from('four'))
    data[data.length - 1] = (data[data.length - 1] as number) ^ 1
    const body = { type: 'binary' as const, method: 'literal' as const, size: 4, oldId: none, data }
    const newId = await idOf(Buffer.from('four'))
    await expect(applyBinary(null, { ...body, newId }, path, 10)).rejects.toMatchObject({
      ...corrupt,
      details: { path },
    })
    await expect(patched(null, 'literal', Buffer.from('x'), { newId: `0${'1'.repeat(39)}` })).rejects.toMatchObject(
      corrupt,
    )
    // Missing bytes are not padded with zeros.
    await expect(
      patched(null, 'literal', Buffer.from('four'), { newId: await idOf(Buffer.from('four\0')) }, 5),
    ).rejects.toMatchObject(corrupt)
  })

  // Each with the result that it would have without the check.
  it.each([
    ['declares another size of the old bytes', [9, 1, 1, 0x78], 'x'],
    ['contains the reserved command', [10, 1, 0, 1, 0x78], 'x'],
    ['adds bytes that it does not contain', [10, 5, 5, 0x78], 'x\0\0\0\0'],
    ['adds more than it declares', [10, 1, 2, 0x78, 0x78], 'x'],
    ['copies from after the end', [10, 5, 0x91, 8, 5], '89\0\0\0'],
    ['copies more than it declares', [10, 2, 0x90, 5], '01'],
    ['ends inside of the offset and length of a copy', [10, 2, 0x91], ''],
    ['produces less than it declares', [10, 5, 1, 0x78], 'x\0\0\0\0'],
    ['ends inside of its sizes', [0x8a], 'x'],
  ])('is corrupt if its delta %s', async (_, delta, made) => {
    const newId = await idOf(Buffer.from(made))
    await expect(patched(old, 'delta', Buffer.from(delta), { newId })).rejects.toMatchObject(corrupt)
  })
})

/** Applies hunks like git: tries every position, and marks the lines that a hunk has added. */
function naively(lines: readonly string[], hunks: readonly Hunk[]): string | undefined {
  const image = lines.map((text) => ({ text, isNew: false }))
  for (const { oldLines, newLines, oldStart, newStart, trailing } of hunks) {
    const expectedLine = Math.max(0, newStart - 1)
    const places = [...Array(Math.max(0, image.length - oldLines.length + 1)).keys()].filter(
      (at) =>
        oldLines.every((text, i) => image[at + i]?.text === text && image[at + i]?.isNew === false) &&
        (oldStart > 1 || at === 0) &&
        (trailing > 0 || at + oldLines.length === image.length),
    )
    // The nearest position; of two at the same distance, the later one.
    const [at] = places.sort((a, b) => Math.abs(a - expectedLine) - Math.abs(b - expectedLine) || b - a)
    if (at === undefined) return undefined
    image.splice(at, oldLines.length, ...newLines.map((text) => ({ text, isNew: true })))
  }
  return image.map(({ text }) => text).join('')
}

describe('several hunks', () => {
  const line = fc.constantFrom('a\n', 'b\n')
  const hunk = fc.record({
    at: fc.nat(11),
    length: fc.integer({ min: 1, max: 3 }),
    leading: fc.nat(1),
    trailing: fc.constantFrom(0, 1, 1, 1),
    added: fc.array(fc.constantFrom('a\n', 'b\n', 'c\n'), { maxLength: 3 }),
    off: fc.integer({ min: -4, max: 4 }),
  })

  /** Numbered lines, with an `r` between two empty lines at each of `places`. */
  const marked = (count: number, ...places: readonly number[]) =>
    Array.from({ length: count }, (_, i) => {
      if (places.includes(i)) return 'r\n'
      return places.includes(i - 1) || places.includes(i + 1) ? '\n' : `${i}\n`
    })
  /** Replaces `removed` lines by `added` lines, between two lines of context. */
  const inPlaceOf = (lines: readonly string[], start: number, removed: number, added: number): Hunk => {
    const oldLines = lines.slice(start, start + removed + 2)
    const put = Array.from({ length: added }, (_, i) => `+${i}\n`)
    const newLines = [oldLines[0] ?? '', ...put, oldLines[oldLines.length - 1] ?? '']
    return { line: 1, oldStart: start + 1, newStart: start + 1, leading: 1, trailing: 1, oldLines, newLines }
  }
  /** Changes the nearest `r` to a line. */
  const nearest = (line: number): Hunk => ({
    line: 1,
    oldStart: 2,
    newStart: line + 1,
    leading: 1,
    trailing: 1,
    oldLines: ['\n', 'r\n', '\n'],
    newLines: ['\n', 'R\n', '\n'],
  })

  it.each<readonly [what: string, lines: readonly string[], hunks: (lines: readonly string[]) => readonly Hunk[]]>([
    ['the later of two at the same distance', marked(12, 2, 8), () => [nearest(4)]],
    ['before a hunk that adds lines', marked(20, 3, 9), (lines) => [inPlaceOf(lines, 13, 1, 6), nearest(6)]],
    ['after a hunk that adds lines', marked(20, 9, 15), (lines) => [inPlaceOf(lines, 2, 1, 6), nearest(15)]],
    [
      'between two hunks in reverse order',
      marked(30, 9, 15),
      (lines) => [inPlaceOf(lines, 20, 1, 1), inPlaceOf(lines, 2, 1, 6), nearest(15)],
    ],
    [
      'between two hunks, with another match at the same distance',
      marked(40, 11, 21),
      (lines) => [inPlaceOf(lines, 30, 1, 1), inPlaceOf(lines, 2, 1, 6), nearest(15)],
    ],
    [
      'near the lines that another hunk has added',
      marked(20, 6, 9),
      (lines) => [inPlaceOf(lines, 1, 1, 11), nearest(8)],
    ],
    [
      'between two hunks that add lines',
      marked(30, 6, 11),
      (lines) => [inPlaceOf(lines, 1, 1, 11), inPlaceOf(lines, 14, 1, 6), nearest(20)],
    ],
    [
      'after a hunk that removes lines, near the lines that another one has added',
      marked(40, 21, 23),
      (lines) => [inPlaceOf(lines, 1, 6, 1), inPlaceOf(lines, 16, 1, 6), nearest(15)],
    ],
  ])('apply at the same position as in git: %s', (_, lines, hunksOf) => {
    const hunks = hunksOf(lines)
    const result = applyHunks(createTextLines(lines.join('')), hunks)
    const expected = naively(lines, hunks)
    expect(expected).toContain('R')
    expect('mismatch' in result ? undefined : joinPieces(result.text.pieces(), lines.join(''))).toBe(expected)
  })

  it('apply at the nearest match, and never in the changes of another hunk', () => {
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 3, maxLength: 14 }),
        fc.array(hunk, { minLength: 1, maxLength: 5 }),
        (lines, specs) => {
          const hunks = specs.map(({ at, length, leading, trailing, added, off }): Hunk => {
            const oldLines = lines.slice(at % lines.length).slice(0, leading + length + trailing)
            const [head, tail] = [Math.min(leading, oldLines.length - 1), Math.min(trailing, oldLines.length - 1)]
            const keptTail = head + tail > oldLines.length ? 0 : tail
            return {
              line: 1,
              oldStart: (at % lines.length) + 1,
              newStart: Math.max(1, (at % lines.length) + 1 + off),
              leading: head,
              trailing: keptTail,
              oldLines,
              newLines: [...oldLines.slice(0, head), ...added, ...oldLines.slice(oldLines.length - keptTail)],
            }
          })
          const text = lines.join('')
          const result = applyHunks(createTextLines(text), hunks)
          expect('mismatch' in result ? undefined : joinPieces(result.text.pieces(), text)).toBe(naively(lines, hunks))
        },
      ),
      { numRuns: 250 },
    )
  })
})

describe('finding lines', () => {
  const lines = Array.from({ length: 600 }, (_, i): string => (i % 2 === 0 ? 'a' : 'b'))

  it('finds the same matches in one pass over a repetitive text', () => {
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
        const expected = run.join(',')
        const matches = text.flatMap((_, i) => (text.slice(i, i + run.length).join(',') === expected ? [i] : []))
        expect(index.occurrences(run)).toEqual(matches)
      }
    }
  })

  it('finds every occurrence of a run, and no other, in texts of two lines', () => {
    let state = 1
    const random = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return state / 0x100000000
    }
    // Repeats a pattern, with an occasional different line.
    const drawn = (pattern: string, maximum: number) =>
      Array.from({ length: 1 + Math.floor(random() * maximum) }, (_, i) =>
        random() < 0.06 ? 'b' : (pattern[i % pattern.length] as string),
      )
    for (let round = 0; round < 600; round++) {
      const pattern = ['a', 'ab', 'aab', 'abb', 'aabab'][round % 5] as string
      const text = drawn(pattern, 60)
      const index = createLineIndex(text.length, (line) => text[line] as string)
      const run = drawn(pattern, 14)
      const results = text.flatMap((_, i) => (text.slice(i, i + run.length).join() === run.join() ? [i] : []))
      if (index.occurrences(run).join() !== results.join()) expect({ text, run }).toBe(`found at ${results}`)
    }
  })

  it('finds no match in an almost repeated run', () => {
    const text = `${'aab'.repeat(60)}abaabb`
    const index = createLineIndex(text.length, (line) => text[line] as string)
    expect(index.occurrences([...'aabaabb'])).toEqual([])
    expect(index.occurrences([...'aabaaba'])).toEqual(Array.from({ length: 59 }, (_, i) => 3 * i))
  })

  it('throws if all searches together cost more than 20 million steps plus 64 per line', () => {
    const text = [...'a'.repeat(499), 'b']
    const index = createLineIndex(text.length, (line) => text[line] as string)
    let left = 20_000_000 + 64 * text.length
    function spend(searches: number, run: readonly string[], looks: number): void {
      for (let i = 0; i < searches; i++) index.occurrences(run)
      left -= searches * looks
    }
    // One step finds each occurrence of the rarest line of the run, and one more compares each line.
    spend(1000, ['a', 'b'], 3)
    spend(1001, ['b'], 2)
    spend(1000, ['b', 'a'], 1)
    // If that costs more than two steps per line, all lines are searched instead.
    spend(5000, ['a', 'a'], 3 * 335 + 2 * (500 + 2))
    spend(10_001, ['a'], 2 * 499)
    expect(left).toBe(0)
    expect(() => index.occurrences(['b'])).toThrow(
      expect.objectContaining({
        code: 'LIMIT_EXCEEDED',
        message: 'Cannot locate the hunks: they are too far from their stated lines',
        details: { hint: 'Create the patch again from the current file.' },
      }),
    )
  })
})
