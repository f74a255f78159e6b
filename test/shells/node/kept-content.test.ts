import { describe, expect, it } from 'vitest'
import { kinds, lines, losses } from './kept-content.ts'

describe.each(kinds)('a command in the shell "%s" of which a part is refused', (kind) => {
  it('loses no content', async () => {
    const step = kind === 'bash' ? 9 : 37
    expect(
      await losses(
        kind,
        lines.filter((_, index) => index % step === 0),
      ),
    ).toEqual([])
  }, 60_000)
})
