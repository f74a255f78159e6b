import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page, Request } from 'playwright'
import { startPlayground } from '../test/playground/open.ts'
import { states } from '../test/playground/states.ts'

/**
 * `npm run screenshots`: takes the screenshots of the README from the built playground in a real browser.
 * `npm run screenshots all`: takes every state in four sizes and both schemes, into a temporary folder; with names of states,
 * sizes or schemes after it, only those.
 */
const [first, ...words] = process.argv.slice(2)
const all = first === 'all'
const folder = all ? join(tmpdir(), 'wardspace-screenshots') : join(import.meta.dirname, '../docs/images')
mkdirSync(folder, { recursive: true })

const sizes = { wide: [1440, 900], laptop: [1024, 768], tablet: [768, 1024], phone: [390, 844] } as const
type Size = keyof typeof sizes
const schemes = ['dark', 'light'] as const
type Scheme = (typeof schemes)[number]

/** The screenshots of the README. */
const ofReadme: readonly (readonly [name: string, state: string, size: Size, scheme: Scheme])[] = [
  ['playground', 'end', 'wide', 'dark'],
  ['playground-approval', 'approval', 'wide', 'light'],
  ['playground-attack', 'attack', 'wide', 'dark'],
  ['playground-phone', 'attack', 'phone', 'light'],
]

const wanted = all
  ? among(Object.keys(states)).flatMap((state) =>
      among(Object.keys(sizes) as Size[]).flatMap((size) =>
        among(schemes).map((scheme) => [`${state}-${size}-${scheme}`, state, size, scheme] as const),
      ),
    )
  : ofReadme

/** Those that are asked for; all if none is. */
function among<N extends string>(all: readonly N[]): readonly N[] {
  const asked = all.filter((name) => words.includes(name))
  return asked.length === 0 ? all : asked
}

const playground = await startPlayground()
try {
  for (const [name, state, size, scheme] of wanted) {
    await take(name, state, size, scheme).catch((error: Error) => console.error(`${name}: ${error.message}`))
  }
  console.log(`${wanted.length} screenshots in ${folder}`)
} finally {
  await playground.close()
}

async function take(name: string, state: string, size: Size, colorScheme: Scheme): Promise<void> {
  const [width, height] = sizes[size]
  const viewport = { width, height }
  const person = await playground.browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
  try {
    const page = await person.newPage()
    const rest = restOf(page)
    await page.goto(`${playground.url}?storage=memory`)
    await page.locator('main[aria-busy="false"]').waitFor()
    page.setDefaultTimeout(20_000)
    await states[state]?.(page)
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    await rest()
    await page.evaluate(() => document.fonts.ready)
    // Hides the pointer and the cursor.
    await page.mouse.move(0, 0)
    await page.screenshot({ path: join(folder, `${name}.png`), caret: 'hide' })
  } finally {
    await person.close()
  }
}

/**
 * Returns a function that waits until a page has requested nothing for half a second. The load state `networkidle` of
 * Playwright never comes in a page that gets a frame after it was idle, such as a preview.
 */
function restOf(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  let last = 0
  const end = (request: Request): void => {
    open.delete(request)
    last = performance.now()
  }
  page.on('request', (request) => open.add(request))
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return async () => {
    const until = performance.now() + 20_000
    while (open.size > 0 || performance.now() - last < 500) {
      if (performance.now() > until)
        throw new Error(`No answer: ${[...open].map((request) => request.url()).join(', ')}`)
      await wait(50)
    }
  }
}
