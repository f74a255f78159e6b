import { setTimeout as wait } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, onTestFinished, TestRunner } from 'vitest'
import { type Playground, startPlayground, viewport } from './open.ts'
import { settled } from './person.ts'

/** The pages that this process serves, by their directory. The test files of a process share them and one browser. */
const started = new Map<string | undefined, Promise<Playground>>()

function start(root: string | undefined): Promise<Playground> {
  const [first] = started.values()
  const playground = started.get(root) ?? startPlayground(root, first)
  started.set(root, playground)
  return playground
}

/** Pages of earlier tests with nothing in their storage. A page that is loaded again costs half of a new one. */
const idle = new Map<string, Page[]>()

const storageTypes = 'cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage,storage_buckets'

/** Whether a page is as one of a new user: nothing runs in it, and nothing is stored. */
async function isEmptied(page: Page, url: string): Promise<boolean> {
  const context = page.context()
  for (const other of context.pages()) if (other !== page) await other.close()
  // A document of the same origin, so that the process stays.
  await page.goto(`${url}icon.svg`)
  await page.emulateMedia({ colorScheme: null, reducedMotion: 'reduce' })
  await page.setViewportSize(viewport)
  // Outside of the page: nothing is hovered over.
  await page.mouse.move(-10, -10)
  const devtools = await context.newCDPSession(page)
  try {
    // Workers end later than the page that started them.
    for (let tries = 0; tries < 20; tries += 1, await wait(50)) {
      await devtools.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes })
      const rest = await page.evaluate(async () => {
        sessionStorage.clear()
        const directory = await navigator.storage.getDirectory()
        const { held = [], pending = [] } = await navigator.locks.query()
        let files = 0
        for await (const _ of directory.keys()) files += 1
        return files + (await indexedDB.databases()).length + localStorage.length + held.length + pending.length
      })
      if (rest === 0) return true
    }
  } finally {
    await devtools.detach()
  }
  return false
}

/** Keeps a page for the next test, or closes it if it cannot be emptied. */
async function giveBack(page: Page, url: string): Promise<void> {
  const isKept = await isEmptied(page, url).catch(() => false)
  if (isKept) idle.set(url, [...(idle.get(url) ?? []), page])
  else await page.context().close()
}

/**
 * What the tests of a file use. A context is closed at the end of the test that opens it, or else of the file. A page
 * that is opened without a context is emptied then, and used again by the next test. What stays on a page, such as a
 * route, a clock or an init script, needs a context of the test's own.
 */
export interface SharedPlayground extends Pick<Playground, 'url' | 'directory' | 'person' | 'open'> {
  /** Opens a sample project and waits until it is shown. In OPFS and with empty storage by default. */
  sample(
    id: string,
    options?: {
      readonly storage?: 'opfs' | 'memory'
      readonly context?: BrowserContext
      /** Whether the person wants motion. */
      readonly motion?: 'no-preference'
    },
  ): Promise<Page>
}

/** @param root directory of a page to build and serve, by default the playground */
export function usePlayground(root?: string): SharedPlayground {
  let playground: Playground
  const ofFile: (() => Promise<void>)[] = []
  beforeAll(async () => {
    playground = await start(root)
  }, 240_000)
  afterAll(async () => {
    for (const end of ofFile) await end()
  })
  const atEnd = (end: () => Promise<void>): void => {
    if (TestRunner.getCurrentTest() === undefined) ofFile.push(end)
    else onTestFinished(end)
  }
  const person: Playground['person'] = async (keeps, motion) => {
    const context = await playground.person(keeps, motion)
    atEnd(() => context.close())
    return context
  }
  const open = async (context?: BrowserContext, query = '', motion?: 'no-preference'): Promise<Page> => {
    if (context !== undefined) return playground.open(context, query)
    const { url } = playground
    const page = idle.get(url)?.pop() ?? (await (await playground.person()).newPage())
    atEnd(() => giveBack(page, url))
    if (motion !== undefined) await page.emulateMedia({ reducedMotion: motion })
    await page.goto(`${url}${query}`)
    return page
  }
  return {
    get url() {
      return playground.url
    },
    get directory() {
      return playground.directory
    },
    person,
    open,
    sample: async (id, { storage = 'opfs', context, motion } = {}) =>
      settled(await open(context, `?sample=${id}&storage=${storage}`, motion)),
  }
}
