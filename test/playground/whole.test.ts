import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import {
  activity,
  button,
  bytesOnDisk,
  changedText,
  filesOnDisk,
  importFiles,
  openFile,
  patiently,
  prints,
  projectButton,
  reload,
  replaceText,
  run,
  says,
  settled,
  show,
  slider,
  typeCommand,
} from './person.ts'
import { usePlayground } from './shared.ts'

/** Tests the whole playground through its user interface in a real browser. */
const playground = usePlayground()

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

async function runScenario(page: Page): Promise<void> {
  await run(page)
  await says(page, 'All tests pass.')
}

/** One page imports each project. */
describe('a project', () => {
  let person: BrowserContext
  let page: Page

  beforeAll(async () => {
    person = await playground.person()
    await person.addInitScript(() => {
      const pick = async (): Promise<FileSystemDirectoryHandle> => {
        const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('picked', { create: true })
        const stream = await (await folder.getFileHandle('b.txt', { create: true })).createWritable()
        await stream.write('b\n')
        await stream.close()
        return folder
      }
      // Tests cannot use the browser's dialog, which returns a directory like this one.
      Object.assign(globalThis, { showDirectoryPicker: pick })
    })
    page = await playground.sample('price-list', { context: person })
  })

  it('is imported and exported byte for byte through the user interface', async () => {
    const files = {
      'bom.txt': bytesOf('\ufeffone\n'),
      'crlf näme 漢字.txt': bytesOf('one\r\ntwo\r\n'),
      'deep/er/data.bin': Uint8Array.from({ length: 5_000 }, (_, i) => (i * 31) & 255),
      'empty.txt': new Uint8Array(),
    }
    await importFiles(page, 'given', files)
    const again = await bytesOnDisk(page)
    expect(Object.keys(again).sort()).toEqual(Object.keys(files).sort())
    for (const [path, bytes] of Object.entries(files)) {
      expect(Buffer.compare(again[path] as Uint8Array, bytes), path).toBe(0)
    }
  })

  it.runIf(isLong)('is created from a chosen or dropped folder, and works in place in a picked one', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'playground-folder-'))
    try {
      mkdirSync(join(directory, 'mine/src'), { recursive: true })
      writeFileSync(join(directory, 'mine/src/a.txt'), 'a\r\n')
      writeFileSync(join(directory, 'mine/.hidden'), 'h')
      await projectButton(page).click()
      await page.locator('#import-folder').setInputFiles(join(directory, 'mine'))
      await projectButton(page, 'mine').waitFor()
      expect(await filesOnDisk(page)).toEqual({ '.hidden': 'h', 'src/a.txt': 'a\r\n' })

      writeFileSync(join(directory, 'mine/new.txt'), 'n')
      const input = await person.newCDPSession(page)
      const data = { items: [], files: [join(directory, 'mine')], dragOperationsMask: 1 }
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await input.send('Input.dispatchDragEvent', { type, x: 500, y: 200, data })
      }
      await page.getByRole('treeitem', { name: 'new.txt' }).waitFor()
      expect(await filesOnDisk(page)).toEqual({ '.hidden': 'h', 'src/a.txt': 'a\r\n', 'new.txt': 'n' })

      await projectButton(page).click()
      await page.getByRole('button', { name: /in place/ }).click()
      await page.getByRole('treeitem', { name: 'b.txt' }).waitFor()
      await typeCommand(page, 'echo c > c.txt')
      await page.getByRole('treeitem', { name: 'c.txt' }).waitFor()
      const inPlace = await page.evaluate(async () => {
        const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('picked')
        return (await (await folder.getFileHandle('c.txt')).getFile()).text()
      })
      expect(inPlace).toBe('c\n')
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it.runIf(isLong)(
    'of 2,000 files has a usable tree, and a search while typing that keeps the page responsive',
    async () => {
      const files: Record<string, Uint8Array> = {}
      for (let i = 0; i < 2_000; i++) {
        const text = `export const value${i} = ${i}\n// the quick brown fox ${i}\n`.repeat(1 + ((i * 37) % 100))
        files[`src/part${i % 40}/file${i}.ts`] = bytesOf(text)
      }
      await importFiles(page, 'given', files)
      await page.getByRole('tree').press('Home')
      await page.keyboard.press('ArrowRight')
      await page.getByRole('treeitem', { name: 'part0', exact: true }).waitFor()
      await page.evaluate(() => {
        const tasks: number[] = []
        Object.assign(globalThis, { tasks })
        new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
          type: 'longtask',
        })
      })
      await show(page, 'Search')
      await page.getByRole('searchbox').pressSequentially('brown fox 1999', { delay: 60 })
      await page
        .getByRole('status')
        .getByText(/^\d+ lines?$/)
        .waitFor()
      const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks)
      console.log(`Longest task while searching 2,000 files as typed: ${Math.max(0, ...tasks).toFixed(0)} ms`)
      // An idle machine needs a tenth of this time.
      expect(Math.max(0, ...tasks)).toBeLessThan(1_000)
    },
  )
})

/** One page and its successor show a scenario and its results. */
describe('a scenario', () => {
  let page: Page

  beforeAll(async () => {
    page = await playground.sample('price-list')
  })

  it.runIf(isLong)('runs in one tab, while a second one is read-only until it takes the project over', async () => {
    const first = page
    const second = await settled(await playground.open(first.context()))
    await second.getByText('Another tab works on this project').waitFor()
    expect(await button(second, 'Run').isDisabled()).toBe(true)
    // The policy locks no file; that the tab only reads is no lock.
    await second.locator('[data-path="README.md"]').waitFor()
    expect(await second.locator('.tree-lock').count()).toBe(0)
    await runScenario(first)
    await second.getByRole('button', { name: 'Take it over' }).click()
    await second.getByText('All tests pass.').waitFor()
    await first.getByText('Another tab has taken this project over').waitFor()
    for (const action of ['Try again', 'Step by step']) expect(await button(first, action).isDisabled()).toBe(true)
    expect((await filesOnDisk(second))['src/price.js']).toContain('Math.round')
    await first.close()
    page = second
  })

  it.runIf(isLong)('keeps its conversation and its usable history over a reload', async () => {
    const states = await slider(page).getAttribute('max')
    const fixed = async (): Promise<string> => (await filesOnDisk(page))['src/price.js'] ?? ''
    expect(await fixed()).toContain('Math.round')
    await page.goto(playground.url)
    await page.getByText('All tests pass.').waitFor()
    await page.getByRole('region', { name: 'End of the run' }).getByRole('heading', { name: /^Done/ }).waitFor()
    await expect.poll(() => slider(page).getAttribute('max')).toBe(states)
    await slider(page).fill('0')
    await button(page, 'Go back to here').waitFor()
    expect(await fixed()).toContain('Math.round')
    await button(page, 'Go back to here').click()
    await page.getByText('Restored the files').waitFor({ state: 'attached' })
    expect(await fixed()).toContain('Math.floor')
    await slider(page).fill(String(states))
    await button(page, 'Go back to here').click()
    await expect.poll(fixed, patiently).toContain('Math.round')
  })

  it.runIf(isLong)('offers every action of every view by keyboard, and never traps the focus', async () => {
    await openFile(page, 'README.md')
    const missed: string[] = []
    // `npm test` tries a tree beside a list, a form, and the details of a call.
    const further = isLong ? ['Files', 'Search', 'Timeline', 'Report'] : []
    for (const name of ['Changes', 'Call', 'Policy', ...further]) {
      const isCall = name === 'Call'
      if (isCall) await page.keyboard.press('Alt+5')
      const place = isCall ? page.getByRole('listbox', { name: 'Timeline of calls' }) : activity(page, name)
      await place.focus()
      if (isCall) await page.keyboard.press('End')
      await page.keyboard.press('Enter')
      // The press closes a panel that is open already.
      if ((await place.getAttribute('aria-pressed')) === 'false') await page.keyboard.press('Enter')
      if (isCall) await page.getByRole('region', { name: /^Call \d/ }).waitFor()
      else expect(await place.getAttribute('aria-pressed'), name).toBe('true')
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      for (const one of await unreached(page)) missed.push(`${name}: ${one}`)
    }
    expect(missed).toEqual([])
  })

  it.runIf(isLong)('has no axe violations in any view, in the dark and light themes', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    // Evaluated by the test, because the page's content policy blocks script elements.
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8'))
    await show(page, 'Editor')
    const faults: string[] = []
    const faultsOf = (rules: readonly string[] | undefined): Promise<string[]> =>
      page.evaluate(async (rules) => {
        const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
        const { violations } = await axe.run(document, {
          resultTypes: ['violations'],
          ...(rules !== undefined && { runOnly: [...rules] }),
        })
        return violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => `${id} ${target} ${failureSummary}`),
        )
      }, rules)
    let looks = 0
    const look = async (view: string): Promise<void> => {
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      for (const fault of await faultsOf(undefined)) faults.push(`${view}, dark: ${fault}`)
      looks += 1
      // The other theme differs only in its colours. `npm test` looks at every fourth view.
      if (!isLong && looks % 4 !== 1) return
      await page.emulateMedia({ colorScheme: 'light' })
      await page.waitForFunction(() => document.documentElement.dataset.theme === 'light')
      for (const fault of await faultsOf(['color-contrast'])) faults.push(`${view}, light: ${fault}`)
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark')
    }
    await look('Editor')
    for (const name of ['Changes', 'Call', 'Policy', 'Report', 'Timeline', 'Limits', 'Search']) {
      await show(page, name)
      if (name === 'Changes') await changedText(page).first().waitFor()
      await look(name)
    }
    for (const name of [/^Project: /, 'Settings', 'Keys and marks']) {
      await page.getByRole('button', { name }).click()
      await page.getByRole('dialog').waitFor()
      await look(String(name))
      await page.keyboard.press('Escape')
    }
    await page.setViewportSize({ width: 400, height: 800 })
    await look('narrow')
    expect(faults).toEqual([])
  })

  it.runIf(isLong)(
    'says that the browser has removed its storage, and stores it again; a later visit says it too',
    async () => {
      await page.setViewportSize({ width: 1400, height: 900 })
      const clear = async (): Promise<void> => {
        const devtools = await page.context().newCDPSession(page)
        await devtools.send('Storage.clearDataForOrigin', {
          origin: new URL(playground.url).origin,
          storageTypes: 'file_systems,indexeddb',
        })
        await devtools.detach()
      }
      const states = await slider(page).getAttribute('max')
      await clear()
      await replaceText(page, await openFile(page, 'README.md'), 'A draft\n')
      const removed = page.getByText('The browser has removed the stored files of this project')
      await removed.waitFor()
      await page.keyboard.press('Control+S')
      await page.getByText('the browser has removed it. “Store them again” above').waitFor()
      await typeCommand(page, 'echo lost > new.txt')
      await prints(page, 'Storage failed')
      await button(page, 'Store them again').click()
      await removed.waitFor({ state: 'detached' })
      expect((await filesOnDisk(page))['src/price.js']).toContain('Math.round')
      expect(await (await openFile(page, 'README.md')).textContent()).toContain('A draft')
      // The conversation, the history and the undo of the run are stored too.
      await says(page, 'All tests pass.')
      expect(await slider(page).getAttribute('max')).toBe(states)
      await reload(page)
      await says(page, 'All tests pass.')
      await button(page, 'Take it back').click()
      await expect.poll(async () => (await filesOnDisk(page))['src/price.js'], patiently).toContain('Math.floor')

      await clear()
      await reload(page)
      const gone = page.getByRole('alert').filter({ hasText: /^The browser has removed “Price list” from its storage/ })
      await gone.getByRole('button', { name: 'Import a copy' }).click()
      await page.getByRole('dialog').getByText('From a zip').waitFor()
      await page.keyboard.press('Escape')
      await reload(page)
      await gone.getByRole('button', { name: 'Dismiss' }).click()
      await reload(page)
      expect(await gone.count()).toBe(0)
    },
  )
})

/** Returns the controls that neither Tab nor the arrow keys reach. */
async function unreached(page: Page): Promise<string[]> {
  const roles = 'tab treeitem option slider separator menuitem'.split(' ').map((role) => `[role="${role}"]`)
  const selector = ['a[href]', 'button', 'input', 'select', 'textarea', 'summary', '[contenteditable="true"]', ...roles]
  const expected = await page.locator(selector.join()).evaluateAll((all) => {
    const stops = new Set<Element>()
    const lost: string[] = []
    for (const element of all as HTMLElement[]) {
      if (
        !element.checkVisibility({ visibilityProperty: true }) ||
        element.matches(':disabled, [aria-disabled="true"]')
      )
        continue
      if (element.tabIndex >= 0) {
        stops.add(element)
        continue
      }
      const group = element.parentElement?.closest<HTMLElement>('[role="tablist"], [role="tree"], [role="listbox"]')
      const way = group?.tabIndex === 0 || group?.querySelector('[tabindex="0"]') != null
      if (!way && element.role !== 'separator') lost.push(element.outerHTML.slice(0, 120))
    }
    Object.assign(globalThis, { stops })
    ;(document.activeElement as HTMLElement | null)?.blur()
    return { count: stops.size, lost }
  })
  let isEditor = false
  for (let i = 0; i < 3 * expected.count + 20; i++) {
    // Tab indents in the editor, except after Escape.
    if (isEditor) await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    const now = await page.evaluate(() => {
      const { stops } = globalThis as unknown as { readonly stops: Set<Element> }
      let element = document.activeElement
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
      if (element !== null) stops.delete(element)
      return { left: stops.size, isEditor: (element as HTMLElement | null)?.isContentEditable === true }
    })
    if (now.left === 0) break
    isEditor = now.isEditor
  }
  return page.evaluate(
    (lost) => [
      ...lost,
      ...Array.from((globalThis as unknown as { readonly stops: Set<Element> }).stops, (one) =>
        one.outerHTML.slice(0, 120),
      ),
    ],
    expected.lost,
  )
}
