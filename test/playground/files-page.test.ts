import { createHash } from 'node:crypto'
import type { Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { isLong, times } from '../counts.ts'
import {
  activity,
  button,
  calls,
  chooseOption,
  command,
  editor,
  filesOnDisk,
  focusedName,
  importFiles,
  openFile,
  patiently,
  projectButton,
  settled,
  show,
  stageTab,
  switchProject,
  terminalText,
} from './person.ts'
import { usePlayground } from './shared.ts'

const FILES = times(1000, 10_000)
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
  await page.getByRole('tree', { name: 'Files', exact: true }).focus()
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
    await page.getByRole('textbox', { name: 'Text of docs/guide/start.md' }).waitFor()
    await expect.poll(() => focusedName(page)).toBe('Text of docs/guide/start.md')
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
    expect(await focusedName(page)).toBe('Files')
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
    expect(await focusedName(page)).toBe('Files')
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

  it.runIf(isLong)('duplicates, copies, pastes and moves by keys', async () => {
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

  it.runIf(isLong)('moves by drag and drop, and copies with Ctrl', async () => {
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
    await page.getByRole('tree', { name: 'Files', exact: true }).focus()
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
    const active = () => focusedName(page)
    expect(await active()).toBe('Open')
    await press('ArrowUp')
    expect(await active()).toBe('Delete')
    await press('d')
    expect(await active()).toBe('Duplicate')
    await press('Escape')
    await menu.waitFor({ state: 'detached' })
    expect(await active()).toBe('Files')
  })
})

describe('the editor', () => {
  const hasFocus = (field: Element) => (field.getRootNode() as Document | ShadowRoot).activeElement === field

  it.runIf(isLong)('finds, counts and replaces in the file, by keys and by its menu', async () => {
    const editor = await openFile(page, 'src/price.js')
    await editor.click()
    await press('Control+f')
    const panel = page.getByRole('search', { name: 'Find in this file' })
    const find = panel.getByRole('textbox', { name: 'Find' })
    await expect.poll(() => find.evaluate(hasFocus), patiently).toBe(true)
    await page.keyboard.type('cents')
    await expect.poll(() => panel.getByRole('status').textContent()).toMatch(/^(\d of )?\d+$/)
    const all = Number((await panel.getByRole('status').textContent())?.replace(/.* /, ''))
    expect(all).toBeGreaterThan(3)
    await press('Enter', 'Enter')
    expect(await panel.getByRole('status').textContent()).toMatch(new RegExp(`^\\d of ${all}$`))
    await panel.getByRole('button', { name: 'Whole words' }).click()
    await panel.getByRole('textbox', { name: 'Replace with' }).fill('pennies')
    await panel.getByRole('button', { name: 'Replace all' }).click()
    expect(await panel.getByRole('status').textContent()).toBe('No match')
    expect(await editor.textContent()).toContain('discounted(pennies, percent)')
    await find.focus()
    await press('Escape')
    await panel.waitFor({ state: 'detached' })
    expect(await editor.evaluate(hasFocus)).toBe(true)
    await press('Control+z')
    expect(await editor.textContent()).toContain('discounted(cents, percent)')
    await button(page, 'More for this file').click()
    await page.getByRole('menuitem', { name: 'Find and replace' }).click()
    await panel.waitFor()
    await panel.getByRole('button', { name: 'Close find' }).click()
  })

  it.runIf(isLong)('wraps long lines by Alt+Z and by its menu', async () => {
    const isWrapped = () => page.locator('.cm-content.cm-lineWrapping').count()
    expect(await isWrapped()).toBe(0)
    await press('Alt+z')
    await expect.poll(isWrapped).toBe(1)
    await button(page, 'More for this file').click()
    const item = page.getByRole('menuitemcheckbox', { name: 'Wrap long lines' })
    expect(await item.getAttribute('aria-checked')).toBe('true')
    await item.click()
    await expect.poll(isWrapped).toBe(0)
    // A paragraph is one long line.
    await openFile(page, 'README.md')
    await expect.poll(isWrapped).toBe(1)
    await openFile(page, 'src/price.js')
    await expect.poll(isWrapped).toBe(0)
  })
})

describe('the tabs', () => {
  const names = () => page.locator('.file-tabs .name').allInnerTexts()

  it.runIf(isLong)('change their order by keys and drag, and are left and closed by keys', async () => {
    for (const path of ['src/cart.js', 'src/format.js', 'src/price.js']) await openFile(page, path)
    const tabs = async () => (await names()).filter((name) => /^(cart|format|price)/m.test(name.replace(/.*\n/, '')))
    const order = async () => (await tabs()).map((name) => name.replace(/^.*\n/s, ''))
    await stageTab(page, 'format.js').click()
    const before = await order()
    const at = before.indexOf('format.js')
    await press('Alt+Shift+PageDown')
    await expect.poll(async () => (await order()).indexOf('format.js')).toBe(Math.min(2, at + 1))
    const last = (await order()).at(-1) as string
    const first = (await order())[0] as string
    await stageTab(page, last).dragTo(stageTab(page, first))
    await expect.poll(async () => (await order())[0]).toBe(last)
    await stageTab(page, last).click()
    await press('Alt+PageDown')
    await expect.poll(() => page.locator('.file-tabs li.active').textContent()).toContain(first)
    await press('Alt+w')
    await expect.poll(order).not.toContain(first)
    await stageTab(page, last).click({ button: 'middle' })
    await expect.poll(order).not.toContain(last)
  })

  it.runIf(isLong)('scroll, and show the active one', async () => {
    const { length } = await names()
    for (const path of ['src/cart.js', 'src/price.js', 'package.json', 'README.md']) await openFile(page, path)
    await page.setViewportSize({ width: 1200, height: 700 })
    for (let steps = 0; steps < length + 4; steps++) {
      await press('Alt+PageDown')
      const active = page.locator('.file-tabs li.active')
      const isWithin = () =>
        active.evaluate((tab) => {
          const [inner, outer] = [tab.getBoundingClientRect(), tab.parentElement?.getBoundingClientRect()]
          return outer !== undefined && inner.left >= outer.left - 1 && inner.right <= outer.right + 1
        })
      await expect.poll(isWithin).toBe(true)
    }
    await page.setViewportSize({ width: 1400, height: 900 })
  })
})

describe('the search', () => {
  it('previews a replacement in all files, leaves out a match, replaces in one step and takes it back', async () => {
    await press('Control+Shift+f')
    await page.getByRole('searchbox', { name: 'Search files and text' }).fill('percent')
    await button(page, 'Replace').first().click()
    await page.getByRole('textbox', { name: 'Replace with' }).fill('share')
    const list = page.getByRole('listbox', { name: 'Matches to replace' })
    const rows = list.getByRole('option')
    await rows.first().waitFor()
    const total = Number(await rows.first().locator('.number').textContent())
    await rows.nth(1).getByText('share').waitFor()
    await list.focus()
    await press('ArrowDown', 'Space')
    expect(await rows.nth(1).getAttribute('aria-checked')).toBe('false')
    const before = await filesOnDisk(page)
    await page.getByRole('button', { name: /^Replace \d+ matches in/ }).click()
    await page
      .getByRole('status')
      .getByText(/^Replaced \d+ matches in \d files?$/)
      .waitFor()
    const after = await filesOnDisk(page)
    const path = Object.keys(before).find((name) => before[name] !== after[name]) as string
    expect(after[path]?.split('share').length).toBe(total)
    expect(after[path]?.split('percent').length).toBe(2)
    await button(page, 'Undo').click()
    await page.getByRole('status').getByText('Taken back').waitFor()
    expect(await filesOnDisk(page)).toEqual(before)
    await show(page, 'Files')
  })
})

describe('quick open', () => {
  it('opens a file by some letters of its name, at a line, and gives the focus back', async () => {
    await button(page, 'New file').focus()
    await press('Control+p')
    const field = page.getByRole('combobox', { name: 'Name of a file' })
    await expect.poll(() => field.evaluate((input) => input === document.activeElement), patiently).toBe(true)
    await press('Escape')
    expect(await focusedName(page)).toBe('New file')
    await press('Control+p')
    await field.fill('frmt:3')
    const first = page.getByRole('listbox', { name: 'Files' }).getByRole('option').first()
    await expect.poll(() => first.textContent(), patiently).toMatch(/format\.js src$/)
    await press('Enter')
    await page.getByRole('textbox', { name: 'Text of src/format.js' }).waitFor()
    await expect.poll(() => page.locator('.cm-activeLineGutter').first().textContent(), patiently).toBe('3')
  })

  it.runIf(isLong)(`finds one of ${FILES} files while the page stays responsive`, async () => {
    const files: Record<string, string> = {}
    for (let i = 0; i < FILES; i++) files[`packages/part${i % 100}/lib/module-${i}.ts`] = ''
    await importFiles(page, 'large', files)
    await page.evaluate(() => {
      const tasks: number[] = []
      Object.assign(globalThis, { tasks })
      const observer = new PerformanceObserver((list) =>
        tasks.push(...list.getEntries().map(({ duration }) => duration)),
      )
      observer.observe({ type: 'longtask' })
    })
    await press('Control+p')
    await page.getByRole('combobox', { name: 'Name of a file' }).pressSequentially(`p42mod${FILES - 58}`, { delay: 20 })
    const first = page.getByRole('listbox', { name: 'Files' }).getByRole('option').first()
    await expect.poll(() => first.textContent(), patiently).toContain(`module-${FILES - 58}.ts packages/part42/lib`)
    const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks)
    const longest = Math.max(0, ...tasks)
    const all = tasks.reduce((sum, one) => sum + one, 0)
    console.log(`Longest task while finding one of ${FILES} files: ${longest.toFixed(0)} ms`)
    // An idle machine has no long task at all. A slow one makes all of them longer, and not one.
    expect(longest).toBeLessThan(Math.max(300, all / 4))
    await press('Escape')
  })
})

describe('the projects', () => {
  const projects = () => page.getByRole('region', { name: 'Your projects' })
  const act = async (name: string, item: string) => {
    await projectButton(page).click()
    await projects()
      .getByRole('button', { name: `Actions for ${name}`, exact: true })
      .click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }

  it.runIf(isLong)('are renamed and duplicated, and removed after a question', async () => {
    await switchProject(page, 'Price list')
    await act('Price list', 'Rename…')
    await page.getByLabel('New name of Price list').fill('My shop')
    await press('Enter')
    await projects().getByText('My shop').waitFor()
    await press('Escape')
    await projectButton(page, 'My shop').waitFor()
    const files = await filesOnDisk(page)
    await act('My shop', 'Duplicate')
    await projectButton(page, 'My shop copy').waitFor()
    await settled(page)
    expect(await filesOnDisk(page)).toEqual(files)
    await act('My shop copy', 'Remove…')
    const question = projects().getByRole('alert')
    expect(await question.textContent()).toContain('cannot be brought back')
    await question.getByRole('button', { name: 'Keep', exact: true }).click()
    await press('Escape')
    await act('My shop copy', 'Remove…')
    await projects().getByRole('button', { name: 'Remove “My shop copy”' }).click()
    await projectButton(page, 'My shop').waitFor()
  })
})

it.runIf(isLong)('a text of another encoding is shown as what it is, and not overwritten', async () => {
  const page = await playground.sample('price-list')
  const latin = Uint8Array.from(Buffer.from('Grüße für 5 £\nändern\n', 'latin1'))
  const cyrillic = Uint8Array.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x0a])
  await importFiles(page, 'old', { 'latin.txt': latin, 'cyrillic.txt': cyrillic, 'utf8.txt': 'Grüße\n' })
  const shown = page.locator('.stage .cm-content')
  await openFile(page, 'latin.txt')
  await page.getByText('This file is not UTF-8.').waitFor()
  await expect.poll(() => shown.textContent(), patiently).toContain('Grüße für 5 £')
  expect(await shown.getAttribute('contenteditable')).toBe('false')
  await shown.click()
  await page.keyboard.type('typed')
  await page.keyboard.press('Control+s')
  await openFile(page, 'cyrillic.txt')
  await expect.poll(() => shown.textContent(), patiently).toContain('Ïðèâåò')
  await chooseOption(page, 'Encoding', 'windows-1251')
  await expect.poll(() => shown.textContent(), patiently).toContain('Привет')
  await openFile(page, 'utf8.txt')
  await editor(page, 'utf8.txt').waitFor()
  expect(await page.getByText('This file is not UTF-8.').count()).toBe(0)
  await command(page, 'sha256sum *.txt; echo sum""med', 'summed')
  const text = await terminalText(page)
  for (const bytes of [latin, cyrillic]) expect(text).toContain(createHash('sha256').update(bytes).digest('hex'))
})
