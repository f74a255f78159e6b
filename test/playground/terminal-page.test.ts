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
          const bottom = (element: Element | null | undefined) => element?.getBoundingClientRect().bottom ?? Number.NaN
          const { shadowRoot } = document.querySelector('wardspace-terminal') ?? {}
          const place = document.querySelector('.terminal-place')
          return bottom(shadowRoot?.querySelector('.xterm-screen')) - bottom(place)
        })
      await expect.poll(beyond).toBeLessThanOrEqual(0)
    }
  })
})
