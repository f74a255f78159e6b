import axe from 'axe-core'
import { afterEach, describe, expect, it } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { callbackSink } from '../../dist/audit/index.js'
import { memory } from '../../dist/backends/memory/index.js'
import type { WardspaceElements } from '../../dist/elements/index.js'
import '../../dist/elements/index.js'
import { createWorkspace } from '../../dist/index.js'
import { createApprovals, createTimeline, trackCalls } from '../../dist/ui/index.js'

afterEach(() => document.body.replaceChildren())

/** Adds an element with its properties to the page. */
function show<Name extends keyof WardspaceElements>(
  name: Name,
  properties: Omit<WardspaceElements[Name], keyof HTMLElement>,
): HTMLElement {
  const element = Object.assign(document.createElement(name as string), properties)
  element.style.height = '600px'
  document.body.append(element)
  return element
}

/** The violations that axe finds in the page, shadow roots included. */
async function violations(): Promise<string[]> {
  const { violations: found } = await axe.run(document.body, { rules: { region: { enabled: false } } })
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`)
}

async function openRun() {
  const approvals = createApprovals()
  const timeline = createTimeline()
  const backend = memory({ 'src/price.js': 'export const price = 1\n', 'old.txt': 'old\n', '.env': 'TOKEN=secret\n' })
  const workspace = await createWorkspace({ backend, policy: 'supervised', audit: callbackSink(timeline.take) })
  return { approvals, timeline, workspace, run: trackCalls(workspace, { timeline, approvals }) }
}

describe('wardspace-approvals', () => {
  it('shows what a call would change, and carries it out when the person approves by key', async () => {
    const { approvals, run } = await openRun()
    show('wardspace-approvals', { controller: approvals, saying: 'The price is wrong' })
    const call = run.call('edit_file', { path: 'src/price.js', oldText: 'price = 1', newText: 'price = 2' })
    const card = page.getByRole('article', { name: 'Approval of edit_file' })
    await expect.element(card).toHaveTextContent('+export const price = 2')
    await expect.element(card).toHaveTextContent('The agent says: The price is wrong')
    expect(await violations()).toEqual([])
    await card.element().focus()
    await userEvent.keyboard('a')
    expect(await call).toMatchObject({ ok: true })
    await expect.element(card).not.toBeInTheDocument()
  })

  it('refuses with the typed reason, which a draft keeps while the element is away', async () => {
    const { approvals, run } = await openRun()
    const texts = new Map<string, string>()
    const drafts = {
      get: (field: string) => texts.get(field) ?? '',
      set: (field: string, text: string) => void texts.set(field, text),
    }
    const element = show('wardspace-approvals', { controller: approvals, drafts })
    const call = run.call('delete_file', { path: 'old.txt' })
    await page.getByRole('button', { name: 'Refuse…' }).click()
    await page.getByLabelText('Reason for the agent').fill('still needed')
    expect(await violations()).toEqual([])
    element.remove()
    document.body.append(element)
    await expect.element(page.getByLabelText('Reason for the agent')).toHaveValue('still needed')
    await page.getByRole('button', { name: 'Refuse', exact: true }).click()
    expect(await call).toMatchObject({ ok: false, code: 'APPROVAL_DENIED' })
  })

  it('says what will be here, and takes colours of the page', async () => {
    const { approvals } = await openRun()
    const element = document.createElement('div')
    element.innerHTML = '<wardspace-approvals style="--wardspace-panel: rgb(1, 2, 3)"></wardspace-approvals>'
    document.body.append(element)
    const [shown] = element.children as unknown as [WardspaceElements['wardspace-approvals']]
    shown.controller = approvals
    await expect.element(page.getByText('What the agent asks you appears here.')).toBeVisible()
    expect(getComputedStyle(shown).backgroundColor).toBe('rgb(1, 2, 3)')
    shown.removeAttribute('style')
    const colours = ['light', 'dark'].map((scheme) => {
      shown.style.colorScheme = scheme
      return getComputedStyle(shown).backgroundColor
    })
    expect(colours).toEqual(['rgb(251, 252, 253)', 'rgb(20, 24, 30)'])
  })
})
