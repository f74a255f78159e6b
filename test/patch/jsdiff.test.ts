import { applyPatch, createTwoFilesPatch, parsePatch, reversePatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Path } from '../../src/index.ts'
import { unifiedDiff } from '../../src/patch/diff.ts'
import type { LogicalPath } from '../../src/paths/logical-path.ts'
import { times } from '../counts.ts'

/** Lines that repeat, look like parts of a patch, or have unusual line ends. */
const line = fc.constantFrom(
  ...['a', 'b', 'c', '', ' ', 'é 𝕏', 'cr\r', 'a\rb', '\u2028', '\ufeff'],
  ...['-- a/x', '++ b/x', '@@ -1 +1 @@', 'diff --git a/x b/x', '\\ No newline at end of file', '--- a/x', '+++ b/x'],
)
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''))

/** An old and a new text that share most lines, or none. */
const pair = fc.oneof(
  fc.tuple(text, text),
  fc
    .tuple(fc.array(line, { minLength: 5, maxLength: 60 }), fc.array(fc.tuple(fc.nat(59), line), { maxLength: 5 }))
    .map(([lines, edits]) => {
      const changed = [...lines]
      for (const [at, to] of edits) changed.splice(at % changed.length, at % 2, to)
      return [`${lines.join('\n')}\n`, `${changed.join('\n')}\n`] as const
    }),
)
const exactly = { autoConvertLineEndings: false } as const

describe('the package diff', () => {
  it('parses our patch of several files, applies it to the same texts, and its reverse back', () => {
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 4 }), (pairs) => {
        const changed = pairs.map(([from, to], i) => ({ path: `d/f${i}.txt` as LogicalPath, from, to }))
        const files = changed.filter(({ from, to }) => from !== to)
        const patch = files
          .map(({ path, from, to }) => unifiedDiff({ path, text: from }, { path, text: to }).text)
          .join('')
        const parsed = parsePatch(patch).filter(({ hunks }) => hunks.length > 0)
        expect(parsed.map(({ oldFileName, newFileName }) => [oldFileName, newFileName])).toEqual(
          files.map(({ path }) => [`a/${path}`, `b/${path}`]),
        )
        for (const [i, { from, to }] of files.entries()) {
          const one = parsed[i]
          if (one === undefined) throw new Error('missing')
          expect(applyPatch(from, one, exactly)).toBe(to)
          expect(applyPatch(to, reversePatch(one), exactly)).toBe(from)
        }
      }),
      { numRuns: times(150, 20_000) },
    )
  })

  // Without context, a patch does not say where an insertion belongs; git refuses it too.
  it('makes patches with context that apply_patch applies to the same texts', async () => {
    await fc.assert(
      fc.asyncProperty(pair, fc.integer({ min: 1, max: 4 }), async ([from, to], context) => {
        fc.pre(from !== to && from !== '')
        const backend = memory({ 'f.txt': from })
        const workspace = await createWorkspace({ backend, policy: 'autonomous' })
        const patch = createTwoFilesPatch('a/f.txt', 'b/f.txt', from, to, undefined, undefined, { context })
        const result = await workspace.call('apply_patch', { patch })
        expect(result.ok ? '' : `${result.code}: ${result.message}`).toBe('')
        expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode((await backend.read('f.txt' as Path)).bytes)).toBe(
          to,
        )
      }),
      { numRuns: times(75, 5000) },
    )
  })
})
