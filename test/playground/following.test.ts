import type { Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import {
  activity,
  applyPreset,
  approval,
  button,
  calls,
  changedText,
  choose,
  chooseOption,
  command,
  conversation,
  filesOnDisk,
  focusedName,
  openFile,
  patiently,
  prints,
  ready,
  says,
  show,
  stageTab,
  typeCommand,
} from './person.ts'
import { usePlayground } from './shared.ts'

/** The first screen starts a scenario, the stage follows the agent, and the end of a run says what it did. */
const playground = usePlayground()

const card = (page: Page, title: string) => page.getByRole('button', { name: new RegExp(`^${title}`) })
const endCard = (page: Page) => page.getByRole('region', { name: 'End of the run' })
const strip = (page: Page) => page.locator('.follow-strip')
const activeTab = (page: Page) => page.locator('.file-tabs .active .name').textContent()

/** Notes what the stage shows over time: active tabs, marked lines, differences and the terminal. */
async function watchStage(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(() => {
    const seen = new Set<string>()
    const all = { subtree: true, childList: true, attributes: true }
    const observer = new MutationObserver(() => look())
    const look = () => {
      const file = document.querySelector('.file-tabs .active .name')?.getAttribute('title') ?? ''
      seen.add(file)
      const work = document.querySelector('.stage [slot="marks"]')?.textContent ?? ''
      const root = document.querySelector('wardspace-editor')?.shadowRoot
      if (root) observer.observe(root, all)
      if (root?.querySelector('.cm-followed')) seen.add(`${file}: ${work}`)
      for (const changed of root?.querySelectorAll('.cm-insertedLine, .cm-changedLine') ?? [])
        seen.add(`${file}: ${changed.textContent?.trim()}`)
      if (document.querySelector('.terminal-place') !== null) seen.add('terminal')
    }
    Object.assign(globalThis, { seen })
    observer.observe(document.body, all)
  })
  return () => page.evaluate(() => [...(globalThis as unknown as { seen: Set<string> }).seen])
}

describe('the first screen', () => {
  let page: Page

  beforeAll(async () => {
    page = await playground.sample('price-list', { storage: 'memory' })
  })

  it.runIf(isLong)('leads to the settings of a model and to the projects', async () => {
    const settings = page.getByRole('dialog', { name: 'Settings' })
    await button(page, 'Settings').click()
    await settings.getByRole('button', { name: 'Use my own model' }).click()
    await expect.poll(() => focusedName(page), patiently).toBe('Provider')
    await page.keyboard.press('Escape')
    await expect.poll(() => focusedName(page), patiently).toBe('Settings')
    await button(page, 'Use my own model').press('Enter')
    await settings.getByLabel('Address').waitFor()
    await page.keyboard.press('Escape')
    await page.locator(':focus').filter({ hasText: 'Use my own model' }).waitFor()
    await button(page, 'Open my project').click()
    await page.getByRole('dialog', { name: 'Projects' }).waitFor()
    await page.keyboard.press('Escape')
  })

  it.runIf(isLong)('starts a scenario by the keyboard, and again on the files as they were', async () => {
    for (let run = 0; run < 2; run++) {
      await button(page, 'Wardspace').press('Enter')
      await card(page, 'Mend a failing test').press('Enter')
      await says(page, 'All tests pass. The cause was line 4')
      await endCard(page).waitFor()
    }
    // Two runs of six calls, and the way back to the first files between them.
    await show(page, 'Timeline')
    await expect.poll(() => calls(page).count(), patiently).toBe(13)
    await endCard(page).waitFor()
  })

  it.runIf(isLong)('starts a scenario on another project by one press', async () => {
    await button(page, 'Wardspace').click()
    await card(page, 'Keep a secret').click()
    await says(page, 'I may not write to the page')
    await endCard(page).waitFor()
  })

  it.runIf(isLong)(
    'starts a scenario beside a project with changes or a policy of the person, which keeps them',
    async () => {
      await chooseOption(page, 'Model', 'scripted')
      await choose(page, 'mend-a-test')
      await show(page, 'Files')
      await typeCommand(page, 'echo mine > mine.txt')
      await page.locator('[data-path="mine.txt"]').waitFor()
      await applyPreset(page, 'readOnly')
      await button(page, 'Wardspace').click()
      await card(page, 'Mend a failing test').click()
      const kept = page.getByText(
        '“Price list” keeps your changes and your policy. The scenario runs in another project',
      )
      await kept.waitFor()
      await says(page, 'All tests pass. The cause was line 4')
      await button(page, 'Back to Price list').click()
      await show(page, 'Files')
      await page.locator('[data-path="mine.txt"]').waitFor()
      expect(await kept.count()).toBe(0)
      const policy = page.locator('.status-line').getByText('readOnly')
      await policy.waitFor()
      // Chosen in a list, the scenario asks.
      for (const scenario of ['rename-across-files', 'mend-a-test']) await choose(page, scenario)
      await page.getByText('This scenario uses its own policy: autonomous. Yours stays: readOnly.').waitFor()
      expect(await policy.count()).toBe(1)
      await button(page, 'Use its policy').click()
      await page.locator('.status-line').getByText('autonomous').waitFor()
    },
  )
})

describe('the stage', () => {
  it('follows the agent: the lines that it reads, its edit as a difference, its commands in the terminal', async () => {
    const page = await playground.sample('price-list', { storage: 'memory', motion: 'no-preference' })
    const seen = await watchStage(page)
    await card(page, 'Mend a failing test').click()
    await endCard(page).waitFor()
    const shown = await seen()
    expect(shown).toEqual(
      expect.arrayContaining([
        'terminal',
        'src/price.js',
        'src/price.js: the agent reads lines 1–10',
        'src/price.js: return Math.round((cents * (100 - percent)) / 100)',
      ]),
    )
    await prints(page, 'agent $ npm test')
    await prints(page, 'pass 6')
    // What the agent edited last stays in view.
    expect(await changedText(page).allInnerTexts()).toContain('round')

    const takenBack = page.getByText('The changes of the run before were taken back. The history has them.')
    expect(await takenBack.count()).toBe(0)
    await button(page, 'Wardspace').click()
    await card(page, 'Mend a failing test').click()
    await takenBack.waitFor({ timeout: 20_000 })
  })

  it.runIf(isLong)(
    'shows an edit as a difference while it waits for approval, and the answer brings the file back',
    async () => {
      const page = await playground.sample('order-book', { storage: 'memory' })
      await card(page, 'Approve a risky change').click()
      await button(page, 'Approve the plan').click()
      await approval(page, 'edit_file').waitFor()
      expect(await activeTab(page)).toBe('Approval')
      await approval(page, 'edit_file').getByRole('button', { name: 'Approve', exact: true }).click()
      await approval(page, 'edit_file').getByText('src/table.js').first().waitFor()
      await button(page, 'Stop').click()
      await expect.poll(() => activeTab(page), patiently).not.toBe('Approval')
    },
  )

  it.runIf(isLong)('does not drag away a person who goes elsewhere, until the person follows again', async () => {
    const page = await playground.sample('order-book', { storage: 'memory' })
    await card(page, 'Approve a risky change').click()
    await approval(page, 'submit_plan').waitFor()
    await openFile(page, 'README.md')
    await button(page, 'Show the approval').click()
    await button(page, 'Approve the plan').click()
    await stageTab(page, 'README.md').click()
    await button(page, 'Show the approval').waitFor()
    expect(await activeTab(page)).toContain('README.md')
    expect(await strip(page).textContent()).toContain('The agent works')
    await button(page, 'Follow the agent').click()
    await approval(page, 'edit_file').waitFor()
    expect(await activeTab(page)).toBe('Approval')
    await button(page, 'Stop').click()
  })

  it.runIf(isLong)('stays where it is while following is switched off, also in the next run', async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    await openFile(page, 'README.md')
    await page.keyboard.press('Alt+9')
    for (let run = 0; run < 2; run++) {
      await button(page, 'Run').click()
      await expect.poll(() => page.locator('.said.person').count(), patiently).toBe(run + 1)
      await ready(page)
      expect(await activeTab(page)).toContain('README.md')
      expect(await page.locator('.terminal-place').count()).toBe(0)
    }
  })
})

describe('the end of a run', () => {
  let page: Page
  const number = async (text: RegExp) =>
    Number(/^\d+/.exec((await endCard(page).getByRole('listitem').filter({ hasText: text }).textContent()) ?? '')?.[0])

  beforeAll(async () => {
    page = await playground.sample('price-list')
    await card(page, 'Mend a failing test').click()
    await endCard(page).waitFor()
  })

  it('has the numbers of the report, and the tests before and after', async () => {
    expect(await endCard(page).textContent()).toMatch(/4\/6 → 6\/6\s*tests pass/)
    expect([await number(/changed/), await number(/blocked/)]).toEqual([1, 0])
    await endCard(page).getByRole('button', { name: 'Report' }).click()
    await page.getByRole('cell', { name: '1 file changed, +1 -1' }).waitFor()
    await page.getByText('Nothing forbidden was tried.').waitFor()
  })

  it.runIf(isLong)('has the numbers of its turn alone, and takes back no more', async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    await card(page, 'Mend a failing test').click()
    // An earlier turn keeps its card.
    const last = endCard(page).last()
    await last.getByText('4/6 → 6/6').waitFor()
    await button(page, 'Run').click()
    await expect.poll(() => page.locator('.said.person').count(), patiently).toBe(2)
    await ready(page)
    const text = () => last.textContent()
    await expect.poll(text, patiently).toMatch(/0\s*files changed/)
    expect(await text()).toMatch(/[^→] ?6\/6\s*tests pass/)
    expect(await last.getByRole('button').allTextContents()).toEqual([' Report'])
    // A later turn that changes something takes back only that.
    await command(page, 'sed -i 4s/round/floor/ src/price.js; echo br""oken', 'broken')
    await button(page, 'Run').click()
    await expect.poll(() => page.locator('.said.person').count(), patiently).toBe(3)
    await ready(page)
    await last.getByText('4/6 → 6/6').waitFor()
    await last.getByRole('button', { name: 'Take it back' }).click()
    await expect.poll(text, patiently).toMatch(/1\s*file is as before.*6\/6\s*tests passed in the run/)
    await command(page, 'echo flo""ors $(grep -c floor src/price.js)', 'floors 1')
  })

  it.runIf(isLong)('leads to the changes, and takes them back', async () => {
    await endCard(page).getByRole('button', { name: 'Review changes' }).click()
    await page.getByText('1 file has changed since the project').waitFor()
    await command(page, 'echo // mine >> src/price.js; mv README.md READ.md; echo do""ne', 'done')
    // A renamed file is one change, wherever changes are counted.
    await page.getByText('2 files have changed since the project').waitFor()
    expect(await page.getByRole('button', { name: '2 changes' }).count()).toBe(1)
    expect(await activity(page, 'Changes').textContent()).toContain('2')
    // What the person did after the run is never lost.
    await endCard(page).getByRole('button', { name: 'Take it back' }).click()
    await endCard(page).getByText('“src/price.js” has also changed since the run').waitFor()
    await command(page, 'sed -i "/mine/d" src/price.js; echo cl""ean', 'clean')
    await endCard(page).getByRole('button', { name: 'Take it back' }).click()
    await page.getByText('1 file has changed since the project').waitFor()
    expect((await filesOnDisk(page))['READ.md']).toBeDefined()
    await command(page, 'mv READ.md README.md; echo ba""ck', 'back')
    await show(page, 'Changes')
    await page.getByText('Nothing has changed since').waitFor()
    // The file is shown as it is now, not as a change that is taken back.
    await stageTab(page, 'price.js').click()
    await expect.poll(() => page.locator('.stage [slot="marks"]').count()).toBe(0)
    await expect.poll(() => endCard(page).getByRole('button', { name: 'Take it back' }).isDisabled()).toBe(true)
  })

  it('counts each attempt that was refused, as the report and the agent do', async () => {
    await button(page, 'Wardspace').click()
    await card(page, 'Watch an attack fail').click()
    await says(page, '7 of them were refused.')
    await endCard(page).waitFor()
    expect([await number(/changed/), await number(/blocked/)]).toEqual([0, 7])
    // Each is a card that says what was blocked. The model's text is behind a press.
    const refusals = conversation(page).getByRole('article')
    expect(await refusals.count()).toBe(7)
    for (const text of await refusals.getByRole('heading').allTextContents()) expect(text).toMatch(/^\s*Blocked: /)
    expect(await conversation(page).getByText('POLICY_DENIED').first().isVisible()).toBe(false)
    await show(page, 'Report')
    const forbidden = page.locator('.report table').filter({ hasText: 'rules' }).first().getByRole('row')
    const ids = await forbidden.evaluateAll((rows) => rows.slice(1).map((row) => row.firstElementChild?.textContent))
    expect(new Set(ids).size).toBe(7)
  })
})
