import type { BrowserContext, Locator, Page } from 'playwright'
import { beforeAll, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import {
  applyPolicy,
  button,
  choose,
  chooseOption,
  command,
  importFiles,
  message,
  openedFiles,
  openFile,
  ownText,
  patiently,
  policyText,
  ready,
  reload,
  replaceText,
  settled,
  show,
  shows,
  stores,
  switchProject,
} from './person.ts'
import { usePlayground } from './shared.ts'

/** Text that a person has typed and not saved survives every way of leaving it. */
const playground = usePlayground()
let person: BrowserContext

beforeAll(async () => {
  // The context of a page of earlier tests has what the pages load.
  person = (await playground.open(undefined, 'icon.svg')).context()
})

const path = 'src/price.js'
const line = 'a draft of mine'

/** Ways of which `npm test` tries another one of the kind: in the page, of the history, by a new page. */
const longOnly = [
  'closing the tab of the file',
  'another view',
  'opening another project',
  'a policy that hides the file',
  'another scenario on the project',
  'going back in the history',
  'the deletion of the file',
  'closing the page',
]

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
  'another view': stay((page) => show(page, 'Report')),
  'opening another project': stay(async (page) => {
    await importFiles(page, 'other', { 'a.txt': 'a\n' })
    await switchProject(page, 'Price list')
  }),
  'a policy that hides the file': stay((page) =>
    applyPolicy(page, () => replaceText(page, policyText(page), '{ "preset": "autonomous", "deniedPaths": ["src"] }')),
  ),
  'another scenario on the project': stay((page) => choose(page, 'mend-a-test')),
  'going back in the history': stay(async (page) => {
    await button(page, 'One state back').click()
    await button(page, 'Go back to here').click()
    await page.getByText('Restored the files').waitFor({ state: 'attached' })
  }),
  'a change of the file by somebody else': stay((page) =>
    command(page, `echo "// theirs" >> ${path}; echo do''ne`, 'done'),
  ),
  'the deletion of the file': stay((page) => command(page, `rm ${path}; echo go''ne`, 'gone')),
  'a reload': stay(reload),
  'closing the page': async (page) => {
    await page.close()
    return newPage()
  },
  'a crash': async (page) => {
    // What was typed in the last moment before a crash is not stored yet.
    const typed = ((await ownText(page, path).textContent()) ?? '').split(line).length - 1
    await stores(page, `// ${line}\\n`.repeat(typed))
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
    await ready(next)
    await page.close()
    return next
  },
}

it('the draft of a file survives every way of leaving it, and is shown as a draft', async () => {
  let page = await newPage('?sample=price-list&storage=opfs')
  // The history has a state to go back to.
  await command(page, 'echo 1 > one.txt; echo rea""dy', 'ready')
  await openFile(page, path)
  const lost: string[] = []
  let typed = 0
  for (const [way, leave] of Object.entries(ways)) {
    if (!isLong && longOnly.includes(way)) continue
    typed += 1
    await ownText(page, path).click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.insertText(`// ${line}\n`)
    page = await leave(page)
    await show(page, 'Editor')
    await page.getByRole('navigation').or(page.locator('[data-path="src"]')).or(openedFiles(page)).first().waitFor()
    const name = openedFiles(page).filter({ hasText: 'price.js' })
    if ((await name.count()) === 0) {
      lost.push(`${way}: neither a tab nor a draft`)
      continue
    }
    await name.first().click()
    const text =
      (await ownText(page, path)
        .textContent()
        .catch(() => '')) ?? ''
    if (text.split(line).length - 1 < typed) lost.push(`${way}: ${text.slice(0, 60)}`)
    if ((await page.getByText(/^(draft, not saved|conflict)$/).count()) === 0)
      lost.push(`${way}: is not shown as a draft`)
  }
  expect(lost).toEqual([])
}, 240_000)

it('what a press takes out of a text comes back by Undo and by Ctrl+Z, also after a reload', async () => {
  const page = await playground.sample('price-list')
  const field = await openFile(page, 'README.md')
  const comesBack = async (text: Locator, drop: () => Promise<void>, undo: () => Promise<void>) => {
    await drop()
    await expect.poll(() => text.textContent(), patiently).not.toContain(line)
    await undo()
    await shows(() => text.textContent(), line)
  }
  const undoByKeys = (text: Locator) => async () => {
    await text.click()
    await page.keyboard.press('Control+z')
  }
  await field.click()
  await page.keyboard.insertText(line)
  await stores(page, line)
  await reload(page)
  const revert = () => button(page, 'Revert').click()
  await comesBack(field, revert, () => button(page, 'Undo').click())
  await comesBack(field, revert, undoByKeys(field))
  await show(page, 'Policy')
  const policy = policyText(page)
  await replaceText(page, policy, `{ "preset": "readOnly", "${line}": 1 }`)
  await comesBack(policy, () => button(page, 'Discard').click(), undoByKeys(policy))
  await comesBack(policy, () => chooseOption(page, 'Begin with', 'autonomous'), undoByKeys(policy))
})

it.runIf(isLong)(
  'a message and a policy that were typed and not sent survive other views, projects and a reload',
  async () => {
    let page = await newPage('?sample=price-list&storage=opfs')
    await chooseOption(page, 'Model', 'endpoint')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await message(page).fill('a message of mine')
    await show(page, 'Policy')
    await replaceText(page, policyText(page), '{ "preset": "readOnly" }')
    const lost: string[] = []
    const left = ['opening another project', 'a reload', ...(isLong ? ['another view', 'closing the page'] : [])]
    for (const way of left) {
      await show(page, 'Timeline')
      page = await (ways[way] as Leave)(page)
      await show(page, 'Agent')
      if ((await message(page).inputValue()) !== 'a message of mine') lost.push(`${way}: message`)
      await show(page, 'Policy')
      if ((await policyText(page).textContent())?.includes('readOnly') !== true) lost.push(`${way}: policy`)
    }
    expect(lost).toEqual([])
    expect(await page.locator('.status-line').textContent()).toContain('autonomous')
    await button(page, 'Discard').click()
    await shows(() => policyText(page).textContent(), 'autonomous')
  },
)
