import type { BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Playground, startPlayground } from './open.ts'
import {
  button,
  command,
  conversation,
  filesOnDisk,
  importTexts,
  patiently,
  settled,
  switchProject,
  tab,
} from './person.ts'

/** A run that is interrupted by a reload says so and goes on. */
let playground: Playground
let person: BrowserContext

beforeAll(async () => {
  playground = await startPlayground()
}, 240_000)

afterAll(() => playground?.close())

beforeEach(async () => {
  person = await playground.person()
  return () => person.close()
})

async function open(sample: string): Promise<Page> {
  return settled(await playground.open(person, `?sample=${sample}&storage=opfs`))
}

async function reload(page: Page): Promise<void> {
  await page.reload()
  await settled(page)
}

const said = async (page: Page) => (await conversation(page).textContent()) ?? ''
const says = (page: Page, text: string) => expect.poll(() => said(page), patiently).toContain(text)

/** The texts of the agent that the conversation shows more than once. */
async function repeated(page: Page): Promise<string[]> {
  const texts = await page.locator('.said.agent').allTextContents()
  const sentences = texts.flatMap((text) => text.split(/(?<=[.:])\s/)).filter((text) => text.length > 12)
  return sentences.filter((text, at) => sentences.indexOf(text) !== at)
}

describe('a reload while the agent works', () => {
  it('says where the run was interrupted, and goes on without repeating a text', async () => {
    const page = await open('price-list')
    await button(page, 'Run').click()
    const moments = ['I run the tests to see', 'I read what they', 'The test says']
    for (const moment of moments) {
      await says(page, moment)
      await reload(page)
      await says(page, 'Interrupted ')
      await button(page, 'Continue').click()
    }
    await says(page, 'All tests pass.')
    expect(await repeated(page)).toEqual([])
    expect(await said(page)).not.toContain('Interrupted ')
    expect((await filesOnDisk(page))['src/price.js']).toContain('Math.round')
  }, 120_000)

  it('names the call that was waiting, and keeps what the run has read', async () => {
    const page = await open('order-book')
    await button(page, 'Run').click()
    await button(page, 'Approve the plan').waitFor()
    await reload(page)
    await says(page, 'Interrupted during submit_plan')
    await button(page, 'Continue').click()
    await button(page, 'Approve the plan').click()
    await page.getByRole('article', { name: 'Approval of edit_file' }).waitFor()

    const labelled = await open('team-page')
    await button(labelled, 'Run').click()
    await says(labelled, 'Somebody who has not read')
    const taint = labelled.getByRole('button', { name: /^Taint/ })
    expect(await taint.textContent()).toContain('confidential')
    await reload(labelled)
    await expect.poll(() => taint.textContent(), patiently).toContain('confidential')
  }, 120_000)
})

describe('the terminal', () => {
  const screen = (page: Page) => page.locator('.terminal-place').textContent()
  const prints = (page: Page, text: string) => expect.poll(() => screen(page), patiently).toContain(text)

  it('keeps its output and history while it is hidden, in another project and over a reload', async () => {
    const page = await open('price-list')
    await command(page, 'echo fir""st', 'first')
    await button(page, 'Terminal').click()
    await button(page, 'Terminal').click()
    await prints(page, 'first')
    await importTexts(page, 'other', { 'a.txt': 'a\n' })
    await switchProject(page, 'Price list')
    await prints(page, 'first')
    await reload(page)
    await prints(page, 'first')
    await page.getByLabel('Terminal input').focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.type(' sec""ond\n')
    await prints(page, 'first second')
  }, 90_000)

  it('shows the commands that the agent ran while it was hidden', async () => {
    const page = await open('price-list')
    await button(page, 'Terminal').click()
    await button(page, 'Run').click()
    await says(page, 'All tests pass.')
    await button(page, 'Terminal').click()
    await prints(page, 'agent $ npm test')
  }, 90_000)

  it('is not bound by plan mode, also while a plan waits, nor by a policy for the agent', async () => {
    const page = await open('order-book')
    await command(page, 'echo 1 > one.txt && echo wri""tten', 'written')
    await button(page, 'Run').click()
    await button(page, 'Approve the plan').waitFor()
    await command(page, 'echo 2 > two.txt && echo als""o', 'also')
    await button(page, 'Approve the plan').click()
    await page.getByRole('article', { name: 'Approval of edit_file' }).waitFor()
    await button(page, 'Stop').click()
    await tab(page, 'Policy').click()
    await page.getByLabel('Begin with').selectOption('readOnly')
    await button(page, 'Apply').click()
    await page.getByText('The policy is applied').waitFor({ state: 'attached' })
    await command(page, 'cd src && echo 3 > three.txt && echo st""ill', 'still')
    await command(page, 'echo 4 > four.txt; pwd', '/workspace/src')
    const files = await filesOnDisk(page)
    expect(files).toMatchObject({ 'one.txt': '1\n', 'two.txt': '2\n', 'src/three.txt': '3\n', 'src/four.txt': '4\n' })
    const text = await screen(page)
    expect(text).not.toMatch(/[A-Z]+_[A-Z_]+/)
  }, 120_000)

  it('is refused what protects files, in the words of a person', async () => {
    const page = await open('release-notes')
    await command(page, 'cat .env', 'Blocked: .env is a secret file')
    await command(page, 'rm -rf /', 'Blocked: ')
    await command(page, 'cat < .env; echo after', 'Blocked: .env is an environment file')
    expect(await screen(page)).not.toMatch(/[A-Z]+_(DENIED|ONLY|REJECTED)|planted|do not retry/)
  }, 90_000)
})
