import { existsSync } from 'node:fs'
import type { Locator, Page } from 'playwright'
import { describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import {
  approval,
  approvalBar,
  becomePhone,
  button,
  conversation,
  conversationText,
  focusedName,
  message,
  openApprovals,
  patiently,
  says,
} from './person.ts'
import { usePlayground } from './shared.ts'
import { faultsOf } from './state-faults.ts'

/** The states that a first visitor sees, in four sizes and both schemes. */
const playground = usePlayground()

const card = (page: Page, title: string) => page.getByRole('button', { name: new RegExp(`^${title}`) })

/** How each state is reached, from the one before. */
const states: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'the first screen': (page) => card(page, 'Watch an attack fail').waitFor(),
  'an attack that failed': async (page) => {
    await card(page, 'Watch an attack fail').click()
    await says(page, '7 of them were refused.')
    await conversation(page).getByText('Show what the model was told').first().click()
    await page.getByRole('region', { name: 'End of the run' }).waitFor()
  },
  sheet: async (page) => {
    await button(page, 'Wardspace').click()
    await card(page, 'Approve a risky change').click()
    await button(page, 'Approve the plan').click()
    await approval(page, 'edit_file').waitFor()
  },
}

describe('on a phone', () => {
  it.each(isLong ? [390, 360] : [360])('%i px wide, the end of a run has its buttons in one row', async (width) => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    await card(page, 'Mend a failing test').click()
    await says(page, 'All tests pass.')
    await page.setViewportSize({ width, height: 844 })
    const buttons = page.getByRole('region', { name: 'End of the run' }).getByRole('button')
    const tops = () => buttons.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)))
    await expect.poll(async () => new Set(await tops()).size).toBe(1)
    expect(await buttons.count()).toBe(3)
  })
})

it.runIf(isLong)(
  'the report of an attack is read on a phone without scrolling sideways, each value beside its name',
  async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    await card(page, 'Watch an attack fail').click()
    const end = page.getByRole('region', { name: 'End of the run' })
    await end.waitFor()
    await becomePhone(page)
    await end.getByRole('button', { name: 'Report' }).click()
    await page.getByRole('heading', { name: 'Forbidden paths tried' }).waitFor()
    const overflow = () =>
      page.locator('.report table').evaluateAll((all) => all.map((table) => table.scrollWidth - table.clientWidth))
    await expect.poll(async () => Math.max(...(await overflow())), patiently).toBeLessThanOrEqual(0)
    const cells = page
      .locator('.report table')
      .filter({ hasText: 'COMMAND_DENIED' })
      .locator('tbody tr')
      .first()
      .locator('td')
    const named = await cells.evaluateAll((all) =>
      all.map((cell) => [getComputedStyle(cell, '::before').content, cell.textContent]),
    )
    expect(named.slice(0, 4)).toEqual([
      ['"call"', '#2'],
      ['"tool"', 'read_file'],
      ['"paths"', '.env'],
      ['"code"', 'POLICY_DENIED_SECRET'],
    ])
  },
)

it('the first screen names the library, with what installs it and where to read on', async () => {
  const page = await playground.sample('price-list', { storage: 'memory' })
  const line = page.locator('.start-library')
  expect(await line.textContent()).toContain('npm install wardspace')
  for (const link of await line.getByRole('link').all()) {
    const [, file = ''] = /main\/(docs\/.*)$/.exec((await link.getAttribute('href')) ?? '') ?? []
    expect(existsSync(file), file).toBe(true)
    expect(await link.getAttribute('target')).toBe('_blank')
  }
  expect(await line.getByRole('link').count()).toBe(2)
})

describe('an approval on a phone', () => {
  const height = (place: Locator) => place.evaluate((element) => element.getBoundingClientRect().height)

  it.runIf(isLong)(
    'waits in a slim bar, which leaves the view and the composer, and is answered there or in its sheet',
    async () => {
      const page = await playground.sample('order-book', { storage: 'memory' })
      await becomePhone(page)
      await card(page, 'Approve a risky change').click()
      const bar = approvalBar(page)
      await bar.getByText('Approve this plan?').waitFor()
      expect(await height(bar)).toBeLessThan(72)
      // A field with the focus would bring up a keyboard over the bar.
      expect(await focusedName(page)).toBe('Conversation')
      await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Agent' }).click()
      await button(page, 'Stop').click({ trial: true })
      expect(await message(page).evaluate((field) => field.getBoundingClientRect().bottom)).toBeLessThan(844 - 56 - 60)
      await bar.getByRole('button', { name: 'Approve: Approve this plan?' }).click()

      // The sheet by keys: opened, closed, opened and answered.
      const toggle = bar.getByRole('button', { expanded: false })
      await toggle.getByText('src/day.js').waitFor()
      await toggle.press('Enter')
      await expect.poll(() => focusedName(page), patiently).toBe('Approval of edit_file')
      const edit = approval(page, 'edit_file')
      const diff = edit.locator('.patch')
      expect(await diff.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBeLessThan(2)
      expect(await height(edit)).toBeGreaterThan(200)
      await page.keyboard.press('Escape')
      await edit.waitFor({ state: 'detached' })
      expect(await toggle.evaluate((one) => one === document.activeElement)).toBe(true)
      await page.keyboard.press('Enter')
      await expect.poll(() => focusedName(page), patiently).toBe('Approval of edit_file')
      await button(page, 'Approve').click({ trial: true })
      await page.keyboard.press('a')

      // The bar refuses the next one, and a tab closes the sheet.
      await bar.getByText('src/table.js').waitFor()
      await openApprovals(page)
      await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Agent' }).click()
      await edit.waitFor({ state: 'detached' })
      const refuse = bar.getByRole('button', { name: /^Refuse: .*src\/table\.js/ })
      await refuse.click({ trial: true })
      await refuse.focus()
      await page.keyboard.press('Enter')
      await expect.poll(() => conversationText(page), patiently).toMatch(/You refused this(?!:)/)
      const isOnTab = () => page.evaluate(() => document.activeElement?.closest('.phone-tabs, .approval-bar') != null)
      await expect.poll(isOnTab, patiently).toBe(true)
    },
  )
})

describe('a question that has just come', () => {
  it
    .runIf(isLong)
    .each([
      ['on a phone', { width: 390, height: 844 }] as const,
      ['on the stage', { width: 1400, height: 900 }] as const,
    ])('%s takes no answer that was meant for the one before', async (_, size) => {
    const page = await playground.sample('order-book', { storage: 'memory' })
    await page.setViewportSize(size)
    await card(page, 'Approve a risky change').click()
    const approve = page.getByRole('button', { name: /^Approve(: .*| the plan)?$/ }).first()
    await approve.click({ trial: true })
    // It presses whatever approves, in every frame, until the first edit has been asked and then answered.
    const shown = await page.evaluate(async () => {
      const times: Record<string, { first: number; last: number }> = {}
      const find = (root: Document | ShadowRoot): HTMLElement[] =>
        [...root.querySelectorAll<HTMLElement>('*')].flatMap((one) => [
          one,
          ...(one.shadowRoot ? find(one.shadowRoot) : []),
        ])
      for (const end = performance.now() + 3_500; performance.now() < end; ) {
        const all = find(document)
        const button = all.find(
          (one) =>
            one.matches('button') && /^Approve(: .*| the plan)?$/.test((one.ariaLabel ?? one.textContent ?? '').trim()),
        )
        const question = all.find((one) => one.matches('.approval-words strong, article h2'))?.textContent
        if (button && question) {
          const now = performance.now()
          times[question] = { first: times[question]?.first ?? now, last: now }
          button.click()
        }
        await new Promise(requestAnimationFrame)
      }
      return Object.values(times).map(({ first, last }) => last - first)
    })
    expect(shown.length).toBeGreaterThan(2)
    // The first had been read before, and the last may still wait.
    for (const ms of shown.slice(1, -1)) expect(ms).toBeGreaterThan(400)
  })

  it.runIf(isLong)('names the command that it asks about, and its risks, in the bar', async () => {
    const page = await playground.sample('order-book', { storage: 'memory' })
    await becomePhone(page)
    await card(page, 'Approve a risky change').click()
    const bar = approvalBar(page)
    const questions: string[] = []
    for (const question of [/plan/, /src/, /src/, /package\.json/, /package-lock\.json/, /^Run npm /]) {
      const words = bar.locator('.approval-words strong').filter({ hasText: question })
      await words.waitFor()
      const asked = await words.textContent()
      expect(await words.getAttribute('title')).toBe(asked)
      questions.push((await bar.locator('.approval-words').textContent()) ?? '')
      await bar.getByRole('button', { name: `Approve: ${asked}` }).click()
      const next = () => bar.locator('.approval-words strong').allTextContents()
      await expect.poll(next, patiently).not.toContain(asked)
    }
    expect(questions[3]).toContain('touches a build file')
    expect(questions[1]).not.toContain('touches')
  })
})

describe('the conversation', () => {
  it.runIf(isLong)('keeps its end in view while it grows and shrinks between questions', async () => {
    const page = await playground.sample('order-book', { storage: 'memory' })
    await page.setViewportSize({ width: 1280, height: 800 })
    await card(page, 'Approve a risky change').click()
    await button(page, 'Approve the plan').click()
    const below = () =>
      conversation(page)
        .getByRole('log')
        .evaluate(({ scrollTop, clientHeight, scrollHeight }) => scrollHeight - clientHeight - scrollTop)
    for (const path of ['src/day.js', 'src/table.js', 'package.json']) {
      await approval(page, path === 'package.json' ? 'write_file' : 'edit_file')
        .getByText(path)
        .first()
        .waitFor()
      await expect.poll(below).toBeLessThan(2)
      await button(page, 'Approve').click()
    }
    // A person who scrolls up stays there.
    await approval(page, 'write_file').getByText('package-lock.json').first().waitFor()
    await conversation(page).getByRole('log').hover()
    await page.mouse.wheel(0, -400)
    await expect.poll(below).toBeGreaterThan(200)
    await button(page, 'Approve').click()
    await approval(page, 'run_command').waitFor()
    expect(await below()).toBeGreaterThan(200)
  })
})

describe('what a person writes', () => {
  it.runIf(isLong)('shows the code in it as code, in the conversation and in its title', async () => {
    const page = await playground.sample('weather-station', { storage: 'memory' })
    await button(page, 'Rename across files').click()
    const sent = page.locator('.said.person')
    await expect.poll(() => sent.locator('code').allTextContents(), patiently).toEqual(['getTemp', 'readTemperature'])
    expect(await conversation(page).locator('.conversation-bar').textContent()).not.toContain('`')
  })
})

describe('every control has its place, and axe finds no violation', () => {
  it.runIf(isLong)('on the first screen, after an attack and at an approval, in four sizes', async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    const faults = await faultsOf(page, states)
    expect(faults).toEqual([])
  })
})
