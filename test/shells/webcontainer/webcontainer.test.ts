import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shellContract } from '../../../src/testing/index.ts'
import { everyNth } from '../../counts.ts'
import { chromiumArgs, chromiumPath } from '../../runtimes/chromium.ts'
import { pageCalls } from '../../runtimes/page-calls.ts'
import type { PageApi } from './page.ts'
import { type Sites, serveSites } from './serve.ts'

let sites: Sites
let browser: Browser
/** Its pages share what the browser has loaded and compiled. */
let context: BrowserContext
let page: Page

beforeAll(async () => {
  sites = await serveSites()
  browser = await chromium.launch({ executablePath: await chromiumPath(), args: chromiumArgs })
  context = await browser.newContext()
  page = await openPage(sites.page)
})

afterAll(async () => {
  await browser?.close()
  sites?.close()
})

async function openPage(address: string): Promise<Page> {
  const one = await context.newPage()
  one.setDefaultTimeout(60_000)
  await one.goto(address)
  await one.waitForFunction(() => 'api' in globalThis)
  return one
}

const callPage = pageCalls<PageApi>()

describe('the page with the real client and the stand-in', () => {
  it('is cross-origin isolated', async () => {
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true)
  })

  it('uses every public member of the client', async () => {
    expect(new Set(await callPage(page, 'members'))).toEqual(
      new Set([
        ...['boot', 'mount', 'spawn', 'export', 'on', 'setPreviewScript', 'teardown', 'workdir', 'path'],
        ...['readFile', 'writeFile', 'readdir', 'mkdir', 'rm', 'rename', 'watch'].map((name) => `fs.${name}`),
        ...['output', 'input', 'resize', 'kill', 'exit'].map((name) => `process.${name}`),
      ]),
    )
  })
})

/** The only reasons for which a case may be skipped. */
const skipReasons = [
  'the shell does not declare stderr',
  'the shell does not declare guarded',
  'a container reports no permission bits',
  'the shell does not say where commands see the workspace',
]

describe('the shell contract of webcontainer(), over the stand-in', () => {
  const cases = shellContract({
    name: 'webcontainer',
    create: () => {
      throw new Error('It runs in the page')
    },
  })
  for (const { name } of everyNth(cases, 9)) {
    it(name, async (context) => {
      const result = await callPage(page, 'runCase', name)
      expect(result).toBeDefined()
      if (result?.skipped === undefined) return
      expect(skipReasons).toContain(result.skipped)
      context.skip(result.skipped)
    })
  }
})

describe('webcontainer() over the stand-in', () => {
  const scenarios = [
    'copies no unreadable file into the container, by any command or tool',
    'lists and audits each attempt to read a file that a line names',
    'reverts a refused change in the container and lists it',
    'reverts a change set in the container that is refused as a whole',
    'does not overwrite changes that another call makes while a command runs',
    'shows the changes of other calls to a background command, and does not count their echo as a change',
    'reverts a refused change of a background command and reports it',
    'lets a background command continue after a set of its changes was refused as a whole',
    'supports servers, their URLs, input and the size of the terminal',
    'passes input to a background command',
    'ends the container of a process that does not end, and boots another one for the next command',
    'copies links into a container that keeps them, and applies their changes',
    'copies unusual names and bytes there and back',
    'counts the copied files as read by every run, and gives a fork its own files',
    'passes stdin to a foreground command',
    'refuses a second shell on the same page',
  ]
  it.each(everyNth(scenarios, 2))('%s', async (name) => {
    expect(await callPage(page, 'scenarioNames')).toContain(name)
    await callPage(page, 'runScenario', name)
  })

  it('runs every scenario', async () => {
    expect(await callPage(page, 'scenarioNames')).toHaveLength(16)
  })

  it.each(
    everyNth(
      [
        ['keeps entries that an export omits', 'no-links,strips-bom,no-empty'],
        ['can boot again and close while a boot never ends', 'silent'],
        ['reports the final directory from a shell without trap', 'no-trap'],
        ['warns if the shell does not report the final directory', 'no-trap,dull'],
      ] as const,
      4,
      3,
    ),
  )('%s', async (_, key) => {
    const own = await openPage(sites.page)
    await callPage(own, 'runLacking', key)
    await own.close()
  })
})

describe('webcontainer() without a container', () => {
  async function runFallback(address: string, options: Parameters<PageApi['fallback']>[0], tries?: number) {
    const own = await openPage(address)
    const report = await callPage(own, 'fallback', options, tries)
    await own.close()
    return report
  }

  it.each(
    everyNth(
      [
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
      ] as const,
      4,
      2,
    ),
  )('runs commands with bash() if %s, with the reason in each result', async (_, address, options, reason) => {
    const { results, told, state, capabilities, read } = await runFallback(address(), options, 2)
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

/** The live test loads the runtime from its vendor and a package from a registry. */
const isLive = process.env.WARDSPACE_LIVE_WEBCONTAINER === '1'

describe("webcontainer() over the vendor's runtime", () => {
  it('passes the checks of the stand-in, and runs Node', async (context) => {
    if (!isLive) context.skip('it needs a network: WARDSPACE_LIVE_WEBCONTAINER=1 runs it')
    const own = await openPage(sites.page.replace(/\?.*/, ''))
    const apiKey = process.env.WARDSPACE_WEBCONTAINER_KEY
    const { state, outcomes } = await callPage(own, 'live', {
      hasNode: true,
      ...(apiKey === undefined ? {} : { apiKey }),
    })
    console.log({ state, outcomes })
    await own.close()
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok')).toEqual([])
  }, 900_000)

  it('has checks that the stand-in passes', async () => {
    const { state, outcomes } = await callPage(page, 'live', { hasNode: false })
    expect(state).toEqual({ runs: 'webcontainer', tellsCwd: true, links: true })
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok')).toEqual([])
    expect(Object.keys(outcomes)).toHaveLength(7)
  })
})
