import type { Page } from 'playwright'
import { beforeAll, expect, it } from 'vitest'
import { scenarioById, scenarios } from '../../playground/agent/scenarios/index.ts'
import { approval, message, patiently, prints, ready, says } from './person.ts'
import { usePlayground } from './shared.ts'

/** All scenarios without a network and without a pointer. What they leave in the files is tested in `agent-page.test.ts`. */
const playground = usePlayground()

const ends: Readonly<Record<string, string>> = {
  'mend-a-test': 'All tests pass. The cause was line 4 of src/price.js',
  'explore-and-explain': 'Nobody else asks for it.',
  'rename-across-files': '13 lines in 6 files, by one patch.',
  'resist-an-attack': '7 of them were refused.',
  'drop-a-dependency': 'All tests pass.',
  'keep-a-secret': 'I may not write to the page',
}

let page: Page
let presses = 0

beforeAll(async () => {
  const person = await playground.person('keeps the page')
  await person.addInitScript(() => {
    const count = { pointers: 0 }
    Object.assign(globalThis, { count })
    for (const name of ['pointerdown', 'touchstart', 'wheel']) {
      addEventListener(name, () => (count.pointers += 1), { capture: true, passive: true })
    }
  })
  page = await playground.sample('price-list', { context: person })
  await page.waitForFunction(() => document.documentElement.dataset.offline === 'ready')
  await person.setOffline(true)
  await person.route('**', (route) => route.abort())
  // The page comes from what is stored, too.
  await page.reload()
  await page.locator('main[aria-busy="false"]').waitFor()
}, 240_000)

async function press(...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
  presses += keys.length
}

/** The name of the focused control, within shadow roots too. */
const focused = () =>
  page.evaluate(() => {
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? ''
  })

/** Presses Tab until a control has the focus. */
async function tabTo(name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const seen: string[] = []
  for (let tries = 0; tries < 60; tries += 1) {
    await press(key)
    seen.push((await focused()).slice(0, 40))
    if (typeof name === 'string' ? seen.at(-1) === name : name.test(seen.at(-1) ?? '')) return
  }
  throw new Error(`Tab does not reach ${name}: ${seen.join(' | ')}`)
}

/** Goes to the field of the agent. */
async function goToAgent(): Promise<void> {
  await press('Alt+4')
  await expect.poll(() => message(page).evaluate((field) => field.matches(':focus')), patiently).toBe(true)
}

async function chooseByKeys(id: string): Promise<void> {
  await goToAgent()
  await tabTo('Scenario', 'Shift+Tab')
  await press('Enter', 'Home')
  const options = page.getByRole('listbox', { name: 'Scenario' }).getByRole('option')
  await options.first().waitFor()
  const values = await options.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.value))
  for (let at = values.indexOf(id); at > 0; at -= 1) await press('ArrowDown')
  await press('Enter')
  await expect.poll(() => message(page).inputValue(), patiently).toBe(scenarioById(id).prompt)
  await ready(page)
}

/** The questions of the scenario that asks. */
const questions = ['submit_plan', 'edit_file', 'edit_file', 'write_file', 'write_file', 'run_command']

/** Approves each question in turn. */
async function approveAll(): Promise<void> {
  for (const tool of questions) {
    const card = approval(page, tool)
    await card.waitFor()
    const text = await card.textContent()
    await press('Alt+6')
    await expect
      .poll(() => page.locator('wardspace-approvals').evaluate((one) => one.matches(':focus-within')), patiently)
      .toBe(true)
    if (!/^Approve( the plan)?$/.test(await focused())) await tabTo(/^Approve( the plan)?$/)
    // A key that comes with a question was meant for the one before.
    await page.waitForTimeout(600)
    await press('Enter')
    await expect
      .poll(async () => (await card.count()) === 0 || (await card.textContent()) !== text, patiently)
      .toBe(true)
  }
}

it.each(scenarios.map(({ id }) => id))('%s is started, answered and looked at by keys', async (id) => {
  const end = ends[id] ?? 'no end'
  const before = presses
  const began = performance.now()
  await chooseByKeys(id)
  await goToAgent()
  await tabTo('Run')
  await press('Enter')
  if (id === 'drop-a-dependency') await approveAll()
  await says(page, end)
  await ready(page)
  await goToAgent()
  await tabTo('Report', 'Shift+Tab')
  await press('Enter')
  await page.getByRole('region', { name: 'Report' }).or(page.getByText('Report of the run')).first().waitFor()
  console.log(`${id}: ${presses - before} presses, ${((performance.now() - began) / 1000).toFixed(1)} s`)
  expect(await page.evaluate(() => (globalThis as unknown as { count: { pointers: number } }).count.pointers)).toBe(0)
})

it('the terminal has a dialogue with running programs by keys', async () => {
  await press('Alt+3')
  await expect.poll(focused, patiently).toBe('Terminal input')
  const type = (text: string) => page.keyboard.type(text)
  await type('read -p "Name? " name; echo "Hello, $name"\n')
  await prints(page, /\$name"Name\? /)
  await type('Ana\n')
  await prints(page, /Name\? AnaHello, Ana/)
  const ask = `const io = { input: process.stdin, output: process.stdout }; require('readline').createInterface(io).question('Age? ', (a) => process.exit(console.log(a * 2)))`
  await type(`node -e "${ask}"\n`)
  await prints(page, /\)\)\)"Age\? /)
  await type('21\n')
  await prints(page, /2142/)
  await type('cat > note.txt\n')
  await prints(page, /The command waits for input/)
  await type('kept\n')
  await press('Control+D')
  await prints(page, /changed: note\.txt/)
  await type('read x\n')
  await prints(page, /read xThe command waits for input/)
  await press('Control+C')
  await type('echo $?\n')
  await prints(page, /echo \$\?130/)
  expect(await page.evaluate(() => (globalThis as unknown as { count: { pointers: number } }).count.pointers)).toBe(0)
})
