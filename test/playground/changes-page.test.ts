import { expect, it } from 'vitest'
import { button, command, conversationText, filesOnDisk, patiently, runTo, show } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

it('Changes takes back one change and brings it back, marks, comments, and moves by keys', async () => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  await runTo(page, 'All tests pass.')
  await command(page, 'echo new > new.txt && echo made', /made[\s\S]*made/)
  await show(page, 'Changes')
  const tree = page.getByRole('tree', { name: 'Changed files' })
  await tree.getByRole('treeitem', { name: /new\.txt.*added/ }).waitFor()
  await tree.getByRole('treeitem', { name: /price\.js.*changed/ }).click()
  const change = page.getByRole('region', { name: 'Change 1 of 1, Line 4' })
  await change.waitFor()

  // N goes to the change, A accepts it, R takes it back.
  await button(page, 'Next change').focus()
  await page.keyboard.press('n')
  await expect
    .poll(() => change.evaluate((hunk) => (hunk.getRootNode() as ShadowRoot).activeElement === hunk), patiently)
    .toBe(true)
  await page.keyboard.press('a')
  await page.getByRole('region', { name: 'Change 1 of 1, Line 4, reviewed' }).waitFor()
  await page.keyboard.press('v')
  await page.getByText('1 viewed').waitFor()
  await page.keyboard.press('c')
  await page.locator('.comment-form textarea:focus').waitFor()
  await page.keyboard.type('Say why')
  await page.keyboard.press('Control+Enter')
  await page.getByText('1 comment not sent yet').waitFor()
  await button(page, 'Revert').click()
  await page.getByText('The change is taken back').first().waitFor()
  expect((await filesOnDisk(page))['src/price.js']).toContain('Math.floor((cents')
  await button(page, 'Undo').click()
  await page.getByText('The changes are back').first().waitFor()
  expect((await filesOnDisk(page))['src/price.js']).toContain('Math.round((cents')

  await button(page, 'Send to the agent').click()
  await expect
    .poll(() => conversationText(page), patiently)
    .toMatch(/`?src\/price\.js`?, line 4:\s*>?.*Math\.round.*Say why/s)
})
