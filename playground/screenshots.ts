import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { startPlayground } from '../test/playground/open.ts'

/** `npm run screenshots`: takes the screenshots of the README from the built playground in a real browser. */

const folder = join(import.meta.dirname, '../docs/images')
mkdirSync(folder, { recursive: true })

const playground = await startPlayground()
try {
  await mendATest()
  await askForApproval()
  await fallForAnAttack()
  await onAPhone()
} finally {
  await playground.close()
}

/** Opens a sample in memory, in one of the themes. */
async function openSample(
  sample: string,
  colorScheme: 'dark' | 'light',
  viewport = { width: 1280, height: 800 },
): Promise<Page> {
  const person = await playground.browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
  const page = await playground.open(person, `?storage=memory&sample=${sample}`)
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
  return page
}

async function run(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click()
}

/** Resolves when nothing is loading or running. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  await page.waitForLoadState('networkidle')
}

async function take(page: Page, name: string): Promise<void> {
  // Hides the pointer and the cursor.
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(folder, `${name}.png`), caret: 'hide' })
  await page.context().close()
}

async function mendATest(): Promise<void> {
  const page = await openSample('price-list', 'dark')
  await run(page)
  await page.getByText('All tests pass.').waitFor()
  await settled(page)
  await page.getByRole('treeitem', { name: 'src' }).click()
  await page.getByRole('treeitem', { name: 'price.js' }).click()
  await page.getByRole('tab', { name: 'Changes' }).click()
  await page.locator('.cm-changedText').first().waitFor()
  await take(page, 'playground')
}

async function askForApproval(): Promise<void> {
  const page = await openSample('order-book', 'light')
  await page.getByRole('treeitem', { name: 'src' }).click()
  await page.getByRole('treeitem', { name: 'day.js' }).click()
  await page.locator('.cm-line').first().waitFor()
  await run(page)
  await page.getByRole('button', { name: 'Approve the plan' }).click()
  await page.getByRole('article', { name: 'Approval of edit_file' }).waitFor()
  await take(page, 'playground-approval')
}

async function fallForAnAttack(): Promise<void> {
  const page = await openSample('release-notes', 'dark')
  await run(page)
  await page.getByText('of them were refused').or(page.getByText('were refused.')).first().waitFor()
  await settled(page)
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('option').filter({ hasText: 'base64' }).click()
  await page.getByRole('heading', { name: 'What really happened' }).waitFor()
  await take(page, 'playground-attack')
}

async function onAPhone(): Promise<void> {
  const page = await openSample('price-list', 'light', { width: 400, height: 780 })
  await run(page)
  await page.getByText('All tests pass.').waitFor()
  await settled(page)
  await take(page, 'playground-phone')
}
