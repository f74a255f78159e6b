import type { Page } from 'playwright'
import { describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import {
  approval,
  approvalBar,
  becomePhone,
  button,
  command,
  focusedName,
  openFile,
  patiently,
  runTo,
  show,
} from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

/** What is seen of the page: the focused element, the tabs of the stage, and whether the sheet of the approvals is open. */
interface Seen {
  readonly focus: string | undefined
  readonly tabs: string
  readonly active: string
  readonly isSheetOpen: boolean
  readonly wraps: boolean
}

async function seen(page: Page): Promise<Seen> {
  const focus = await focusedName(page)
  return page.evaluate((focus) => {
    const names = (selector: string) =>
      [...document.querySelectorAll(`.file-tabs ${selector}`)].map((tab) => tab.textContent)
    const text = document.querySelector('wardspace-editor')?.shadowRoot?.querySelector('.cm-content')
    return {
      focus,
      tabs: names('.name').join(),
      active: names('[aria-current="true"]').join(),
      isSheetOpen: document.querySelector('.sheet.open') !== null,
      wraps: (text ?? document.querySelector('.cm-content'))?.classList.contains('cm-lineWrapping') === true,
    }
  }, focus)
}

type Where = 'wide' | 'phone'
type When = 'idle' | 'waiting'
type Effect = (after: Seen, before: Seen, where: Where, when: When) => boolean

const focuses =
  (name: string): Effect =>
  ({ focus }) =>
    focus === name
const activates =
  (by: 1 | -1): Effect =>
  ({ active }, { tabs }) =>
    active === tabs.split(',').at(by === 1 ? 1 : -1)

/** What each shortcut of the list does while README.md is open as the first tab of several. */
const effects: Readonly<Record<string, Effect>> = {
  'Ctrl P': focuses('Name of a file'),
  'Ctrl Shift F': focuses('Search files and text'),
  'Alt 1': focuses('Files'),
  'Alt 2': focuses('Text of README.md'),
  'Alt 3': focuses('Terminal input'),
  'Alt 4': focuses('Message to the agent'),
  'Alt 5': focuses('Timeline of calls'),
  'Alt 6': (after, before, where, when) => {
    if (when === 'waiting') return after.focus === 'Approval of edit_file' && after.isSheetOpen === (where === 'phone')
    return where === 'wide' ? after.active === 'Approval' : JSON.stringify(after) === JSON.stringify(before)
  },
  'Alt 7': focuses('Changed files'),
  'Alt 8': focuses('State of the files'),
  // The tests of following show what it changes.
  'Alt 9': ({ focus }, before) => focus === before.focus,
  'Alt PageUp': activates(-1),
  'Alt PageDown': activates(1),
  'Alt Shift PageUp': ({ tabs }, before) => tabs === before.tabs,
  'Alt Shift PageDown': ({ tabs }, before) => tabs.indexOf('README.md') > before.tabs.indexOf('README.md'),
  'Alt Z': ({ wraps }, before) => wraps !== before.wraps,
  'Alt W': ({ tabs }, before) => before.tabs.includes('README.md') && !tabs.includes('README.md'),
  F1: focuses('Close'),
}

const press = (page: Page, keys: string) => page.keyboard.press(keys.replace('Ctrl', 'Control').replaceAll(' ', '+'))

/** The keys as the list of the page names them. */
async function listed(page: Page): Promise<string[]> {
  await page.keyboard.press('F1')
  const rows = page.getByRole('dialog', { name: 'Keys and marks' }).locator('.keys th')
  await rows.first().waitFor()
  return rows.evaluateAll((all) => all.map((row) => [...row.children].map((key) => key.textContent).join(' ')))
}

async function blur(page: Page): Promise<void> {
  await page.evaluate(() => {
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    if (element instanceof HTMLElement) element.blur()
  })
}

/** Opens README.md as the first tab, from wherever the last key has led. */
async function goToReadme(page: Page): Promise<void> {
  // Escape closes a dialog or a sheet. The terminal takes it, and Ctrl+P, for itself.
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await blur(page)
  await page.keyboard.press('Control+p')
  await page.getByRole('combobox', { name: 'Name of a file' }).fill('README')
  await page.locator('.quick-open [role="option"]').first().waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => focusedName(page), patiently).toBe('Text of README.md')
  await blur(page)
  for (;;) {
    const { tabs } = await seen(page)
    if (tabs.split(',')[0]?.endsWith('README.md')) return
    await page.keyboard.press('Alt+Shift+PageUp')
  }
}

describe.each(['wide', 'phone'] as const)('%s', (where) => {
  it.runIf(isLong).each(['idle', 'waiting'] as const)('each shortcut does what the list says, %s', async (when) => {
    const page = await playground.sample(when === 'idle' ? 'price-list' : 'order-book', { storage: 'memory' })
    if (when === 'idle') await runTo(page, 'All tests pass.')
    else {
      await page.getByRole('button', { name: /^Approve a risky change/ }).click()
      await button(page, 'Approve the plan').click()
      await approval(page, 'edit_file').waitFor()
      await command(page, 'echo new > new.txt; echo ma""de', 'made')
    }
    if (where === 'phone') await becomePhone(page)
    if (where === 'phone' && when === 'waiting') await approvalBar(page).waitFor()
    const keys = await listed(page)
    expect(Object.keys(effects).sort()).toEqual(keys.toSorted())

    // A dialog takes all keys.
    const open = await seen(page)
    await page.evaluate(() => {
      const lets: string[] = []
      Object.assign(globalThis, { lets })
      addEventListener(
        'keydown',
        (event) => event.ctrlKey && event.key.length === 1 && !event.defaultPrevented && lets.push(event.key),
      )
    })
    for (const key of [...keys.filter((key) => key !== 'F1'), 'Ctrl s']) await press(page, key)
    // Nor does the browser save or print the page.
    expect(await page.evaluate(() => (globalThis as unknown as { lets: string[] }).lets)).toEqual([])
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect({ ...(await seen(page)), focus: '' }).toEqual({ ...open, focus: '' })
    await page.keyboard.press('Escape')

    for (const [key, effect] of Object.entries(effects)) {
      await goToReadme(page)
      const before = await seen(page)
      await press(page, key)
      await expect
        .poll(async () => effect(await seen(page), before, where, when), { ...patiently, message: key })
        .toBe(true)
    }
  })
})

it('Alt 6 on a phone where nothing waits does not open the next approval', async () => {
  const page = await playground.sample('order-book', { storage: 'memory' })
  await becomePhone(page)
  await page.keyboard.press('Alt+6')
  await page.getByRole('button', { name: /^Approve a risky change/ }).click()
  await approvalBar(page).getByText('Approve this plan?').waitFor()
  expect(await page.locator('.sheet.open').count()).toBe(0)
  await page.keyboard.press('Alt+6')
  await approval(page, 'submit_plan').waitFor()
})

it('what is closed by a key leaves the focus at what opened it, or at the next tab', async () => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  await command(page, 'echo rea""dy', 'ready')
  await show(page, 'Report')
  for (const path of ['README.md', 'src/price.js', 'src/format.js', 'package.json']) await openFile(page, path)
  const focusedText = () =>
    page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent)
  const closings: Readonly<Record<string, readonly [act: () => Promise<void>, expected: string]>> = {
    'the cross of a tab': [() => button(page, 'Close package.json').press('Enter'), 'format.js'],
    'Delete on a tab': [() => page.keyboard.press('Delete'), 'price.js'],
    'Alt W': [() => page.keyboard.press('Alt+w'), 'README.md'],
    'the panel': [() => button(page, 'Close the panel').press('Enter'), 'Files'],
    'the terminal': [() => button(page, 'Close the terminal').press('Enter'), 'Terminal'],
    'the last file': [() => button(page, 'Close README.md').press('Enter'), 'Terminal'],
    'the tab of a view': [() => button(page, 'Close Report').press('Enter'), 'Terminal'],
  }
  for (const [name, [act, expected]] of Object.entries(closings)) {
    await act()
    await expect.poll(focusedText, { timeout: 5_000, message: name }).toMatch(new RegExp(`${expected}$`))
  }
  await becomePhone(page)
  for (const tab of ['More', 'Agent']) {
    await button(page, tab).click()
    await page.keyboard.press('Alt+3')
    await button(page, 'Close the terminal').press('Enter')
    await expect.poll(focusedText, { timeout: 5_000, message: `the terminal on a phone, at ${tab}` }).toBe(tab)
  }
})
