import type { Page } from 'playwright'
import { describe, expect, it } from 'vitest'
import { approval, button, conversation, says } from './person.ts'
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
  'an approval': async (page) => {
    await button(page, 'Wardspace').click()
    await card(page, 'Approve a risky change').click()
    await button(page, 'Approve the plan').click()
    await approval(page, 'edit_file').waitFor()
  },
}

describe('every control has its place, and axe finds no violation', () => {
  it('on the first screen, after an attack and at an approval, in four sizes', async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    const faults = await faultsOf(page, states)
    expect(faults).toEqual([])
  })
})
