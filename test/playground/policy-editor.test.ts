import { describe, expect, it } from 'vitest'
import { button, chooseOption, patiently, policyText, replaceText, show, shows } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

describe('the editor of the policy', () => {
  it('shows rows and text of one policy, mistakes at their line, and the effect on the files', async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    await show(page, 'Policy')
    await replaceText(
      page,
      policyText(page),
      '{\n  "preset": "autonomous",\n  "deniedPaths": ["test"],\n  "requireReason": true\n}',
    )
    const rows = page.getByRole('region', { name: 'Policy as rows' })
    await shows(() => rows.textContent(), /Closed.*Only in the text: requireReason.*Secret files/s)
    const verdict = page.getByRole('region', { name: 'Verdict of this policy' }).getByRole('status')
    const effect = page.getByRole('status', { name: 'Effect on the files' })
    await shows(() => effect.textContent(), /2 files become hidden/)

    await button(page, 'Add to What the agent may do').click()
    await chooseOption(page, 'Decision of rule 1', 'deny')
    await chooseOption(page, 'Action of rule 1', 'change')
    await shows(() => policyText(page).textContent(), /"requireReason": true.*"action": "deny".*"file:change"/s)
    await shows(() => effect.textContent(), /files become read-only/)

    await replaceText(
      page,
      policyText(page),
      '{\n  "preset": "autonomous",\n  "rules": [{ "name": "r", "action": "alow" }]\n}',
    )
    await page.getByText(/^Line 3: “rules\[0\]\.action” must be/).waitFor()
    await shows(() => rows.getByRole('group', { name: 'r' }).textContent(), 'The mistake is in this row.')
    await shows(() => verdict.textContent(), 'No answer while the policy has a mistake.')
    expect(await page.getByText('must be').count()).toBe(1)
    expect(await button(page, 'Apply').isDisabled()).toBe(true)
    await chooseOption(page, 'Decision of r', 'ask')
    await expect.poll(() => button(page, 'Apply').isEnabled(), patiently).toBe(true)
  })
})
