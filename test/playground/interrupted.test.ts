import type { Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { everyNth, isLong } from '../counts.ts'
import {
  agentTexts,
  applyPreset,
  approval,
  button,
  command,
  conversationText,
  filesOnDisk,
  importFiles,
  leaveAt,
  openTerminal,
  patiently,
  prints,
  reload,
  run,
  says,
  switchProject,
  terminalInput,
  terminalSwitch,
  terminalText,
} from './person.ts'
import { usePlayground } from './shared.ts'

/** A run that is interrupted by a reload says so and goes on. */
const playground = usePlayground()

/** The texts of the agent that the conversation shows more than once. */
async function repeated(page: Page): Promise<string[]> {
  const texts = await agentTexts(page).allTextContents()
  const sentences = texts.flatMap((text) => text.split(/(?<=[.:])\s/)).filter((text) => text.length > 12)
  return sentences.filter((text, at) => sentences.indexOf(text) !== at)
}

describe('a reload while the agent works', () => {
  it('at every step says where the run was interrupted, and goes on without repeating a text', async () => {
    const page = await playground.sample('price-list', { motion: 'no-preference' })
    const moments = [
      'Some tests of this project fail',
      'I run the tests',
      'I read what they',
      'The test says',
      'Now the',
    ]
    // In `npm test`, one in the middle.
    for (const [at, moment] of everyNth(moments, 5, 2).entries()) {
      await leaveAt(page, moment, page.url(), () => button(page, at === 0 ? 'Run' : 'Go on').click())
      await says(page, 'Interrupted ')
    }
    await button(page, 'Go on').click()
    await says(page, 'All tests pass.')
    expect(await repeated(page)).toEqual([])
    expect(await conversationText(page)).not.toContain('Interrupted ')
    expect((await filesOnDisk(page))['src/price.js']).toContain('Math.round')
  })

  it.runIf(isLong)('names the call that was waiting, and keeps what the run has read', async () => {
    const page = await playground.sample('order-book')
    await run(page)
    await button(page, 'Approve the plan').waitFor()
    await reload(page)
    await says(page, 'Interrupted while waiting for your approval of submitting a plan')
    await button(page, 'Go on').click()
    await button(page, 'Approve the plan').click()
    await approval(page, 'edit_file').waitFor()
    await reload(page)
    await button(page, 'Go on').click()
    await approval(page, 'edit_file').waitFor()
    expect(await conversationText(page)).not.toContain('plan has to be approved')

    const labelled = await playground.sample('team-page')
    await run(labelled)
    await says(labelled, 'Somebody who has not read')
    const taint = labelled.getByRole('button', { name: /^Has read/ })
    expect(await taint.textContent()).toContain('confidential')
    await reload(labelled)
    await expect.poll(() => taint.textContent(), patiently).toContain('confidential')
  })
})

describe('the terminal of a project', () => {
  let page: Page

  beforeAll(async () => {
    page = await playground.sample('price-list')
  })

  it.runIf(isLong)(
    'keeps its output and history while it is hidden, in another project and over a reload',
    async () => {
      await command(page, 'echo fir""st', 'first')
      await terminalSwitch(page).click()
      await terminalSwitch(page).click()
      await prints(page, 'first')
      await importFiles(page, 'other', { 'a.txt': 'a\n' })
      await switchProject(page, 'Price list')
      await prints(page, 'first')
      await reload(page)
      await openTerminal(page)
      await prints(page, 'first')
      await terminalInput(page).focus()
      await page.keyboard.press('ArrowUp')
      await page.keyboard.type(' sec""ond\n')
      await prints(page, 'first second')
    },
  )

  it.runIf(isLong)('shows the commands that the agent ran while it was hidden', async () => {
    await terminalSwitch(page).click()
    await run(page)
    // A command of the agent opens it. Closed by the person, it stays closed.
    await page.locator('.terminal-place').waitFor()
    await terminalSwitch(page).click()
    await says(page, 'All tests pass.')
    expect(await page.locator('.terminal-place').count()).toBe(0)
    await terminalSwitch(page).click()
    await prints(page, 'agent $ npm test')
  })
})

describe('the terminal', () => {
  it.runIf(isLong)('is not bound by plan mode, also while a plan waits, nor by a policy for the agent', async () => {
    const page = await playground.sample('order-book')
    await command(page, 'echo 1 > one.txt && echo wri""tten', 'written')
    await run(page)
    await button(page, 'Approve the plan').waitFor()
    await command(page, 'echo 2 > two.txt && echo als""o', 'also')
    await button(page, 'Approve the plan').click()
    await approval(page, 'edit_file').waitFor()
    await button(page, 'Stop').click()
    await applyPreset(page, 'readOnly')
    await command(page, 'cd src && echo 3 > three.txt && echo st""ill', 'still')
    await command(page, 'echo 4 > four.txt; pwd', '/workspace/src')
    const files = await filesOnDisk(page)
    expect(files).toMatchObject({ 'one.txt': '1\n', 'two.txt': '2\n', 'src/three.txt': '3\n', 'src/four.txt': '4\n' })
    const text = await terminalText(page)
    expect(text).not.toMatch(/[A-Z]+_[A-Z_]+/)
  })

  it('is refused what protects files, in the words of a person', async () => {
    const page = await playground.sample('release-notes')
    await command(page, 'cat .env', 'Blocked: .env is a secret file')
    await command(page, 'rm -rf /', 'Blocked: ')
    await command(page, 'cat < .env; echo after', 'Blocked: .env is an environment file')
    expect(await terminalText(page)).not.toMatch(/[A-Z]+_(DENIED|ONLY|REJECTED)|planted|do not retry/)
  })
})
