import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shellContract } from '../../../src/testing/index.ts'
import { chromiumArgs, chromiumPath } from '../../runtimes/chromium.ts'
import type { PageApi } from './page.ts'
import { type Sites, serveSites } from './serve.ts'

let sites: Sites
let browser: Browser
let page: Page

beforeAll(async () => {
  sites = await serveSites()
  browser = await chromium.launch({ executablePath: await chromiumPath(), args: chromiumArgs })
  page = await openPage(sites.page)
})

afterAll(async () => {
  await browser?.close()
  sites?.close()
})

async function openPage(address: string): Promise<Page> {
  const one = await browser.newPage()
  one.setDefaultTimeout(60_000)
  await one.goto(address)
  await one.waitForFunction(() => 'api' in globalThis)
  return one
}

/** Calls a function of the page's. */
function ask<K extends keyof PageApi>(
  on: Page,
  name: K,
  ...args: Parameters<PageApi[K]>
): Promise<Awaited<ReturnType<PageApi[K]>>> {
  return on.evaluate(
    ([name, args]) => {
      const { api } = globalThis as unknown as { api: Record<string, (...args: unknown[]) => unknown> }
      return api[name as string]?.(...(args as unknown[]))
    },
    [name, args] as const,
  ) as Promise<Awaited<ReturnType<PageApi[K]>>>
}

describe('the real client and the stand-in', () => {
  it('is cross-origin isolated', async () => {
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true)
  })

  it('uses every public member of the client', async () => {
    expect(new Set(await ask(page, 'members'))).toEqual(
      new Set([
        ...['boot', 'mount', 'spawn', 'export', 'on', 'setPreviewScript', 'teardown', 'workdir', 'path'],
        ...['readFile', 'writeFile', 'readdir', 'mkdir', 'rm', 'rename', 'watch'].map((name) => `fs.${name}`),
        ...['output', 'input', 'resize', 'kill', 'exit'].map((name) => `process.${name}`),
      ]),
    )
  })
})

/** Why a case is skipped: nothing else keeps one from being run. */
const lacks = ['the shell declares no stderr', 'the shell declares no guarded', 'a container tells no permission bits']

describe('the contract of shells, over the stand-in', () => {
  const cases = shellContract({
    name: 'webcontainer',
    create: () => {
      throw new Error('It runs in the page')
    },
  })
  for (const { name } of cases) {
    it(name, async (context) => {
      const result = await ask(page, 'runCase', name)
      expect(result).toBeDefined()
      if (result?.skipped === undefined) return
      expect(lacks).toContain(result.skipped)
      context.skip(result.skipped)
    })
  }
})

describe('over the stand-in', () => {
  it.each([
    'what may not be read never crosses over, by any command or tool',
    'each try at what a line plainly names is told and audited',
    'a refused change is put back in the container and told',
    'a change set that is refused as a whole is gone from the container as well',
    'what another call changes while a command runs is not overwritten',
    'what others change reaches a background command, and its echo is not taken for a change',
    'a change of a background command that is refused is put back and told',
    'a background command goes on after a set of its changes was refused as a whole',
    'servers, their addresses, input and the size of the terminal',
    'a background command reads what is written to it',
    'a process that does not end is ended with its container, and the next command has another',
    'links are in the container where it keeps them, and changes of them come back',
    'names and bytes of every kind go there and come back',
    'what lies in the container counts as read by every run, and a fork has files of its own',
    'a foreground command reads the text that it is given',
    'one page, one container',
  ])('%s', async (name) => {
    expect(await ask(page, 'scenarioNames')).toContain(name)
    await ask(page, 'runScenario', name)
  })

  it('runs every scenario', async () => {
    expect(await ask(page, 'scenarioNames')).toHaveLength(16)
  })

  it.each([
    ['what an export does not tell stays as it is', 'no-links,strips-bom,no-empty'],
    ['a boot that never ends keeps nobody from another try, nor from closing', 'silent'],
    ['where a line ends is not told by a shell that cannot tell it', 'dull'],
  ])('%s', async (_, key) => {
    const own = await openPage(sites.page)
    await ask(own, 'runLacking', key)
    await own.close()
  })
})

describe('where there is no container', () => {
  async function fallenBack(address: string, options: Parameters<PageApi['fallback']>[0], tries?: number) {
    const own = await openPage(address)
    const told = await ask(own, 'fallback', options, tries)
    await own.close()
    return told
  }

  it.each([
    [
      'its frame never answers',
      () => sites.page,
      { apiKey: 'silent', bootTimeoutMs: 300 },
      /did not boot within 300 ms/,
    ],
    [
      'its frame cannot be loaded',
      () => sites.page.replace(/frame=.*/, 'frame=http://127.0.0.1:1'),
      { bootTimeoutMs: 300 },
      /did not boot within 300 ms/,
    ],
    ['the package is missing', () => sites.bare, {}, /needs the package @webcontainer\/api/],
    ['the page is not isolated', () => sites.plain, {}, /Cross-Origin-Opener-Policy: same-origin/],
  ])('bash() runs commands where %s, and each result says why', async (_, address, options, reason) => {
    const { results, told, state, capabilities, read } = await fallenBack(address(), options, 2)
    for (const result of results) {
      expect(result).toMatchObject({ ok: true, stdout: 'a\n', filesChanged: expect.anything() })
      expect((result as { warnings: string[] }).warnings.join()).toMatch(reason)
    }
    expect(told).toMatch(reason)
    expect(told).toContain('done\n')
    expect(read).toMatchObject({ ok: true, content: 'a\n' })
    expect(state).toMatchObject({ runs: 'fallback', name: 'bash', reason: expect.stringMatching(reason) })
    expect(capabilities).toMatchObject({ guarded: true, processes: false })
  })
})

/** It loads the runtime from its vendor and a package from a registry. */
const isLive = process.env.WARDSPACE_LIVE_WEBCONTAINER === '1'

describe("the vendor's own runtime", () => {
  it('does what the stand-in does, and runs Node', async (context) => {
    if (!isLive) context.skip('it needs a network: WARDSPACE_LIVE_WEBCONTAINER=1 runs it')
    const own = await openPage(sites.page.replace(/\?.*/, ''))
    const apiKey = process.env.WARDSPACE_WEBCONTAINER_KEY
    const { state, outcomes } = await ask(own, 'live', { hasNode: true, ...(apiKey === undefined ? {} : { apiKey }) })
    console.log({ state, outcomes })
    await own.close()
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok')).toEqual([])
  }, 900_000)

  it('is asked for what the stand-in does as well', async () => {
    const { state, outcomes } = await ask(page, 'live', { hasNode: false })
    expect(state).toEqual({ runs: 'webcontainer', tellsCwd: true, links: true })
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok')).toEqual([])
    expect(Object.keys(outcomes)).toHaveLength(7)
  })
})
