import { describe, expect, it } from 'vitest'
import { command } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

describe('the terminal in the page', () => {
  it('shows the last line of a long output within its place, at every height', async () => {
    const page = await playground.sample('price-list')
    await command(page, 'seq 1 300', /300/)
    for (const height of [900, 873, 861]) {
      await page.setViewportSize({ width: 1400, height })
      const beyond = () =>
        page.evaluate(() => {
          const bottom = (selector: string) =>
            document.querySelector(selector)?.getBoundingClientRect().bottom ?? Number.NaN
          return bottom('.terminal-view .xterm-screen') - bottom('.terminal-place')
        })
      await expect.poll(beyond).toBeLessThanOrEqual(0)
    }
  }, 60_000)
})
