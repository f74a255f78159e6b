import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright'
import { expect } from 'vitest'
import { isLong } from '../counts.ts'
import { patiently } from './person.ts'
import { onPhone } from './states.ts'

const sizes = { wide: [1440, 900], laptop: [1024, 768], tablet: [768, 1024], phone: [390, 844] } as const

/** The controls that are wider than the page or cut their text, and the page itself if it can be scrolled sideways. */
function misplaced(page: Page): Promise<string[]> {
  return page.locator('button, input, textarea, [role="combobox"]').evaluateAll((controls) => {
    const { clientWidth, clientHeight, scrollWidth, scrollHeight } = document.documentElement
    const faults = scrollWidth > clientWidth || scrollHeight > clientHeight ? ['the page can be scrolled'] : []
    /** Whether an element or one around it matches, also through slots and shadow roots. */
    const isIn = (element: Element | null, selector: string): boolean =>
      element !== null &&
      (element.matches(selector) ||
        isIn(
          element.assignedSlot ?? element.parentElement ?? (element.getRootNode() as Partial<ShadowRoot>).host ?? null,
          selector,
        ))
    for (const element of controls as HTMLElement[]) {
      if (!element.checkVisibility() || isIn(element, '.visually-hidden')) continue
      const { left, right, top, width } = element.getBoundingClientRect()
      const name = element.ariaLabel ?? element.textContent?.trim() ?? element.id
      // What is in a list that can be scrolled may be outside of it.
      const scrolls = isIn(element, '.file-tabs, .scroll, .virtual, .approvals, .dialog-body, .xterm')
      if (!scrolls && (left < 0 || right > clientWidth + 1 || top > clientHeight)) faults.push(`${name}: outside`)
      const cuts = element.querySelector('.cut') !== null || element.matches('.cut, textarea')
      if (!cuts && width > 0 && element.scrollWidth > element.clientWidth + 2) faults.push(`${name}: cut off`)
    }
    return faults
  })
}

/** The boxes of text that can be scrolled sideways: long lines go on in the next row. */
function sideways(page: Page): Promise<string[]> {
  return page
    .locator('.box')
    .evaluateAll((boxes) =>
      boxes.flatMap(({ clientWidth, scrollWidth, textContent }) =>
        scrollWidth > clientWidth ? [`${textContent?.slice(0, 40)}: can be scrolled sideways`] : [],
      ),
    )
}

/** The controls that are too small for a finger. Links in a text are as high as its lines. */
function small(page: Page): Promise<string[]> {
  const controls = 'button, a, summary, input, textarea, [role="combobox"], [role="option"], [role="treeitem"]'
  return page.locator(controls).evaluateAll((found) =>
    (found as HTMLElement[]).flatMap((element) => {
      if (!element.checkVisibility() || element.closest('.cm-editor, .markdown, .xterm, .visually-hidden')) return []
      const { width, height } = (element.closest('label') ?? element).getBoundingClientRect()
      if (width === 0 || (width >= 43.5 && height >= 43.5)) return []
      const name = element.ariaLabel ?? element.textContent?.trim() ?? element.id
      return `${name}: ${Math.round(width)} by ${Math.round(height)} px`
    }),
  )
}

/** The faults that are still there when the page has taken its new size. */
async function lasting(page: Page): Promise<string[]> {
  const found = async () => [...(await misplaced(page)), ...(await sideways(page))]
  let faults = await found()
  for (let look = 0; faults.length > 0 && look < 10; look++) {
    await page.waitForTimeout(100)
    faults = await found()
  }
  return faults
}

/** The violations of accessibility rules; in the light scheme those of contrast, since only the colours differ. */
async function violations(page: Page, schemes: readonly ('dark' | 'light')[]): Promise<string[]> {
  const faults: string[] = []
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme })
    await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme)
    const found = await page.evaluate(
      async (rules) => {
        const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
        const result = await axe.run(document, { resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
        return result.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target}`))
      },
      colorScheme === 'light' ? ['color-contrast'] : undefined,
    )
    faults.push(...found.map((fault) => `${colorScheme}: ${fault}`))
  }
  return faults
}

/** Reaches each state in turn, and returns the faults of its layout and accessibility in four sizes and both schemes. */
export async function faultsOf(
  page: Page,
  states: Readonly<Record<string, (page: Page) => Promise<unknown>>>,
): Promise<readonly string[]> {
  // Evaluated by the test, because the page's content policy blocks script elements.
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8'))
  const faults: string[] = []
  for (const [state, reach] of Object.entries(states)) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await reach(page)
    for (const [size, [width, height]] of Object.entries(sizes)) {
      await page.setViewportSize({ width, height })
      await expect.poll(() => page.evaluate(() => innerWidth), patiently).toBe(width)
      if (size === 'phone') await onPhone[state]?.(page)
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      for (const fault of await lasting(page)) faults.push(`${state}, ${size}: ${fault}`)
      if (size === 'phone') for (const fault of await small(page)) faults.push(`${state}, ${size}: ${fault}`)
      if (size !== 'wide' && size !== 'phone') continue
      // `npm test` tries each scheme in one of the two sizes.
      const schemes = size === 'wide' ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
      for (const fault of await violations(page, isLong ? schemes : schemes.slice(0, 1)))
        faults.push(`${state}, ${size}, ${fault}`)
    }
  }
  return faults
}
