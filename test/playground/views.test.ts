import { expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import {
  activity,
  approval,
  button,
  calls,
  changedText,
  choose,
  chooseOption,
  command,
  focusedName,
  openFile,
  patiently,
  prints,
  ready,
  run,
  runTo,
  says,
  show,
  shows,
  slider,
  stageTab,
  typeCommand,
} from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

const openSample = (id: string) => playground.sample(id, { storage: 'memory' })

it.runIf(isLong)('the agent repairs a failing test, and the history shows its change and takes it back', async () => {
  const page = await openSample('price-list')
  const editor = await openFile(page, 'src/price.js')
  await expect.poll(() => editor.textContent()).toContain('Math.floor')
  await run(page)
  await says(page, 'All tests pass.')
  // The stage has followed the agent and shows the difference. A press on the tab shows the text.
  await expect.poll(() => changedText(page).allInnerTexts(), patiently).toContain('round')
  await stageTab(page, 'price.js').click()
  await shows(() => editor.textContent(), 'Math.round((cents * (100')

  await show(page, 'Timeline')
  await expect.poll(() => calls(page).count(), patiently).toBe(6)
  expect(await calls(page).first().textContent()).toContain('exit 1')
  expect(await calls(page).last().textContent()).toContain('allowed')

  // The diff of the edit, and the result for the model.
  await calls(page).nth(4).click()
  const call = page.getByRole('region', { name: 'Call 5' })
  await expect.poll(() => changedText(call).allInnerTexts(), patiently).toContain('floor')

  await show(page, 'Editor')
  const past = page.getByRole('textbox', { name: 'src/price.js as it was' })
  const presses = async (key: string) => {
    await slider(page).focus()
    await page.keyboard.press(key)
  }
  // Looking changes nothing: no call is made.
  await presses('Home')
  await shows(() => past.textContent(), 'Math.floor')
  expect(await past.getAttribute('aria-readonly')).toBe('true')
  expect(await slider(page).getAttribute('aria-valuetext')).toBe('1 of 2: As it was opened')
  await presses('End')
  await shows(() => editor.textContent(), 'Math.round((cents * (100')
  await presses('Home')
  await past.waitFor()
  await page.keyboard.press('Escape')
  await editor.waitFor()
  expect(await focusedName(page)).toBe('State of the files')
  expect(await calls(page).count()).toBe(6)

  for (const [key, text, state] of [
    ['Home', 'Math.floor', '1 of 2'],
    ['End', 'Math.round((cents * (100', '2 of 2'],
  ] as const) {
    await presses(key)
    await button(page, 'Go back to here').waitFor()
    await page.keyboard.press('Enter')
    expect(await focusedName(page)).toBe('go-back')
    await page.keyboard.press('Enter')
    await shows(() => editor.textContent(), text)
    expect(await slider(page).getAttribute('aria-valuetext')).toContain(state)
    expect(await focusedName(page)).toBe('State of the files')
  }
  await expect.poll(() => calls(page).count(), patiently).toBe(8)
})

it('a file that changed while it was edited is shown with both texts, and nothing is lost', async () => {
  const page = await openSample('price-list')
  const editor = await openFile(page, 'README.md')
  await editor.click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('Mine.\n')
  // The shell changes the file while it is edited.
  await typeCommand(page, 'echo theirs > README.md')
  await page.getByText('README.md has been changed by a command or action of yours since you opened it').waitFor()
  const sides = page.locator('.cm-mergeView .cm-content')
  await shows(() => sides.first().textContent(), 'theirs')
  expect(await sides.last().textContent()).toContain('Mine.')
  await page.getByRole('button', { name: 'Save my text' }).click()
  await shows(() => editor.textContent(), 'Mine.')
  expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
  await editor.click()
  await page.keyboard.type('More.')
  await typeCommand(page, 'rm README.md; exit')
  await page.getByText('README.md has been deleted by a command or action of yours since you opened it').waitFor()
  await page.getByRole('button', { name: 'Save it as a new file' }).click()
  await command(page, 'exit', 'This terminal does not end')
  await command(page, 'head -n 1 README.md; cat nothing', /Mine\.[\s\S]*No such file/)
  await command(
    page,
    'git init -q && git add . && git commit -qm first && git log --oneline | cut -c 9-',
    /cut -c 9-\s*first/,
  )
})

it('the user approves a plan and its changes on cards, and refuses one with a reason', async () => {
  const page = await openSample('order-book')
  await run(page)
  const plan = approval(page, 'submit_plan')
  expect(await plan.textContent()).toContain('pad-lines')
  await plan.getByRole('button', { name: 'Approve the plan' }).click()
  const edit = approval(page, 'edit_file')
  await edit
    .getByRole('region', { name: 'Preview of the change' })
    .getByText("-import { padLeft } from 'pad-lines'")
    .waitFor()
  expect(await edit.locator('.coverage').textContent()).toBe(
    '“For this run” covers: edit a file, src/day.js only, until the run ends.',
  )
  await edit.getByRole('button', { name: 'Refuse…' }).click()
  await page.keyboard.type('leave the day alone')
  await page.keyboard.press('Enter')
  await page.getByText('leave the day alone').first().waitFor()
  await page.getByText('Show what the model was told').last().click()
  await page.getByText('APPROVAL_DENIED').waitFor()
  expect(await activity(page, 'Changes').textContent()).toBe('')
})

it.runIf(isLong)(
  'the tools are offered to the browser’s own agent if the user chooses so, and ask for approval on cards',
  async () => {
    const page = await openSample('order-book')
    /** Acts as the browser's agent. */
    const agent = (script: string) => page.evaluate(`(async (agent) => ${script})(navigator.modelContextTesting)`)
    const tools = () => agent('agent.listTools().map(({ name }) => name)')
    expect(await tools()).toEqual([])
    await page.getByRole('button', { name: 'Settings' }).click()
    const offer = page.getByRole('checkbox', { name: /Offer this project’s tools/ })
    await offer.check()
    await expect.poll(tools, patiently).toContain('submit_plan')
    await page.keyboard.press('Escape')
    const approved = agent(`agent.executeTool('submit_plan', '{"plan":"Mend it"}')`)
    await page.getByRole('button', { name: 'Approve the plan' }).click()
    expect(await approved).toContain('The plan is approved')
    await show(page, 'Timeline')
    await shows(() => calls(page).last().textContent(), /submit_plan.*browser|browser.*submit_plan/)
    await page.getByRole('button', { name: 'Settings' }).click()
    await offer.uncheck()
    await expect.poll(tools, patiently).toEqual([])
  },
)

it.runIf(isLong)(
  'the policy shows its verdict while it is edited, applies at once, and never locks the owner out',
  async () => {
    const page = await openSample('price-list')
    const editor = await openFile(page, 'README.md')
    await show(page, 'Policy')
    const answer = page.getByRole('region', { name: 'Verdict of this policy' }).getByRole('status')
    await shows(() => answer.textContent(), 'it is an environment file')
    await page.getByLabel('Path').fill('src/price.js')
    await shows(() => answer.textContent(), /^ ?Allowed/)
    await chooseOption(page, 'Begin with', 'readOnly')
    await chooseOption(page, 'May an agent', 'write_file')
    await shows(() => answer.textContent(), 'READ_ONLY')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Policy readOnly' }).waitFor()

    await show(page, 'Editor')
    await editor.click()
    await page.keyboard.type('The owner was here. ')
    await page.keyboard.press('Control+s')
    await show(page, 'Changes')
    await page.getByRole('tree', { name: 'Changed files' }).getByRole('treeitem', { name: 'README.md' }).waitFor()

    await show(page, 'Report')
    await page.getByRole('button', { name: 'Verify audit' }).click()
    await page.getByText(/The chain of \d+ records is intact/).waitFor()
  },
)

it.runIf(isLong)('a key for a view without anything to focus takes no focus later', async () => {
  const page = await openSample('price-list')
  const press = (key: string) => page.keyboard.press(key)
  await choose(page, 'drop-a-dependency')
  await press('Alt+4')
  await expect.poll(() => focusedName(page), patiently).toBe('Message to the agent')
  // No question is asked yet, and no call is made.
  await press('Alt+6')
  await press('Enter')
  await approval(page, 'submit_plan').waitFor()
  await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 50)))
  expect(await focusedName(page)).toBe('Message to the agent')
})

it.runIf(isLong)(
  'the focus goes to what comes next: a chosen scenario, one question after the other, the run of a card',
  async () => {
    const page = await openSample('price-list')
    const focused = () => focusedName(page)
    await choose(page, 'drop-a-dependency')
    await expect.poll(focused, patiently).toBe('Scenario')
    await run(page)
    await approval(page, 'submit_plan').waitFor()
    await page.keyboard.press('Alt+6')
    for (const tool of ['submit_plan', 'edit_file']) {
      await expect.poll(focused, patiently).toBe(`Approval of ${tool}`)
      await page
        .getByRole('button', { name: /^Approve( the plan)?$/ })
        .first()
        .click({ trial: true })
      await page.keyboard.press('a')
    }
    await expect.poll(() => page.getByRole('article').getByText('src/table.js').count(), patiently).toBeGreaterThan(0)
    await expect.poll(focused, patiently).toBe('Approval of edit_file')
    await button(page, 'Stop').click()
    await ready(page)
    await stageTab(page, 'Start').click()
    await page.getByRole('button', { name: /^Mend a failing test/ }).focus()
    // The second press starts nothing.
    await Promise.all([page.keyboard.press('Enter'), page.keyboard.press('Enter')])
    await says(page, 'I run the tests')
    expect(await page.getByRole('list', { name: 'Messages that wait' }).count()).toBe(0)
    await page.getByRole('region', { name: 'End of the run' }).waitFor()
    expect(await focused()).toBe('Message to the agent')
    await button(page, 'Review changes').press('Enter')
    await expect.poll(focused, patiently).toBe('Changed files')
  },
)

it.runIf(isLong)('the keyboard reaches files, editor, agent, timeline, call, search and help', async () => {
  const page = await openSample('price-list')
  const focused = () => focusedName(page)
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await press('Alt+1')
  await expect.poll(focused, patiently).toBe('Files')
  await press('Home', 'ArrowRight')
  await page.getByRole('treeitem', { name: 'price.js' }).waitFor()
  await press('ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter')
  const editor = page.getByRole('textbox', { name: 'Text of src/price.js' })
  await editor.waitFor()
  await press('Alt+2')
  await expect.poll(focused, patiently).toBe('Text of src/price.js')
  // With Caps Lock, the letter of the search in all files is a small one.
  await editor.dispatchEvent('keydown', { key: 'f', code: 'KeyF', ctrlKey: true, shiftKey: true, bubbles: true })
  await expect.poll(focused, patiently).toBe('Search files and text')
  expect(await page.locator('.cm-panel').count()).toBe(0)
  await press('Alt+1', 'Alt+2')
  await expect.poll(focused, patiently).toBe('Text of src/price.js')
  await page.keyboard.type('// typed\n')
  await press('Control+s')
  await page.getByRole('treeitem', { name: /price\.js.*changed/ }).waitFor()
  // Tab indents in the editor. After Escape, it moves the focus.
  await press('Escape', 'Tab')
  await expect.poll(focused, patiently).not.toBe('Text of src/price.js')

  await press('Alt+4')
  await expect.poll(focused, patiently).toBe('Message to the agent')
  await press('Enter')
  await page.getByRole('region', { name: 'End of the run' }).waitFor()
  await press('Alt+5')
  await expect.poll(focused, patiently).toBe('Timeline of calls')
  await press('End', 'Enter')
  await page.getByRole('heading', { name: 'What really happened' }).waitFor()
  await press('Alt+7')
  await expect.poll(focused, patiently).toBe('Changed files')
  await press('Alt+5')
  await expect.poll(focused, patiently).toBe('Timeline of calls')
  await press('Control+p')
  await expect.poll(focused, patiently).toBe('Name of a file')
  await press('Escape')
  await expect.poll(focused, patiently).toBe('Timeline of calls')
  await press('Control+Shift+f')
  await expect.poll(focused, patiently).toBe('Search files and text')
  await page.keyboard.type('taxOf')
  await page
    .getByRole('option', { name: /src\/price\.js/ })
    .first()
    .waitFor()
  await press('F1')
  await page.getByRole('dialog', { name: 'Keys and marks' }).waitFor()
  await press('Escape')
  await expect.poll(focused, patiently).toBe('Search files and text')
  await press('Alt+8')
  await expect.poll(focused, patiently).toBe('State of the files')
  // A view that loads late takes no focus that has gone elsewhere by then.
  await page.evaluate(() => {
    const key = { key: '2', code: 'Digit2', altKey: true, bubbles: true, cancelable: true }
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', key))
    document.querySelector('wardspace-chat')?.shadowRoot?.querySelector<HTMLElement>('#composer')?.focus()
  })
  await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve))))
  expect(await focused()).toBe('Message to the agent')
  // What is typed after the key arrives, also when the terminal is open already.
  for (const sum of ['6 * 7', '6 * 9']) {
    await press('Alt+3')
    await expect.poll(focused, patiently).toBe('Terminal input')
    await page.keyboard.type(`echo $((${sum}))\n`)
    await prints(page, sum === '6 * 7' ? /\)\)42/ : /\)\)54/)
    await press('Alt+4')
    await expect.poll(focused, patiently).toBe('Message to the agent')
  }
  await press('Alt+8')
  await expect.poll(focused, patiently).toBe('State of the files')
  // A key press immediately after the dialog closes is not lost.
  await press('F1')
  await page.getByRole('dialog', { name: 'Keys and marks' }).waitFor()
  await page.evaluate(() => {
    document.querySelector<HTMLDialogElement>('dialog[open]')?.close()
    const key = { key: '5', code: 'Digit5', altKey: true, bubbles: true, cancelable: true }
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', key))
  })
  await expect.poll(focused, patiently).toBe('Timeline of calls')
})

it.runIf(isLong)('a conversation is copied as Markdown, and that is said', async () => {
  const person = await playground.person()
  await person.grantPermissions(['clipboard-read', 'clipboard-write'])
  const page = await playground.sample('price-list', { storage: 'memory', context: person })
  await runTo(page, 'All tests pass.')
  await button(page, 'More for this conversation').click()
  await page.getByRole('menuitem', { name: 'Copy as Markdown' }).click()
  await page.getByText('The conversation is copied').waitFor({ state: 'attached' })
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toContain('Some tests of this project fail.')
  expect(copied).toContain('All tests pass. The cause was line 4')
  expect(copied).toContain('npm test')
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  await page.evaluate(() => {
    navigator.clipboard.writeText = async () => {
      throw new DOMException('Write permission denied.', 'NotAllowedError')
    }
  })
  await button(page, 'More for this conversation').click()
  await page.getByRole('menuitem', { name: 'Copy as Markdown' }).click()
  await page.getByText('Not copied: the browser refused it').waitFor({ state: 'attached' })
  expect(faults).toEqual([])
})
