import type { BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Playground, startPlayground } from './open.ts'
import { button, choose, command, importTexts, openFile, patiently, settled, switchProject, tab } from './person.ts'

/** Text that a person has typed and not saved survives every way of leaving it. */
let playground: Playground
let person: BrowserContext

beforeAll(async () => {
  playground = await startPlayground()
  person = await playground.person()
}, 240_000)

afterAll(() => playground?.close())

const path = 'src/price.js'
const line = 'a draft of mine'

/** Leaves the draft in one way and returns to the project, in the same page or another one. */
type Leave = (page: Page) => Promise<Page>

const newPage = async (query = ''): Promise<Page> => settled(await playground.open(person, query))
const stay =
  (act: (page: Page) => Promise<unknown>): Leave =>
  async (page) => {
    await act(page)
    return page
  }

const ways: Readonly<Record<string, Leave>> = {
  'closing the tab of the file': stay((page) => button(page, `Close ${path}`).click()),
  'opening another file': stay((page) => openFile(page, 'README.md')),
  'another view': stay((page) => tab(page, 'Report').click()),
  'opening another project': stay(async (page) => {
    await importTexts(page, 'other', { 'a.txt': 'a\n' })
    await switchProject(page, 'Price list')
  }),
  'a policy that hides the file': stay(async (page) => {
    await tab(page, 'Policy').click()
    await editorOfPolicy(page).click()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText('{ "preset": "autonomous", "deniedPaths": ["src"] }')
    await button(page, 'Apply').click()
    await page.getByText('The policy is applied').waitFor({ state: 'attached' })
  }),
  'another scenario on the project': stay((page) => choose(page, 'mend-a-test')),
  'going back in the history': stay(async (page) => {
    await button(page, 'One state back').click()
    await page.getByText('Restored the files').waitFor({ state: 'attached' })
  }),
  'a change of the file by somebody else': stay((page) =>
    command(page, `echo "// theirs" >> ${path}; echo do''ne`, 'done'),
  ),
  'the deletion of the file': stay((page) => command(page, `rm ${path}; echo go''ne`, 'gone')),
  'a reload': async (page) => {
    await page.reload()
    return settled(page)
  },
  'closing the page': async (page) => {
    await page.close()
    return newPage()
  },
  'a crash': async (page) => {
    // What was typed in the last moment before a crash is not saved yet.
    await page.waitForTimeout(600)
    const session = await person.newCDPSession(page)
    void session.send('Page.crash').catch(() => {})
    await page.waitForEvent('crash')
    const next = await newPage()
    await page.close()
    return next
  },
  'another page that takes the project over': async (page) => {
    const next = await newPage()
    await button(next, 'Take it over').click()
    await next.getByRole('button', { name: 'Run', exact: true }).waitFor()
    await expect.poll(() => button(next, 'Run').isEnabled(), patiently).toBe(true)
    await page.close()
    return next
  },
}

const editorOfPolicy = (page: Page) => page.getByRole('textbox', { name: 'Policy as JSON' })

it('the draft of a file survives every way of leaving it, and is shown as a draft', async () => {
  let page = await newPage('?sample=price-list&storage=opfs')
  // The history has a state to go back to.
  await command(page, 'echo 1 > one.txt; echo rea""dy', 'ready')
  await openFile(page, path)
  const lost: string[] = []
  let typed = 0
  for (const [way, leave] of Object.entries(ways)) {
    typed += 1
    // In a conflict, the right side is the person's text.
    const field = page.getByRole('textbox', { name: new RegExp(`^(Text of|Your text:) ${path}$`) })
    await field.click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.insertText(`// ${line}\n`)
    page = await leave(page)
    await tab(page, 'Editor').click()
    const reopened = page
      .getByRole('navigation')
      .or(page.locator('[data-path="src"], .file-tabs .name, .empty .button'))
    await reopened.first().waitFor()
    const name = page.locator('.file-tabs .name, .empty .button').filter({ hasText: 'price.js' })
    if ((await name.count()) === 0) {
      lost.push(`${way}: neither a tab nor a draft`)
      continue
    }
    await name.first().click()
    const shown = page.getByRole('textbox', { name: new RegExp(`^(Text of|Your text:) ${path}$`) })
    const text = (await shown.textContent().catch(() => '')) ?? ''
    if (text.split(line).length - 1 < typed) lost.push(`${way}: ${text.slice(0, 60)}`)
    if ((await page.getByText(/^(draft, not saved|conflict)$/).count()) === 0)
      lost.push(`${way}: is not shown as a draft`)
  }
  expect(lost).toEqual([])
}, 240_000)

it('a message and a policy that were typed and not sent survive other views, projects and a reload', async () => {
  let page = await newPage('?sample=price-list&storage=opfs')
  await page.getByRole('combobox', { name: 'Model', exact: true }).selectOption('endpoint')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('#composer').fill('a message of mine')
  await tab(page, 'Policy').click()
  await editorOfPolicy(page).click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText('{ "preset": "readOnly" }')
  const lost: string[] = []
  for (const way of ['another view', 'opening another project', 'a reload', 'closing the page'] as const) {
    await tab(page, 'Timeline').click()
    page = await (ways[way] as Leave)(page)
    await tab(page, 'Agent').click()
    if ((await page.locator('#composer').inputValue()) !== 'a message of mine') lost.push(`${way}: message`)
    await tab(page, 'Policy').click()
    if ((await editorOfPolicy(page).textContent())?.includes('readOnly') !== true) lost.push(`${way}: policy`)
  }
  expect(lost).toEqual([])
  expect(await page.locator('.page-header').textContent()).toContain('autonomous')
  await button(page, 'Discard draft').click()
  await expect.poll(() => editorOfPolicy(page).textContent(), patiently).toContain('autonomous')
}, 120_000)
