import type { Page } from 'playwright'
import { expect } from 'vitest'

/** Does in the page of an example what a person does there: lets the agent work, approves its change, and opens the file. */
export async function useExample(page: Page, url: string): Promise<void> {
  const failures: string[] = []
  page.on('pageerror', ({ message }) => failures.push(message))
  page.on('console', (message) => message.type() === 'error' && failures.push(message.text()))
  await page.goto(url)
  await page.getByRole('textbox', { name: 'Message to the agent' }).fill('Correct the price')
  await page.keyboard.press('Enter')
  const card = page.getByRole('article', { name: 'Approval of edit_file' })
  await card.getByText('+export const price = 2').waitFor()
  await card.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByText('The price is 2 now.').waitFor()
  await page.getByText('Blocked: .env is').first().waitFor()
  await page.getByText('removed: export const price = 1').waitFor()
  await page.getByRole('tree', { name: 'Files', exact: true }).getByRole('treeitem', { name: 'src' }).click()
  await page.getByRole('tree', { name: 'Files', exact: true }).getByRole('treeitem', { name: 'price.js' }).click()
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Text of src/price.js' }).inputValue())
    .toBe('export const price = 2\n')
  expect(failures.filter((text) => !text.includes('favicon'))).toEqual([])
}
