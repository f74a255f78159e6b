import { expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { HiddenSecrets } from '../../src/files/secrets/hidden.ts'
import { redact } from '../../src/files/secrets/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { part, times } from '../counts.ts'
import { hiddenCases } from './secret-marks.ts'

/** Beginnings of other secrets, with the number of characters that must follow; 0 for the text before a password. */
const heads: readonly (readonly [text: string, length: number])[] = [
  ['GOCSPX-', 28],
  ['figd_', 40],
  ['dop_v1_', 64],
  ['shpat_', 32],
  ['rubygems_', 48],
  ['hooks.slack.com/services/T12345678/B12345678/', 24],
  [`SG.${'7'.repeat(22)}.`, 43],
  ['AccountKey=', 86],
  ['?password=', 0],
  ['<password>', 0],
  ['password=', 0],
  ['postgres://u:', 0],
]

/** Characters of a secret that the other one takes. */
const taken = [1, 2, 3, 5, 7, 9, 11]
const tails = ['', 'x', '@h', '&', '"']

interface Split {
  readonly kind: string
  readonly content: string
  readonly secret: string
  readonly changed: string
}

/** Contents in which another beginning stands in front of a secret, so that it ends within it. */
function splitsOf({ kind, before, secret, after }: (typeof hiddenCases)[number]): Split[] {
  const content = `first\n${before}${secret}${after}\nlast\n`
  const last = redact(content).marks.at(-1)
  if (last === undefined) return []
  const hidden = content.slice(last.originalStart, last.originalEnd)
  const line = content.lastIndexOf('\n', last.originalStart) + 1
  return heads.flatMap(([head, length]) =>
    (length === 0 ? [0] : taken).flatMap((count) =>
      tails.map((tail) => {
        const changed = `${content.slice(0, line)}${head}${'7'.repeat(Math.max(0, length - count))}${hidden}${tail}`
        return { kind, content, secret: hidden, changed: changed + content.slice(last.originalEnd) }
      }),
    ),
  )
}

const cases = part(hiddenCases.flatMap(splitsOf).filter((_, index) => index % times(31, 1) === 0))
const bytes = (text: string) => new TextEncoder().encode(text)

/** Returns the longest part of a secret, of four characters or more, that a content shows and another one did not. */
function shownPart({ content, secret, changed }: Split): string {
  const [before, after] = [redact(content).text, redact(changed).text]
  for (let length = Math.min(secret.length, 40); length >= 4; length--) {
    for (let from = 0; from + length <= secret.length; from++) {
      const piece = secret.slice(from, from + length)
      const isOther = before.includes(piece) || heads.some(([head]) => head.includes(piece)) || /^7+$/.test(piece)
      if (after.includes(piece) && !isOther) return piece
    }
  }
  return ''
}

it(`a beginning of another secret never shows the rest of one, in any of ${cases.length} cases`, () => {
  let showing = 0
  const wrong: string[] = []
  for (const split of cases) {
    const piece = shownPart(split)
    if (piece === '') continue
    showing += 1
    const { kind, content, secret, changed } = split
    // The writer knows all that it writes.
    const hidden = new HiddenSecrets([changed.replace(secret, ' ')], { count: 0 })
    const found = hidden.find([{ before: bytes(content), after: bytes(changed) }])
    if (found === undefined) wrong.push(`${kind} of ${secret.length}: ${JSON.stringify(piece)}`)
  }
  expect(wrong).toEqual([])
  expect(showing).toBeGreaterThan(50)
})

it('an edit in front of a mark shows no part of a password, whatever its text', async () => {
  const secrets = ['hUnt3r2x', 'hUnt3r2xyZ7', 'hUnt3r2xyZ7qW9eR4tB1', 'hunt3r&x9zQQ', 'hunt3r;x9zQQ']
  for (const secret of secrets) {
    for (const [head, length] of heads) {
      for (const count of length === 0 ? [0] : taken) {
        const backend = memory({ 'c.txt': `a\npassword = "${secret}"\nz\n` })
        const workspace = await createWorkspace({ backend, policy: 'autonomous' })
        const newText = head + '7'.repeat(Math.max(0, length - count))
        await workspace.call('edit_file', { path: 'c.txt', oldText: 'password = "', newText })
        const read = (await workspace.call('read_file', { path: 'c.txt' })) as { content?: string }
        for (let from = 0; from + 3 <= secret.length; from++) {
          expect(read.content, `${secret} behind ${newText}`).not.toContain(secret.slice(from, from + 3))
        }
      }
    }
  }
})
