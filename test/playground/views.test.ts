import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Playground, startPlayground } from './open.ts'

let playground: Playground

beforeAll(async () => {
  playground = await startPlayground()
}, 240_000)

afterAll(() => playground?.close())

/** Opens a page with a sample in memory. */
async function openSample(sample: string): Promise<Page> {
  const page = await playground.open(undefined, `?storage=memory&sample=${sample}`)
  await page.getByRole('treeitem').first().waitFor()
  return page
}

/** Opens a file in the tree. Returns its text field in the editor. */
async function openFile(page: Page, ...names: readonly string[]) {
  for (const name of names) await page.getByRole('treeitem', { name }).first().click()
  const text = page.getByRole('textbox', { name: `Text of ${names.join('/')}` })
  await text.waitFor()
  return text
}

/** Starts the scenario of the sample. */
async function run(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click()
}

const goes = { timeout: 30_000 }

it('the agent repairs a failing test, and the slider undoes and redoes its change', async () => {
  const page = await openSample('price-list')
  const editor = await openFile(page, 'src', 'price.js')
  await expect.poll(() => editor.textContent()).toContain('Math.floor')
  await run(page)
  await page.getByText('All tests pass.').waitFor()
  await expect.poll(() => editor.textContent(), goes).toContain('Math.round((cents * (100')

  await page.getByRole('tab', { name: 'Timeline' }).click()
  const calls = page.getByRole('listbox', { name: 'Timeline of calls' }).getByRole('option')
  await expect.poll(() => calls.count(), goes).toBe(6)
  expect(await calls.first().textContent()).toContain('exit 1')
  expect(await calls.last().textContent()).toContain('allowed')

  // The diff of the edit, and the result for the model.
  await calls.nth(4).click()
  const call = page.getByRole('region', { name: 'Call 5' })
  await expect.poll(() => call.locator('.cm-changedText').allInnerTexts(), goes).toContain('floor')

  await page.getByRole('tab', { name: 'Editor' }).click()
  const slider = page.getByRole('slider', { name: 'State of the files' })
  for (const [key, text] of [
    ['Home', 'Math.floor'],
    ['End', 'Math.round((cents * (100'],
  ] as const) {
    await expect.poll(() => slider.isEnabled(), goes).toBe(true)
    await slider.focus()
    await page.keyboard.press(key)
    await expect.poll(() => editor.textContent(), goes).toContain(text)
  }
  await page.context().close()
})

it('a file that changed while it was edited is shown with both texts, and nothing is lost', async () => {
  const page = await openSample('price-list')
  const editor = await openFile(page, 'README.md')
  await editor.click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('Mine.\n')
  // The shell changes the file while it is edited.
  const terminal = page.getByRole('textbox', { name: 'Terminal input' })
  await terminal.focus()
  await page.keyboard.type('echo theirs > README.md\n')
  await page.getByText('has changed since you opened it').waitFor()
  const sides = page.locator('.cm-mergeView .cm-content')
  await expect.poll(() => sides.first().textContent(), goes).toContain('theirs')
  expect(await sides.last().textContent()).toContain('Mine.')
  await page.getByRole('button', { name: 'Save the right side' }).click()
  await expect.poll(() => editor.textContent(), goes).toContain('Mine.')
  expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
  await terminal.focus()
  await page.keyboard.type('head -n 1 README.md; cat nothing\n')
  await expect.poll(() => page.locator('.xterm-rows').textContent(), goes).toMatch(/Mine\.[\s\S]*No such file/)
  await page.keyboard.type('git init -q && git add . && git commit -qm first && git log --oneline | cut -c 9-\n')
  await expect.poll(() => page.locator('.xterm-rows').textContent(), goes).toMatch(/cut -c 9-\s*first/)
  await page.context().close()
})

it('the user approves a plan and its changes on cards, and refuses one with a reason', async () => {
  const page = await openSample('order-book')
  await run(page)
  const plan = page.getByRole('article', { name: 'Approval of submit_plan' })
  expect(await plan.textContent()).toContain('pad-lines')
  await plan.getByRole('button', { name: 'Approve the plan' }).click()
  const edit = page.getByRole('article', { name: 'Approval of edit_file' })
  await edit
    .getByRole('region', { name: 'Preview of the change' })
    .getByText("-import { padLeft } from 'pad-lines'")
    .waitFor()
  await edit.getByRole('button', { name: 'Refuse…' }).click()
  await page.keyboard.type('leave the day alone')
  await page.keyboard.press('Enter')
  await page.getByText('leave the day alone').first().waitFor()
  await page.getByText('APPROVAL_DENIED').waitFor()
  expect(await page.getByRole('tab', { name: 'Changes' }).textContent()).toBe('Changes')
  await page.context().close()
})

it('the tools are offered to the browser’s own agent if the user chooses so, and ask for approval on cards', async () => {
  const page = await openSample('order-book')
  /** Acts as the browser's agent. */
  const agent = (script: string) => page.evaluate(`(async (agent) => ${script})(navigator.modelContextTesting)`)
  const tools = () => agent('agent.listTools().map(({ name }) => name)')
  expect(await tools()).toEqual([])
  await page.getByRole('button', { name: 'Settings' }).click()
  const offer = page.getByRole('checkbox', { name: /Offer this project’s tools/ })
  await offer.check()
  await expect.poll(tools, goes).toContain('submit_plan')
  await page.keyboard.press('Escape')
  const approved = agent(`agent.executeTool('submit_plan', '{"plan":"Mend it"}')`)
  await page.getByRole('button', { name: 'Approve the plan' }).click()
  expect(await approved).toContain('The plan is approved')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  const calls = page.getByRole('listbox', { name: 'Timeline of calls' }).getByRole('option')
  await expect.poll(() => calls.last().textContent(), goes).toMatch(/submit_plan.*browser|browser.*submit_plan/)
  await page.getByRole('button', { name: 'Settings' }).click()
  await offer.uncheck()
  await expect.poll(tools, goes).toEqual([])
  await page.context().close()
})

it('the policy shows its verdict while it is edited, applies at once, and never locks the owner out', async () => {
  const page = await openSample('price-list')
  const editor = await openFile(page, 'README.md')
  await page.getByRole('tab', { name: 'Policy' }).click()
  const answer = page.getByRole('region', { name: 'Verdict of this policy' }).getByRole('status')
  await expect.poll(() => answer.textContent(), goes).toContain('it is an environment file')
  await page.getByLabel('Path').fill('src/price.js')
  await expect.poll(() => answer.textContent(), goes).toMatch(/^allow/)
  await page.getByLabel('Begin with').selectOption('readOnly')
  await page.getByLabel('May an agent').selectOption('write')
  await expect.poll(() => answer.textContent(), goes).toContain('READ_ONLY')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('button', { name: 'Policy readOnly' }).waitFor()

  await page.getByRole('tab', { name: 'Editor' }).click()
  await editor.click()
  await page.keyboard.type('The owner was here. ')
  await page.keyboard.press('Control+s')
  await page.getByRole('tab', { name: /Changes/ }).click()
  await page.getByRole('option', { name: 'README.md' }).waitFor()

  await page.getByRole('tab', { name: 'Report' }).click()
  await page.getByRole('button', { name: 'Verify audit' }).click()
  await page.getByText(/The chain of \d+ records is intact/).waitFor()
  await page.context().close()
})

it('a replayed recording has the same results', async () => {
  const page = await openSample('price-list')
  await page.getByRole('tab', { name: 'Report' }).click()
  await page.getByRole('button', { name: 'Record from here' }).click()
  await page.getByRole('button', { name: /Stop \(0/ }).waitFor()
  await page.getByRole('textbox', { name: 'Terminal input' }).focus()
  await page.keyboard.type('sed -i s/price/cost/ README.md\n')
  await page.getByRole('button', { name: /Stop \([1-9]/ }).click()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText(/Replayed: all \d+ steps had the same result/).waitFor()
  await page.context().close()
})

it('the keyboard reaches files, editor, agent, timeline, call, search and help', async () => {
  const page = await openSample('price-list')
  const focused = () =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.id)
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await press('Alt+1')
  await expect.poll(focused, goes).toBe('Project files')
  await press('Home', 'ArrowRight')
  await page.getByRole('treeitem', { name: 'price.js' }).waitFor()
  await press('ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter')
  const editor = page.getByRole('textbox', { name: 'Text of src/price.js' })
  await editor.waitFor()
  await press('Alt+2')
  await expect.poll(focused, goes).toBe('Text of src/price.js')
  await page.keyboard.type('// typed\n')
  await press('Control+s')
  await page.getByRole('treeitem', { name: /price\.js.*changed/ }).waitFor()
  // Tab indents in the editor. After Escape, it moves the focus.
  await press('Escape', 'Tab')
  await expect.poll(focused, goes).not.toBe('Text of src/price.js')

  await press('Alt+4')
  await expect.poll(focused, goes).toBe('Message to the agent')
  await press('Enter')
  await page.getByText('To try now').waitFor()
  await press('Alt+5')
  await expect.poll(focused, goes).toBe('Timeline of calls')
  await press('End', 'Enter')
  await page.getByRole('heading', { name: 'What really happened' }).waitFor()
  await press('Control+p')
  await expect.poll(focused, goes).toBe('Search files and text')
  await page.keyboard.type('taxOf')
  await page
    .getByRole('option', { name: /src\/price\.js/ })
    .first()
    .waitFor()
  await press('F1')
  await page.getByRole('dialog', { name: 'Keys and marks' }).waitFor()
  await press('Escape')
  await expect.poll(focused, goes).toBe('Search files and text')
  await press('Alt+8')
  await expect.poll(focused, goes).toBe('history')
  // A key press immediately after the dialog closes is not lost.
  await press('F1')
  await page.getByRole('dialog', { name: 'Keys and marks' }).waitFor()
  await page.evaluate(() => {
    document.querySelector<HTMLDialogElement>('dialog[open]')?.close()
    const key = { key: '5', code: 'Digit5', altKey: true, bubbles: true, cancelable: true }
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', key))
  })
  await expect.poll(focused, goes).toBe('Timeline of calls')
  await page.context().close()
})
