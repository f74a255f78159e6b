import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Playground, startPlayground } from './open.ts'

let playground: Playground

beforeAll(async () => {
  playground = await startPlayground()
}, 240_000)

afterAll(() => playground?.close())

/** A page with a sample open in memory. */
async function openSample(sample: string): Promise<Page> {
  const page = await playground.open(undefined, `?storage=memory&sample=${sample}`)
  await page.getByRole('treeitem').first().waitFor()
  return page
}

it('the agent mends a failing test, and the slider takes that back and does it again', async () => {
  const page = await openSample('price-list')
  const text = async () => {
    await page.getByRole('treeitem', { name: 'src' }).click()
    await page.getByRole('treeitem', { name: 'price.js' }).click()
    return page.getByRole('textbox', { name: 'Text of src/price.js' })
  }
  const editor = await text()
  await expect.poll(() => editor.innerText()).toContain('Math.floor')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('All tests pass.').waitFor()
  await expect.poll(() => editor.innerText()).toContain('Math.round')

  await page.getByRole('tab', { name: 'Timeline' }).click()
  const calls = page.getByRole('listbox', { name: 'Timeline of calls' }).getByRole('option')
  await expect.poll(() => calls.count()).toBe(6)
  expect(await calls.last().innerText()).toContain('run_command')

  const slider = page.getByRole('slider', { name: 'State of the files' })
  await expect.poll(() => slider.isEnabled()).toBe(true)
  await slider.focus()
  await page.keyboard.press('Home')
  await expect.poll(() => editor.innerText()).toContain('Math.floor')
  await expect.poll(() => slider.isEnabled()).toBe(true)
  await slider.focus()
  await page.keyboard.press('End')
  await expect.poll(() => editor.innerText()).toContain('Math.round')
  await page.context().close()
})
