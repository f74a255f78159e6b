import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { startPlayground } from '../test/playground/open.ts'
import { approval, button, calls, changedText, show } from '../test/playground/person.ts'

/**
 * `npm run screenshots`: takes the screenshots of the README from the built playground in a real browser.
 * `npm run screenshots all`: takes every state in four sizes and both schemes, into a temporary folder; with names of states
 * after it, only those.
 */
const [first, ...names] = process.argv.slice(2)
const all = first === 'all'
const folder = all ? join(tmpdir(), 'wardspace-screenshots') : join(import.meta.dirname, '../docs/images')
mkdirSync(folder, { recursive: true })

const sizes = { wide: [1440, 900], laptop: [1024, 768], tablet: [768, 1024], phone: [390, 844] } as const
type Size = keyof typeof sizes
type Scheme = 'dark' | 'light'

const endCard = (page: Page) => page.getByRole('region', { name: 'End of the run' })
const card = (page: Page, title: string) => page.getByRole('button', { name: new RegExp(`^${title}`) }).click()

async function mended(page: Page): Promise<void> {
  await card(page, 'Mend a failing test')
  await endCard(page).waitFor()
}

/** Opens a view; on a phone, where the rail is missing, from the tab More. */
async function open(page: Page, view: string): Promise<void> {
  const more = page.getByRole('navigation', { name: 'Views' })
  if (!(await more.isVisible())) return show(page, view)
  const tab = more.getByRole('button', { name: new RegExp(`^${view}`) })
  if (await tab.isVisible()) return tab.click()
  await more.getByRole('button', { name: 'More' }).click()
  await page
    .locator('.more-list')
    .getByRole('button', { name: new RegExp(`^${view}`) })
    .click()
}

async function openText(page: Page, path: string): Promise<void> {
  await open(page, 'Files')
  await page.locator(`[data-path="${path}"]`).click()
  await page.locator('.stage .cm-content').waitFor()
}

/** How each state is reached from the first screen. */
const states: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  first: async () => {},
  running: async (page) => {
    await card(page, 'Mend a failing test')
    await page.getByText('I read what they test.').waitFor()
  },
  end: mended,
  attack: async (page) => {
    await card(page, 'Watch an attack fail')
    await endCard(page).waitFor()
  },
  approval: async (page) => {
    await card(page, 'Approve a risky change')
    await button(page, 'Approve the plan').click()
    await approval(page, 'edit_file').waitFor()
  },
  changes: async (page) => {
    await mended(page)
    await open(page, 'Changes')
    await page.getByRole('tree', { name: 'Changed files' }).getByRole('treeitem').last().click()
    await changedText(page).first().waitFor()
  },
  call: async (page) => {
    await card(page, 'Watch an attack fail')
    await endCard(page).waitFor()
    await open(page, 'Timeline')
    await calls(page).nth(3).click()
    await page.getByRole('heading', { name: 'What really happened' }).waitFor()
  },
  search: (page) => open(page, 'Search'),
  replace: async (page) => {
    await open(page, 'Search')
    await page.getByRole('searchbox').fill('cents')
    await button(page, 'Replace').first().click()
    await page.getByRole('textbox', { name: 'Replace with' }).fill('pennies')
    await page.getByRole('listbox', { name: 'Matches to replace' }).getByRole('option').nth(1).waitFor()
  },
  files: async (page) => {
    await open(page, 'Files')
    await page.locator('[data-path="src"]').click()
    await page.locator('[data-path="src/price.js"]').click({ button: 'right' })
    await page.getByRole('menu').waitFor()
  },
  deleted: async (page) => {
    await open(page, 'Files')
    await page.locator('[data-path="test"]').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.locator('.file-notice').waitFor()
  },
  find: async (page) => {
    await openText(page, 'README.md')
    await button(page, 'More for this file').click()
    await page.getByRole('menuitem', { name: 'Find and replace' }).click()
    await page.locator('.find-panel input').first().fill('cents')
    await page.keyboard.press('Enter')
  },
  preview: async (page) => {
    await openText(page, 'README.md')
    await button(page, 'Preview').click()
    await page.locator('.preview-text').waitFor()
  },
  'quick-open': async (page) => {
    await page.keyboard.press('Control+p')
    await page.getByRole('combobox', { name: 'Name of a file' }).fill('prj')
    await page.locator('.quick-open [role="option"]').first().waitFor()
  },
  policy: (page) => open(page, 'Policy'),
  report: async (page) => {
    await mended(page)
    await open(page, 'Report')
    await page.getByRole('heading', { name: 'Forbidden paths tried' }).waitFor()
  },
  projects: (page) => button(page, 'Open my project').click(),
  settings: (page) => button(page, 'Use my own model').click(),
}

/** The screenshots of the README. */
const ofReadme: readonly (readonly [name: string, state: string, size: Size, scheme: Scheme])[] = [
  ['playground', 'end', 'wide', 'dark'],
  ['playground-approval', 'approval', 'wide', 'light'],
  ['playground-attack', 'attack', 'wide', 'dark'],
  ['playground-phone', 'attack', 'phone', 'light'],
]

const wanted = all
  ? (names.length === 0 ? Object.keys(states) : names).flatMap((state) =>
      (Object.keys(sizes) as Size[]).flatMap((size) =>
        (['dark', 'light'] as const).map((scheme) => [`${state}-${size}-${scheme}`, state, size, scheme] as const),
      ),
    )
  : ofReadme

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
    const page = await playground.open(person, '?storage=memory')
    await page.locator('main[aria-busy="false"]').waitFor()
    await states[state]?.(page)
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    await page.waitForLoadState('networkidle')
    await page.evaluate(() => document.fonts.ready)
    // Hides the pointer and the cursor.
    await page.mouse.move(0, 0)
    await page.screenshot({ path: join(folder, `${name}.png`), caret: 'hide' })
  } finally {
    await person.close()
  }
}
