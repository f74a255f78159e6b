import type { Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { activity, button, calls, filesOnDisk, openFile, patiently, settled, show, stageTab } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

/** One page for all cases of this file. */
let page: Page

beforeAll(async () => {
  page = await settled(await playground.open(undefined, '?sample=price-list&storage=memory'))
}, 240_000)

const press = async (...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
const row = (path: string) => page.locator(`[role="tree"] [data-path="${path}"]`)
const focusRow = async (path: string) => {
  await row(path).click()
  await page.getByRole('tree', { name: 'Project files' }).focus()
}
const chooseInMenu = async (path: string, label: string) => {
  await row(path).click({ button: 'right' })
  await page.getByRole('menuitem', { name: label, exact: true }).click()
}
const paths = async () => Object.keys(await filesOnDisk(page)).sort()
const notice = () => page.locator('.file-notice')

describe('the tree', () => {
  it('creates files and folders, also below a new folder, and opens a new file', async () => {
    await button(page, 'New folder').click()
    await page.getByLabel('Name of the new folder').fill('docs')
    await press('Enter')
    await row('docs').waitFor()
    await chooseInMenu('docs', 'New file…')
    await page.getByLabel('Name of the new file').fill('guide/start.md')
    await press('Enter')
    await stageTab(page, 'start.md').waitFor()
    await row('docs/guide/start.md').waitFor()
    expect(await paths()).toContain('docs/guide/start.md')
    await chooseInMenu('docs', 'New file…')
    await press('Escape')
    expect(await page.getByLabel('Name of the new file').count()).toBe(0)
  })

  it('renames by F2, and takes the tab with its draft along', async () => {
    const editor = await openFile(page, 'docs/guide/start.md')
    await editor.click()
    await page.keyboard.type('draft')
    await focusRow('docs/guide/start.md')
    await press('F2')
    await page.getByLabel('New name of start.md').fill('begin.md')
    await press('Enter')
    await stageTab(page, 'begin.md not saved').waitFor()
    expect(await page.getByRole('textbox', { name: 'Text of docs/guide/begin.md' }).textContent()).toBe('draft')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Project files')
    await page.getByRole('textbox', { name: 'Text of docs/guide/begin.md' }).click()
    await press('Control+s')
    await expect.poll(async () => (await filesOnDisk(page))['docs/guide/begin.md'], patiently).toBe('draft')
  })

  it('asks before a file takes the place of another one, and undoes that in one step', async () => {
    await focusRow('docs/guide/begin.md')
    await press('F2')
    await page.getByLabel('New name of begin.md').fill('../../README.md')
    expect(await page.getByLabel('New name of begin.md').getAttribute('aria-invalid')).toBe('true')
    await press('Escape')
    await press('Control+x')
    await chooseInMenu('README.md', 'Paste')
    await row('begin.md').waitFor()
    await focusRow('begin.md')
    await press('F2')
    await page.getByLabel('New name of begin.md').fill('README.md')
    await press('Enter')
    const question = page.getByRole('alertdialog', { name: 'Replace README.md?' })
    await question.waitFor()
    await press('Escape')
    await question.waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Project files')
    const before = (await filesOnDisk(page))['README.md']
    expect(before).toContain('Price')
    await focusRow('begin.md')
    await press('F2')
    await page.getByLabel('New name of begin.md').fill('README.md')
    await press('Enter')
    await question.getByRole('button', { name: 'Replace' }).click()
    await row('begin.md').waitFor({ state: 'detached' })
    expect((await filesOnDisk(page))['README.md']).toBe('draft')
    await button(page, 'Undo').click()
    await row('begin.md').waitFor()
    expect((await filesOnDisk(page))['README.md']).toBe(before)
  })

  it('duplicates, copies, pastes and moves by keys', async () => {
    await focusRow('package.json')
    await press('Control+d')
    await row('package copy.json').waitFor()
    await press('Control+x')
    await focusRow('docs')
    await press('Control+v')
    await row('docs/package copy.json').waitFor()
    await press('Control+c', 'Control+v')
    await row('docs/package copy copy.json').waitFor()
    expect(await paths()).toEqual(expect.arrayContaining(['docs/package copy.json', 'docs/package copy copy.json']))
  })

  it('moves by drag and drop, and copies with Ctrl', async () => {
    await row('docs/package copy.json').dragTo(row('test'))
    await row('test/package copy.json').waitFor()
    await expect.poll(paths, patiently).not.toContain('docs/package copy.json')
    await page.keyboard.down('Control')
    await row('test/package copy.json').dragTo(row('docs'))
    await page.keyboard.up('Control')
    await row('docs/package copy.json').waitFor()
    expect(await paths()).toContain('test/package copy.json')
  })

  it('deletes a folder with all it holds by Delete, as one recorded call, and Ctrl+Z brings it back', async () => {
    const before = await filesOnDisk(page)
    await focusRow('docs')
    await press('Delete')
    await row('docs').waitFor({ state: 'detached' })
    expect((await paths()).filter((path) => path.startsWith('docs/'))).toEqual([])
    expect(await notice().textContent()).toContain('Deleted “docs”')
    await page.getByRole('tree', { name: 'Project files' }).focus()
    await press('Control+z')
    await row('docs').waitFor()
    expect(await filesOnDisk(page)).toEqual(before)
    await show(page, 'Timeline')
    expect(await calls(page).last().textContent()).toContain('undo')
    expect(await activity(page, 'Changes').textContent()).not.toBe('')
    await show(page, 'Files')
  })

  it('has its menu by keys, named for screen readers', async () => {
    await focusRow('README.md')
    await press('Shift+F10')
    const menu = page.getByRole('menu', { name: 'Actions for README.md' })
    await menu.waitFor()
    const active = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    expect(await active()).toBe('Open')
    await press('ArrowUp')
    expect(await active()).toBe('Delete')
    await press('d')
    expect(await active()).toBe('Duplicate')
    await press('Escape')
    await menu.waitFor({ state: 'detached' })
    expect(await active()).toBe('Project files')
  })
})
