import { readdirSync, readFileSync } from 'node:fs'
import type { Page } from 'playwright'
import { expect, it } from 'vitest'
import { everyNth, isLong } from '../counts.ts'
import { button, patiently, show } from './person.ts'
import { usePlayground } from './shared.ts'
import { states } from './states.ts'

/** The look has one scale of type and space, and moves only for those who want it. */
const playground = usePlayground()

interface Drawn {
  readonly types: readonly string[]
  readonly faces: readonly string[]
  /** Milliseconds of the longest transition and of the longest animation that ends. */
  readonly motion: number
}

/** How the page is drawn, shadow roots included. */
function drawn(page: Page): Promise<Drawn> {
  return page.evaluate(() => {
    const types = new Set<string>()
    const faces = new Set<string>()
    let motion = 0
    const inMs = (times: string) => times.split(', ').map((time) => Number.parseFloat(time) * 1_000)
    const walk = (root: ParentNode): void => {
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot !== null) walk(element.shadowRoot)
        if (!element.checkVisibility()) continue
        const style = getComputedStyle(element)
        const animated = style.animationName === 'none' || style.animationIterationCount === 'infinite'
        // The scrollbar of the terminal fades as its package says.
        const isOfPackage =
          element.closest('.xterm') !== null && !matchMedia('(prefers-reduced-motion: reduce)').matches
        if (!isOfPackage)
          motion = Math.max(
            motion,
            ...inMs(style.transitionDuration),
            ...(animated ? [] : inMs(style.animationDuration)),
          )
        const says = [...element.childNodes].some(
          (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
        )
        if (!says || element.closest('.visually-hidden, .xterm, .file-icon') !== null) continue
        types.add(`${style.fontSize} ${style.fontWeight}`)
        faces.add(style.fontFamily.split(',')[0]?.replaceAll(/["']/g, '') ?? '')
      }
    }
    walk(document)
    return { types: [...types], faces: [...faces], motion }
  })
}

it.runIf(isLong)('has one scale of type, and two faces that come with the page', async () => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  const found: Drawn[] = [await drawn(page)]
  await states.end?.(page)
  for (const view of ['Changes', 'Policy', 'Report', 'Timeline', 'Search', 'Files']) {
    await show(page, view)
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    found.push(await drawn(page))
  }
  await button(page, 'Settings').click()
  found.push(await drawn(page))
  const types = new Set(found.flatMap((one) => one.types))
  expect(types.size).toBeGreaterThan(5)
  expect([...types].filter((type) => !/^(12|13|14|16|20|28)px (400|500|600)$/.test(type))).toEqual([])
  expect([...new Set(found.flatMap(({ faces }) => faces))].sort()).toEqual([
    'Inter Variable',
    'JetBrains Mono Variable',
  ])
  const loaded = await page.evaluate(() =>
    [...document.fonts].flatMap(({ family, status }) => (status === 'loaded' ? [family.replaceAll(/["']/g, '')] : [])),
  )
  expect([...new Set(loaded)].sort()).toEqual(['Inter Variable', 'JetBrains Mono Variable'])
})

it.each(
  everyNth(
    [
      ['reduce', 0, 0],
      ['no-preference', 120, 180],
    ] as const,
    2,
  ),
)('with the motion %s, nothing takes longer than its place', async (motion, least, most) => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await states.end?.(page)
  await page.emulateMedia({ reducedMotion: motion })
  await button(page, 'Keys and marks').hover()
  await expect.poll(async () => (await drawn(page)).motion, patiently).toBeGreaterThanOrEqual(least)
  expect((await drawn(page)).motion).toBeLessThanOrEqual(most)
})

it('has selects, menus and questions of its own', () => {
  const sources = ['playground', 'src/elements'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('dist'))
      .map((name) => `${folder}/${name}`),
  )
  expect(sources.length).toBeGreaterThan(150)
  const native = /<select\b|(?<![.\w])(?:confirm|alert|prompt)\('/
  expect(sources.filter((file) => native.test(readFileSync(file, 'utf8')))).toEqual([])
})
