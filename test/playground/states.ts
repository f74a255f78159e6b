import type { Page } from 'playwright'
import {
  approval,
  approvalBar,
  button,
  calls,
  changedText,
  chooseOption,
  openApprovals,
  openTerminal,
  ownModel,
  policyText,
  projectButton,
  replaceText,
  send,
  show,
  terminalInput,
} from './person.ts'

const endCard = (page: Page) => page.getByRole('region', { name: 'End of the run' })
const card = (page: Page, title: string) => page.getByRole('button', { name: new RegExp(`^${title}`) }).click()

async function mended(page: Page): Promise<void> {
  await card(page, 'Mend a failing test')
  await endCard(page).waitFor()
}

/** Opens a view; on a phone, where the rail is missing, from the tab More. */
async function open(page: Page, view: string): Promise<void> {
  const more = page.getByRole('navigation', { name: 'Views' })
  if (!(await more.isVisible())) return show(page, view)
  const tab = more.getByRole('button', { name: new RegExp(`^${view}`) })
  if (await tab.isVisible()) return tab.click()
  await more.getByRole('button', { name: 'More' }).click()
  await page
    .locator('.more-list')
    .getByRole('button', { name: new RegExp(`^${view}`) })
    .click()
}

/** Shows the agent where it is a drawer or a tab. */
async function showAgent(page: Page): Promise<void> {
  const views = page.getByRole('navigation', { name: 'Views' })
  if (await views.isVisible()) return views.getByRole('button', { name: 'Agent' }).click()
  const drawer = button(page, 'Agent')
  if ((await drawer.isVisible()) && (await drawer.getAttribute('aria-pressed')) === 'false') await drawer.click()
}

async function openText(page: Page, path: string): Promise<void> {
  await open(page, 'Files')
  await page.locator(`[data-path="${path}"]`).click()
  await page.locator('.stage .cm-content').waitFor()
}

async function planApproved(page: Page): Promise<void> {
  await card(page, 'Approve a risky change')
  await openApprovals(page)
  await button(page, 'Approve the plan').click()
  await button(page, 'Approve the plan').waitFor({ state: 'detached' })
}

async function openPattern(page: Page): Promise<void> {
  await openApprovals(page)
  await button(page, 'Approve the rest like this…').click()
}

/** What else leads to a state in a page that has become as narrow as a phone. */
export const onPhone: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  sheet: openApprovals,
  plan: openApprovals,
  pattern: openPattern,
}

/** How each state is reached from the first screen. */
export const states: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  first: async () => {},
  running: async (page) => {
    await card(page, 'Mend a failing test')
    await page.getByText('I read what they test.').waitFor()
  },
  end: mended,
  attack: async (page) => {
    await card(page, 'Watch an attack fail')
    await endCard(page).waitFor()
  },
  approval: async (page) => {
    await planApproved(page)
    await approval(page, 'edit_file').or(approvalBar(page).getByText('src/day.js')).first().waitFor()
  },
  sheet: async (page) => {
    await planApproved(page)
    await openApprovals(page)
    await approval(page, 'edit_file').waitFor()
  },
  changes: async (page) => {
    await mended(page)
    await open(page, 'Changes')
    await page.getByRole('tree', { name: 'Changed files' }).getByRole('treeitem').last().click()
    await changedText(page).first().waitFor()
  },
  call: async (page) => {
    await card(page, 'Watch an attack fail')
    await endCard(page).waitFor()
    await open(page, 'Timeline')
    await calls(page).nth(3).click()
    await page.getByRole('heading', { name: 'What really happened' }).waitFor()
  },
  search: (page) => open(page, 'Search'),
  replace: async (page) => {
    await open(page, 'Search')
    await page.getByRole('searchbox').fill('cents')
    await button(page, 'Replace').first().click()
    await page.getByRole('textbox', { name: 'Replace with' }).fill('pennies')
    await page.getByRole('listbox', { name: 'Matches to replace' }).getByRole('option').nth(1).waitFor()
  },
  files: async (page) => {
    await open(page, 'Files')
    await page.locator('[data-path="src"]').click()
    await page.locator('[data-path="src/price.js"]').click({ button: 'right' })
    await page.getByRole('menu').waitFor()
  },
  deleted: async (page) => {
    await open(page, 'Files')
    await page.locator('[data-path="test"]').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.locator('.file-notice').waitFor()
  },
  find: async (page) => {
    await openText(page, 'README.md')
    await button(page, 'More for this file').click()
    await page.getByRole('menuitem', { name: 'Find and replace' }).click()
    await page.locator('.find-panel input').first().fill('cents')
    await page.keyboard.press('Enter')
  },
  preview: async (page) => {
    await openText(page, 'README.md')
    await button(page, 'Preview').click()
    await page.locator('.preview-text').waitFor()
  },
  'quick-open': async (page) => {
    await page.keyboard.press('Control+p')
    await page.getByRole('combobox', { name: 'Name of a file' }).fill('prj')
    await page.locator('.quick-open [role="option"]').first().waitFor()
  },
  refused: async (page) => {
    await card(page, 'Watch an attack fail')
    await endCard(page).waitFor()
    await page.locator('.refusal').first().scrollIntoViewIfNeeded()
    await page.locator('.refusal summary').first().click()
  },
  plan: async (page) => {
    await card(page, 'Approve a risky change')
    await openApprovals(page)
    await button(page, 'Approve the plan').waitFor()
  },
  pattern: async (page) => {
    await planApproved(page)
    await openPattern(page)
  },
  sides: async (page) => {
    await mended(page)
    await open(page, 'Changes')
    await page.getByRole('tree', { name: 'Changed files' }).getByRole('treeitem').last().click()
    await changedText(page).first().waitFor()
    const layout = page.getByRole('combobox', { name: 'Layout of differences' })
    if (!(await layout.isVisible())) return
    await chooseOption(page, 'Layout of differences', 'sides')
  },
  comment: async (page) => {
    await mended(page)
    await open(page, 'Changes')
    await page.getByRole('tree', { name: 'Changed files' }).getByRole('treeitem').last().click()
    await button(page, 'Comment').first().click()
    await page.keyboard.type('Why here, and not in taxOf?')
  },
  timeline: async (page) => {
    await card(page, 'Watch an attack fail')
    await endCard(page).waitFor()
    await open(page, 'Timeline')
    await calls(page).first().waitFor()
  },
  history: async (page) => {
    await mended(page)
    const more = page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'More' })
    if (await more.isVisible()) await more.click()
    await page.getByRole('slider', { name: 'State of the files' }).fill('0')
    await page.getByRole('textbox', { name: 'src/price.js as it was' }).waitFor()
  },
  terminal: async (page) => {
    if (await button(page, 'Terminal').isVisible()) await openTerminal(page)
    else await open(page, 'Terminal')
    await terminalInput(page).waitFor({ state: 'attached' })
    await terminalInput(page).focus()
    for (const line of ['ls -la', 'npm test', 'vim src/price.js']) {
      await page.keyboard.type(`${line}\n`)
      await page.waitForTimeout(1_500)
    }
  },
  html: async (page) => {
    await card(page, 'Keep a secret')
    await endCard(page).waitFor()
    await open(page, 'Files')
    await page.locator('[data-path="site"]').click()
    await page.locator('[data-path="site/index.html"]').click()
    await button(page, 'Preview').click()
    await page.locator('iframe').first().waitFor()
  },
  wrong: async (page) => {
    await open(page, 'Policy')
    await replaceText(page, policyText(page), '{ "preset": "autonomous", "deniedPath": ["src/**"] }')
    await page.locator('wardspace-policy .notice.bad').first().waitFor()
  },
  rules: async (page) => {
    await open(page, 'Policy')
    const policy = { preset: 'supervised', deniedPaths: ['test/**'], readOnlyPaths: ['src/format.js'] }
    await replaceText(page, policyText(page), JSON.stringify(policy, null, 2))
    await page.getByText('test/**').first().waitFor()
  },
  labels: async (page) => {
    await card(page, 'Keep a secret')
    await endCard(page).waitFor()
    await open(page, 'Policy')
  },
  conversations: async (page) => {
    await mended(page)
    await button(page, 'New').click()
    await page.locator('.conversation-bar button').first().click()
    await page.getByRole('menu').waitFor()
  },
  unreachable: async (page) => {
    await showAgent(page)
    await ownModel(page, { Address: 'http://127.0.0.1:9/v1', Model: 'any' })
    await send(page, 'What does src/price.js do?')
    await page.getByText('Nothing answers at').first().waitFor()
  },
  help: (page) => button(page, 'Keys and marks').click(),
  empty: async (page) => {
    await button(page, 'Open my project').click()
    await button(page, 'Empty').click()
    await projectButton(page, 'Empty project').waitFor()
    await page.locator('main[aria-busy="false"]').waitFor()
    await open(page, 'Files')
  },
  more: async (page) => {
    const more = page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'More' })
    if (await more.isVisible()) await more.click()
    else await open(page, 'Changes')
  },
  policy: (page) => open(page, 'Policy'),
  report: async (page) => {
    await mended(page)
    await open(page, 'Report')
    await page.getByRole('heading', { name: 'Forbidden paths tried' }).waitFor()
  },
  projects: (page) => button(page, 'Open my project').click(),
  settings: (page) => button(page, 'Use my own model').click(),
}
