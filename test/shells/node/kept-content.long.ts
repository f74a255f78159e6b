import { describe, expect, it } from 'vitest'
import { part } from '../../counts.ts'
import { kinds, lines, losses } from './kept-content.ts'

describe.each(kinds)('every command in the shell "%s" of which a part is refused', (kind) => {
  it('loses no content', async () => {
    expect(await losses(kind, part(lines))).toEqual([])
  }, 600_000)
})
