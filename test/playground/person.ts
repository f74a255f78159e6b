import { readFileSync } from 'node:fs'
import { strToU8, unzipSync, zipSync } from 'fflate'
import type { Page } from 'playwright'
import { expect } from 'vitest'

/** What a person does in the page, for tests. */

export const patiently = { timeout: 60_000 }

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
export const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' })
export const tab = (page: Page, name: string) => page.getByRole('tab', { name })

/** Resolves when the project is shown. */
export async function settled(page: Page): Promise<Page> {
  await page.getByRole('treeitem').first().waitFor()
  return page
}

/** Opens a file in the editor by its path. */
export async function openFile(page: Page, path: string): Promise<void> {
  await tab(page, 'Files').click()
  const names = path.split('/')
  for (const [at, name] of names.entries()) {
    const row = page.locator(`[data-path="${names.slice(0, at + 1).join('/')}"]`)
    await row.waitFor()
    if (at === names.length - 1 || (await row.getAttribute('aria-expanded')) === 'false') await row.click()
    await expect.poll(() => page.getByRole('treeitem', { name }).count(), patiently).toBeGreaterThan(0)
  }
  await editor(page, path).first().waitFor()
}

export const editor = (page: Page, path: string) => page.getByRole('textbox', { name: `Text of ${path}` })

/** Runs a command in the person's terminal and waits for a text that it prints. */
export async function command(page: Page, line: string, output: string): Promise<void> {
  await page.getByLabel('Terminal input').focus()
  await page.keyboard.type(`${line}\n`)
  await expect.poll(() => page.locator('.terminal-place').textContent(), patiently).toContain(output)
}

/** Selects a scenario of the scripted model, without running it. */
export async function choose(page: Page, scenario: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Scenario' }).selectOption(scenario)
  await expect.poll(() => button(page, 'Run').isEnabled(), patiently).toBe(true)
}

/** Imports a project from a zip with these texts, and opens it. */
export async function importTexts(page: Page, name: string, texts: Readonly<Record<string, string>>): Promise<void> {
  await page.getByRole('button', { name: /^Project: / }).click()
  const entries = Object.entries(texts).map(([path, text]) => [path, strToU8(text)] as const)
  const buffer = Buffer.from(zipSync(Object.fromEntries(entries)))
  await page.locator('#import-zip').setInputFiles({ name: `${name}.zip`, mimeType: 'application/zip', buffer })
  await page.getByRole('button', { name: `Project: ${name}` }).waitFor()
}

export async function switchProject(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Project: / }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .first()
    .click()
  await page.getByRole('button', { name: `Project: ${name}` }).waitFor()
  await settled(page)
}

/** Clicks an export button and returns the file. */
export async function exported(page: Page, label: string): Promise<Buffer> {
  await page.getByRole('button', { name: /^Project: / }).click()
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, label).click()])
  const bytes = readFileSync(await download.path())
  await page.keyboard.press('Escape')
  return bytes
}

/** The project's files as texts, by path. */
export async function filesOnDisk(page: Page): Promise<Readonly<Record<string, string>>> {
  const files = unzipSync(new Uint8Array(await exported(page, 'As a zip')))
  return Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]))
}
