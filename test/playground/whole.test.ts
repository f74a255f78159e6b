import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync, zipSync } from 'fflate'
import type { BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Playground, startPlayground } from './open.ts'

/** Tests the whole playground through its user interface in a real browser. */
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

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Opens a page with a project. */
async function opened(query = '?sample=price-list&storage=opfs'): Promise<Page> {
  const page = await playground.open(person, query)
  await page.getByRole('treeitem').first().waitFor()
  return page
}

async function runScenario(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('All tests pass.').waitFor()
}

async function importZip(page: Page, files: Readonly<Record<string, Uint8Array>>): Promise<void> {
  await page.getByRole('button', { name: /^Project: / }).click()
  const file = { name: 'given.zip', mimeType: 'application/zip', buffer: Buffer.from(zipSync({ ...files })) }
  await page.locator('#import-zip').setInputFiles(file)
  await page.getByRole('button', { name: 'Project: given' }).waitFor()
  await page.getByRole('treeitem').first().waitFor()
}

async function exportZip(page: Page): Promise<Record<string, Uint8Array>> {
  await page.getByRole('button', { name: /^Project: / }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'As a zip' }).click(),
  ])
  await page.keyboard.press('Escape')
  return unzipSync(new Uint8Array(readFileSync(await download.path())))
}

function texts(files: Readonly<Record<string, Uint8Array>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]))
}

describe('without a network', () => {
  it('everything works, no request leaves the origin, and the content policy is never violated', async () => {
    const question = new Set<string>()
    await person.close()
    person = await playground.person('keeps the page')
    person.on('request', (request) => question.add(new URL(request.url()).origin))
    await person.addInitScript(() => {
      const broken: string[] = []
      Object.assign(globalThis, { broken })
      addEventListener('securitypolicyviolation', (event) =>
        broken.push(`${event.effectiveDirective} ${event.blockedURI}`),
      )
    })
    const errors: string[] = []
    const page = await opened()
    page.on('pageerror', (error) => errors.push(error.message))
    await page.waitForFunction(() => document.documentElement.dataset.offline === 'ready')
    await person.setOffline(true)
    await person.route('**', (route) => route.abort())

    await runScenario(page)
    await page.getByRole('treeitem', { name: 'README.md' }).click()
    await page.locator('.cm-content').first().waitFor()
    for (const name of ['Changes', 'Call', 'Policy', 'Report', 'Timeline', 'Limits', 'Search']) {
      await page.getByRole('tab', { name }).click()
    }
    await page.getByRole('tab', { name: 'Changes' }).click()
    await page.locator('.cm-merge-a, .cm-mergeView, .cm-changedLine').first().waitFor()
    await page.getByLabel('Terminal input').focus()
    await page.keyboard.type('node -e "console.log(6 * 7)"\n')
    await page.locator('.terminal-place').getByText('42').first().waitFor()
    await page.getByRole('tab', { name: 'Files' }).click()
    await importZip(page, { 'a.txt': bytesOf('a\r\n') })
    expect(Object.keys(await exportZip(page))).toEqual(['a.txt'])
    await page.goto(playground.url)
    await page.getByRole('treeitem', { name: 'a.txt' }).waitFor()

    expect(errors).toEqual([])
    expect(await page.evaluate(() => (globalThis as unknown as { broken: string[] }).broken)).toEqual([])
    expect([...question].filter((origin) => origin !== new URL(playground.url).origin)).toEqual([])
  })
})

describe('a project', () => {
  it('is imported and exported byte for byte through the user interface', async () => {
    const page = await opened()
    const files = {
      'bom.txt': bytesOf('\ufeffone\n'),
      'crlf näme 漢字.txt': bytesOf('one\r\ntwo\r\n'),
      'deep/er/data.bin': Uint8Array.from({ length: 5_000 }, (_, i) => (i * 31) & 255),
      'empty.txt': new Uint8Array(),
    }
    await importZip(page, files)
    const again = await exportZip(page)
    expect(Object.keys(again).sort()).toEqual(Object.keys(files).sort())
    for (const [path, bytes] of Object.entries(files)) {
      expect(Buffer.compare(again[path] as Uint8Array, bytes), path).toBe(0)
    }
  })

  it('is created from a chosen or dropped folder, and works in place in a picked one', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'playground-folder-'))
    try {
      mkdirSync(join(directory, 'mine/src'), { recursive: true })
      writeFileSync(join(directory, 'mine/src/a.txt'), 'a\r\n')
      writeFileSync(join(directory, 'mine/.hidden'), 'h')
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
      const page = await opened()
      await page.getByRole('button', { name: /^Project: / }).click()
      await page.locator('#import-folder').setInputFiles(join(directory, 'mine'))
      await page.getByRole('button', { name: 'Project: mine' }).waitFor()
      expect(texts(await exportZip(page))).toEqual({ '.hidden': 'h', 'src/a.txt': 'a\r\n' })

      writeFileSync(join(directory, 'mine/new.txt'), 'n')
      const input = await person.newCDPSession(page)
      const data = { items: [], files: [join(directory, 'mine')], dragOperationsMask: 1 }
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await input.send('Input.dispatchDragEvent', { type, x: 500, y: 200, data })
      }
      await page.getByRole('treeitem', { name: 'new.txt' }).waitFor()
      expect(texts(await exportZip(page))).toEqual({ '.hidden': 'h', 'src/a.txt': 'a\r\n', 'new.txt': 'n' })

      await page.getByRole('button', { name: /^Project: / }).click()
      await page.getByRole('button', { name: /in place/ }).click()
      await page.getByRole('treeitem', { name: 'b.txt' }).waitFor()
      await page.getByLabel('Terminal input').focus()
      await page.keyboard.type('echo c > c.txt\n')
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

  it('keeps its conversation and its usable history over a reload', async () => {
    const page = await opened()
    await runScenario(page)
    const slider = page.getByRole('slider', { name: 'State of the files' })
    const states = await slider.getAttribute('max')
    const fixed = async (): Promise<string> => new TextDecoder().decode((await exportZip(page))['src/price.js'])
    expect(await fixed()).toContain('Math.round')
    await page.goto(playground.url)
    await page.getByText('All tests pass.').waitFor()
    await expect.poll(() => slider.getAttribute('max')).toBe(states)
    await slider.fill('0')
    await page.getByText('Restored the files').waitFor({ state: 'attached' })
    expect(await fixed()).toContain('Math.floor')
  })

  it('is read-only in a second tab until that tab takes it over', async () => {
    const first = await opened()
    const second = await opened('')
    await second.getByText('Another tab works on this project').waitFor()
    expect(await second.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true)
    await runScenario(first)
    await second.getByRole('button', { name: 'Take it over' }).click()
    await second.getByText('All tests pass.').waitFor()
    await first.getByText('Another tab works on this project').waitFor()
    expect(new TextDecoder().decode((await exportZip(second))['src/price.js'])).toContain('Math.round')
  })
})

describe('2,000 files from a zip', () => {
  it('have a usable tree, and a search while typing that keeps the page responsive', async () => {
    const page = await opened()
    const files: Record<string, Uint8Array> = {}
    for (let i = 0; i < 2_000; i++) {
      const text = `export const value${i} = ${i}\n// the quick brown fox ${i}\n`.repeat(1 + ((i * 37) % 100))
      files[`src/part${i % 40}/file${i}.ts`] = bytesOf(text)
    }
    await importZip(page, files)
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
    await page.getByRole('tab', { name: 'Search' }).click()
    await page.getByRole('searchbox').pressSequentially('brown fox 1999', { delay: 60 })
    await page.getByText('1 file, ').or(page.getByText('0 files, ')).waitFor()
    const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks)
    console.log(`Longest task while searching 2,000 files as typed: ${Math.max(0, ...tasks).toFixed(0)} ms`)
    // An idle machine needs a tenth of this time.
    expect(Math.max(0, ...tasks)).toBeLessThan(1_000)
  })
})

/** Uses one page for all views, after a scenario. */
describe('every view', () => {
  let page: Page
  beforeAll(async () => {
    page = await playground.open(undefined, '?sample=price-list&storage=opfs')
    await page.getByRole('treeitem').first().waitFor()
    await runScenario(page)
    await page.getByRole('treeitem', { name: 'README.md' }).click()
    await page.locator('.cm-content').first().waitFor()
  }, 120_000)
  afterAll(() => page?.context().close())

  it('offers every action by keyboard and never traps the focus', async () => {
    const missed: string[] = []
    for (const name of ['Editor', 'Changes', 'Call', 'Policy', 'Report', 'Timeline', 'Limits', 'Search']) {
      // Reaches the tab with the arrow keys, from its tab list.
      const tab = page.getByRole('tab', { name, exact: false }).first()
      const list = page.getByRole('tablist').filter({ has: tab })
      await list.locator('[role="tab"][tabindex="0"]').focus()
      for (let i = 0; i < 6 && (await tab.getAttribute('aria-selected')) !== 'true'; i++) {
        await page.keyboard.press('ArrowRight')
      }
      expect(await tab.getAttribute('aria-selected'), name).toBe('true')
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      for (const one of await unreached(page)) missed.push(`${name}: ${one}`)
    }
    expect(missed).toEqual([])
  })

  it('has no axe violations in the dark and light themes', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    // Evaluated by the test, because the page's content policy blocks script elements.
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8'))
    await page.getByRole('tab', { name: 'Editor' }).click()
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
    const look = async (view: string): Promise<void> => {
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      for (const fault of await faultsOf(undefined)) faults.push(`${view}, dark: ${fault}`)
      // The other theme differs only in its colours.
      await page.emulateMedia({ colorScheme: 'light' })
      await page.waitForFunction(() => document.documentElement.dataset.theme === 'light')
      for (const fault of await faultsOf(['color-contrast'])) faults.push(`${view}, light: ${fault}`)
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark')
    }
    await look('Editor')
    for (const name of ['Changes', 'Call', 'Policy', 'Report', 'Timeline', 'Limits', 'Search']) {
      await page.getByRole('tab', { name }).click()
      if (name === 'Changes') await page.locator('.cm-changedText').first().waitFor()
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
})

/** Returns the controls that neither Tab nor the arrow keys reach. */
async function unreached(page: Page): Promise<string[]> {
  const expected = await page.evaluate(() => {
    const roles = 'tab treeitem option slider separator menuitem'.split(' ').map((role) => `[role="${role}"]`)
    const all = document.querySelectorAll<HTMLElement>(
      ['a[href]', 'button', 'input', 'select', 'textarea', 'summary', '[contenteditable="true"]', ...roles].join(),
    )
    let count = 0
    const lost: string[] = []
    for (const element of all) {
      if (
        !element.checkVisibility({ visibilityProperty: true }) ||
        element.matches(':disabled, [aria-disabled="true"]')
      )
        continue
      if (element.tabIndex >= 0) {
        element.dataset.stop = String(count++)
        continue
      }
      const group = element.parentElement?.closest<HTMLElement>('[role="tablist"], [role="tree"], [role="listbox"]')
      const way = group?.tabIndex === 0 || group?.querySelector('[tabindex="0"]') != null
      if (!way && element.role !== 'separator') lost.push(element.outerHTML.slice(0, 120))
    }
    ;(document.activeElement as HTMLElement | null)?.blur()
    return { count, lost }
  })
  for (let i = 0; i < 3 * expected.count + 20; i++) {
    // Escape first, because Tab indents in the editor.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    const left = await page.evaluate(() => {
      delete (document.activeElement as HTMLElement | null)?.dataset.stop
      return document.querySelectorAll('[data-stop]').length
    })
    if (left === 0) break
  }
  return page.evaluate(
    (lost) => [
      ...lost,
      ...Array.from(document.querySelectorAll<HTMLElement>('[data-stop]'), (one) => {
        delete one.dataset.stop
        return one.outerHTML.slice(0, 120)
      }),
    ],
    expected.lost,
  )
}
