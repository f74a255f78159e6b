import { readFileSync } from 'node:fs'
import { strToU8, unzipSync, zipSync } from 'fflate'
import type { Locator, Page } from 'playwright'
import { expect } from 'vitest'

/** What a person sees and does in the page, for tests. The layout of the page is known here only. */

export const patiently = { timeout: 120_000 }

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
export const conversation = (page: Page) => page.locator('wardspace-chat')
/** A button of the rail. */
export const activity = (page: Page, name: string) =>
  page
    .getByRole('navigation', { name: 'Activities' })
    .getByRole('button', { name: new RegExp(`^${name}( \\d+\\+?)?$`) })
/** A tab of the stage, by the name of its file or view. */
export const stageTab = (page: Page, name: string) =>
  page.locator('.file-tabs').getByRole('button', { name, exact: true })
export const editor = (page: Page, path: string) => page.getByRole('textbox', { name: `Text of ${path}` })
/** The field for the text of a file. In a conflict, the right side is the person's text. */
export const ownText = (page: Page, path: string) =>
  page.getByRole('textbox', { name: new RegExp(`^(Text of|Your text:) ${path}$`) })
/** The names of the opened files, or of the drafts if no file is opened. */
export const openedFiles = (page: Page) => page.locator('.file-tabs .name, .empty .button')
export const policyText = (page: Page) => page.getByRole('textbox', { name: 'Policy as JSON' })
export const message = (page: Page) => page.locator('#composer')
export const model = (page: Page) => page.getByRole('combobox', { name: 'Model', exact: true })
export const approval = (page: Page, tool: string) => page.getByRole('article', { name: `Approval of ${tool}` })
/** The bar that opens the approvals on a phone. */
export const approvalBar = (page: Page) => page.getByRole('region', { name: 'Waiting for you' })
/** The calls in the timeline. */
export const calls = (page: Page) => page.getByRole('listbox', { name: 'Timeline of calls' }).getByRole('option')
export const slider = (page: Page) => page.getByRole('slider', { name: 'State of the files' })
export const projectButton = (page: Page, name?: string) =>
  page.getByRole('button', { name: name === undefined ? /^Project: / : `Project: ${name}` })
export const terminalInput = (page: Page) => page.getByLabel('Terminal input')
/** A value of a run in Limits. */
export const fact = (page: Page, name: string) =>
  page
    .locator('.facts > div')
    .filter({ hasText: new RegExp(`^${name}`) })
    .locator('dd')
/** The messages of the agent. */
export const agentTexts = (page: Page) => page.locator('.said.agent')
export const terminalText = (page: Page) => page.locator('.terminal-place .xterm').textContent()
/** The changed parts of a diff. */
export const changedText = (place: Page | Locator) => place.locator('.cm-changedText, .changed-text')

/** What the conversation says, with what the page adds to it. */
export const conversationText = (page: Page) =>
  conversation(page)
    .getByRole('log')
    .evaluate((log) => {
      const textOf = (node: Node): string =>
        node instanceof HTMLSlotElement && node.assignedNodes().length > 0
          ? node.assignedNodes().map(textOf).join('')
          : node.hasChildNodes()
            ? [...node.childNodes].map(textOf).join('')
            : (node.textContent ?? '')
      return textOf(log)
    })

/** What the page consists of, shadow roots included. */
export const sourceOf = async (page: Page) =>
  [
    await page.content(),
    ...(await page.locator('*').evaluateAll((all) => all.map(({ shadowRoot }) => shadowRoot?.innerHTML ?? ''))),
  ].join('')

/** Waits until a text of the page matches. */
export const shows = (text: () => Promise<string | null>, expected: string | RegExp) =>
  expect.poll(text, patiently).toMatch(expected)
export const says = (page: Page, text: string | RegExp) => shows(() => conversationText(page), text)
export const prints = (page: Page, text: string | RegExp) => shows(() => terminalText(page), text)

/** Resolves when the project is shown. */
export async function settled(page: Page): Promise<Page> {
  await page.locator('main[aria-busy="false"]').waitFor()
  await page
    .getByRole('button', { name: 'Run', exact: true })
    .or(button(page, 'Send'))
    .or(button(page, 'Stop'))
    .waitFor()
  return page
}

/** Makes the page as small as a phone. The page follows the size with its next frame, which may be later than the next key. */
export async function becomePhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('[data-layout="phone"]').waitFor()
}

export async function reload(page: Page): Promise<void> {
  await page.reload()
  await settled(page)
}

/**
 * Loads an address at the moment in which the conversation shows a text after `begin`. The page does it by itself, since
 * the moment may have passed before a test sees it.
 */
export async function leaveAt(page: Page, text: string, address: string, begin: () => Promise<void>): Promise<void> {
  await page.evaluate(
    ([text, address]) => {
      const all = { subtree: true, childList: true, characterData: true }
      const observer = new MutationObserver(() => {
        const root = document.querySelector('wardspace-chat')?.shadowRoot
        if (root) observer.observe(root, all)
        if (root?.querySelector('[aria-label="Conversation"]')?.textContent?.includes(text) !== true) return
        observer.disconnect()
        location.replace(address)
      })
      observer.observe(document.body, all)
      const root = document.querySelector('wardspace-chat')?.shadowRoot
      if (root) observer.observe(root, all)
    },
    [text, address] as const,
  )
  const loaded = page.waitForEvent('load')
  await begin()
  await loaded
  await settled(page)
}

/** Opens a view: a panel with what it brings onto the stage, the last call, the editor or the agent. */
export async function show(page: Page, view: string): Promise<void> {
  if (view === 'Agent') return page.keyboard.press('Alt+4')
  if (view === 'Editor') return page.keyboard.press('Alt+2')
  const button = activity(page, view === 'Call' ? 'Timeline' : view === 'Limits' ? 'Policy' : view)
  await button.click()
  // The press closes a panel that is open already.
  if ((await button.getAttribute('aria-pressed')) === 'false') await button.click()
  if (view === 'Call') await calls(page).last().click()
}

/** Chooses an option of a list by its value. */
export async function chooseOption(page: Page, label: string, value: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click()
  await page.getByRole('listbox', { name: label, exact: true }).locator(`[data-value="${value}"]`).click()
}

export const terminalSwitch = (page: Page) => button(page, 'Terminal')

export async function openTerminal(page: Page): Promise<void> {
  if ((await terminalSwitch(page).getAttribute('aria-pressed')) === 'false') await terminalSwitch(page).click()
  await terminalInput(page).waitFor({ state: 'attached' })
}

/** Opens a file in the editor by its path. */
export async function openFile(page: Page, path: string): Promise<Locator> {
  await show(page, 'Files')
  const names = path.split('/')
  for (const [at, name] of names.entries()) {
    const row = page.locator(`[data-path="${names.slice(0, at + 1).join('/')}"]`)
    await row.waitFor()
    if (at === names.length - 1 || (await row.getAttribute('aria-expanded')) === 'false') await row.click()
    await expect.poll(() => page.getByRole('treeitem', { name }).count(), patiently).toBeGreaterThan(0)
  }
  await editor(page, path).first().waitFor()
  return editor(page, path)
}

/** Types into the terminal and presses Enter. */
export async function typeCommand(page: Page, line: string): Promise<void> {
  await openTerminal(page)
  await terminalInput(page).focus()
  await page.keyboard.type(`${line}\n`)
}

/** Runs a command in the person's terminal and waits for a text that it prints. */
export async function command(page: Page, line: string, output: string | RegExp): Promise<void> {
  await typeCommand(page, line)
  await prints(page, output)
}

/** Shows the approvals that wait; on a phone they are in a sheet. */
export async function openApprovals(page: Page): Promise<void> {
  const cards = page.locator('wardspace-approvals').filter({ visible: true })
  const bar = approvalBar(page).getByRole('button', { expanded: false })
  await cards.or(bar).first().waitFor()
  if (await bar.isVisible()) await bar.click()
  await cards.getByRole('article').first().waitFor()
}

/** Selects a scenario of the scripted model, without running it. */
export async function choose(page: Page, scenario: string): Promise<void> {
  await chooseOption(page, 'Scenario', scenario)
  // Its project has opened by then; until then the page shows the project before.
  await page.locator(`[role="combobox"][aria-label="Scenario"][data-value="${scenario}"]`).waitFor()
  await ready(page)
}

/** Resolves when a scenario can be started. */
export async function ready(page: Page): Promise<void> {
  const isReady = () =>
    button(page, 'Run')
      .isEnabled()
      .catch(() => false)
  await expect.poll(isReady, patiently).toBe(true)
}

/** Starts the selected scenario. */
export const run = (page: Page) => button(page, 'Run').click()

/** Runs the selected scenario until the agent says a text and is finished. */
export async function runTo(page: Page, end: string): Promise<void> {
  await run(page)
  await says(page, end)
  await ready(page)
}

/** Replaces a text in an editor of code. */
export async function replaceText(page: Page, field: Locator, text: string): Promise<void> {
  await field.click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(text)
}

/** Applies the policy that a function enters. */
export async function applyPolicy(page: Page, enter: () => Promise<unknown>): Promise<void> {
  await show(page, 'Policy')
  await enter()
  await button(page, 'Apply').click()
  await page.getByText('The policy is applied').waitFor({ state: 'attached' })
}

export const applyPreset = (page: Page, preset: string) =>
  applyPolicy(page, () => chooseOption(page, 'Begin with', preset))

/** Selects a model at an address and fills in the dialog of settings. */
export async function ownModel(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  await chooseOption(page, 'Model', 'endpoint')
  await chooseOption(page, 'Provider', 'compatible')
  await setUp(page, fields)
}

/** Fills in fields of the settings. */
export async function setUp(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  const dialog = page.getByRole('dialog')
  if ((await dialog.count()) === 0) await page.getByRole('button', { name: 'Settings' }).click()
  for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label, { exact: true }).fill(text)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

/** Sends a message to the model. */
export async function send(page: Page, text: string): Promise<void> {
  await message(page).fill(text)
  await button(page, 'Send').click()
}

/** Imports a project from a zip with these files, and opens it. */
export async function importFiles(
  page: Page,
  name: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  await projectButton(page).click()
  const entries = Object.entries(files).map(
    ([path, content]) => [path, typeof content === 'string' ? strToU8(content) : content] as const,
  )
  const buffer = Buffer.from(zipSync(Object.fromEntries(entries)))
  await page.locator('#import-zip').setInputFiles({ name: `${name}.zip`, mimeType: 'application/zip', buffer })
  await projectButton(page, name).waitFor()
  await settled(page)
}

export async function switchProject(page: Page, name: string): Promise<void> {
  await projectButton(page).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .first()
    .click()
  await projectButton(page, name).waitFor()
  await settled(page)
}

/** Clicks an export button and returns the file. */
export async function exported(page: Page, label: string): Promise<Buffer> {
  await projectButton(page).click()
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, label).click()])
  const bytes = readFileSync(await download.path())
  await page.keyboard.press('Escape')
  return bytes
}

/** The project's files as bytes, by path, through an export. */
export async function bytesOnDisk(page: Page): Promise<Readonly<Record<string, Uint8Array>>> {
  return unzipSync(new Uint8Array(await exported(page, 'As a zip')))
}

/** The project's files as texts, by path. */
export async function filesOnDisk(page: Page): Promise<Readonly<Record<string, string>>> {
  const files = await bytesOnDisk(page)
  return Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]))
}

/** The name of the focused element, within shadow roots too. */
export function focusedName(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    return (element?.getAttribute('aria-label') ?? element?.id) || undefined
  })
}

/** The paths that Changes lists. */
export async function changedFiles(page: Page): Promise<string[]> {
  await show(page, 'Changes')
  await page
    .getByText(/ha(s|ve) changed since the project/)
    .first()
    .waitFor()
  const rows = page.getByRole('tree', { name: 'Changed files' }).getByRole('treeitem').locator('[title]')
  return (await rows.evaluateAll((all) => all.map((row) => row.getAttribute('title') ?? ''))).sort()
}

/** Returns all data that the browser stores for the page: storages, caches and private files. */
export async function storedData(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const matches: string[] = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })]
    const walk = async (directory: FileSystemDirectoryHandle): Promise<void> => {
      for await (const handle of directory.values()) {
        if (handle.kind === 'directory') await walk(handle)
        else matches.push(handle.name, new TextDecoder('latin1').decode(await (await handle.getFile()).arrayBuffer()))
      }
    }
    await walk(await navigator.storage.getDirectory())
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const opening = indexedDB.open(name)
        opening.onsuccess = () => resolve(opening.result)
        opening.onerror = () => reject(opening.error)
      })
      for (const store of database.objectStoreNames) {
        const all = database.transaction(store).objectStore(store).getAll()
        await new Promise((resolve) => {
          all.onsuccess = resolve
        })
        matches.push(JSON.stringify(all.result))
      }
      database.close()
    }
    return matches.join('\n')
  })
}

/** Waits until the browser stores a text. */
export const stores = (page: Page, text: string) =>
  expect.poll(async () => (await storedData(page)).includes(text), patiently).toBe(true)
