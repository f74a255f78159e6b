import type { BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, onTestFinished, TestRunner } from 'vitest'
import { type Playground, startPlayground } from './open.ts'
import { settled } from './person.ts'

/** The pages that this process serves, by their directory. The test files of a process share them and one browser. */
const started = new Map<string | undefined, Promise<Playground>>()

function start(root: string | undefined): Promise<Playground> {
  const [first] = started.values()
  const playground = started.get(root) ?? startPlayground(root, first)
  started.set(root, playground)
  return playground
}

/** What the tests of a file use. A context is closed at the end of the test that opens it, or else of the file. */
export interface SharedPlayground extends Pick<Playground, 'url' | 'directory' | 'person' | 'open'> {
  /** Opens a sample project and waits until it is shown. In OPFS and a new context by default. */
  sample(
    id: string,
    options?: { readonly storage?: 'opfs' | 'memory'; readonly context?: BrowserContext },
  ): Promise<Page>
}

/** @param root directory of a page to build and serve, by default the playground */
export function usePlayground(root?: string): SharedPlayground {
  let playground: Playground
  const ofFile: BrowserContext[] = []
  beforeAll(async () => {
    playground = await start(root)
  }, 240_000)
  afterAll(async () => {
    for (const context of ofFile) await context.close()
  })
  const person: Playground['person'] = async (keeps, motion) => {
    const context = await playground.person(keeps, motion)
    if (TestRunner.getCurrentTest() === undefined) ofFile.push(context)
    else onTestFinished(() => context.close())
    return context
  }
  const open: Playground['open'] = async (context, query) => playground.open(context ?? (await person()), query)
  return {
    get url() {
      return playground.url
    },
    get directory() {
      return playground.directory
    },
    person,
    open,
    sample: async (id, { storage = 'opfs', context } = {}) =>
      settled(await open(context, `?sample=${id}&storage=${storage}`)),
  }
}
