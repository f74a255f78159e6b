import type { Page } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { scenarioById } from '../../playground/agent/scenarios/index.ts'
import { isLong } from '../counts.ts'
import { changed, type Files, filesOf } from './agent/setup.ts'
import { startModelServer } from './model-server.ts'
import {
  approval,
  button,
  changedFiles,
  choose,
  command,
  conversation,
  filesOnDisk,
  importFiles,
  leaveAt,
  message,
  openFile,
  ownModel,
  patiently,
  ready,
  run,
  says,
  send,
  show,
  sourceOf,
  storedData,
  stores,
} from './person.ts'
import { usePlayground } from './shared.ts'

/** Runs the agent in a real page. The expected files are specified here, independently of the agent. */
const playground = usePlayground()

/** The files of a project after a scenario, and the last message of the agent. */
const ends: Readonly<Record<string, { readonly says: string; readonly files: (before: Files) => Files }>> = {
  'mend-a-test': {
    says: 'All tests pass. The cause was line 4 of src/price.js',
    files: changed('src/price.js', 'Math.floor((cents', 'Math.round((cents'),
  },
  // Runs before the other scenario on the same project.
  'explore-and-explain': { says: 'Nobody else asks for it.', files: (before) => before },
  'rename-across-files': {
    says: '13 lines in 6 files, by one patch.',
    files: (before) =>
      Object.fromEntries(
        Object.entries(before).map(([path, text]) => [
          path,
          path.startsWith('dist/') ? text : text.replaceAll(/\bgetTemp\b/g, 'readTemperature'),
        ]),
      ),
  },
  'resist-an-attack': { says: '7 of them were refused.', files: (before) => before },
  'drop-a-dependency': {
    says: 'All tests pass.',
    files: (before) => ({
      ...before,
      'src/day.js': (before['src/day.js'] ?? '')
        .replace("import { padLeft } from 'pad-lines'\n\n", '')
        .replace("padLeft(String(date.getUTCMonth() + 1), 2, '0')", "String(date.getUTCMonth() + 1).padStart(2, '0')")
        .replace("padLeft(String(date.getUTCDate()), 2, '0')", "String(date.getUTCDate()).padStart(2, '0')"),
      'src/table.js': (before['src/table.js'] ?? '')
        .replace("import { padLeft, padRight } from 'pad-lines'\n\n", '')
        .replace('padRight(name, WIDTHS.name)', 'name.padEnd(WIDTHS.name)')
        .replace('padLeft(amount.toFixed(2), WIDTHS.amount)', 'amount.toFixed(2).padStart(WIDTHS.amount)'),
      'package.json': (before['package.json'] ?? '').replace(/,\n {2}"dependencies": \{[^}]*\}/, ''),
      'package-lock.json': (before['package-lock.json'] ?? '')
        .replace(/,\n {6}"dependencies": \{[^}]*\}/, '')
        .replace(/,\n {4}"node_modules\/pad-lines": \{[^}]*\}/, ''),
    }),
  },
  'keep-a-secret': {
    says: 'I may not write to the page',
    files: (before) => ({
      ...before,
      'notes/drafts.md': `${before['notes/drafts.md']}\nFor the page:\n\n- Ada\n- Ben\n- Cleo\n`,
    }),
  },
}

describe('with the network cut', () => {
  let page: Page
  const asked = new Set<string>()
  const errors: string[] = []
  /** What the content policy of the page has refused since the page was loaded. */
  const refusedByPolicy = () => page.evaluate(() => (globalThis as unknown as { broken: string[] }).broken)

  beforeAll(async () => {
    const person = await playground.person('keeps the page')
    person.on('request', (request) => asked.add(new URL(request.url()).origin))
    await person.addInitScript(() => {
      const broken: string[] = []
      Object.assign(globalThis, { broken })
      addEventListener('securitypolicyviolation', (event) =>
        broken.push(`${event.effectiveDirective} ${event.blockedURI}`),
      )
    })
    page = await playground.sample('price-list', { context: person })
    page.on('pageerror', (error) => errors.push(error.message))
    await page.waitForFunction(() => document.documentElement.dataset.offline === 'ready')
    await person.setOffline(true)
    await person.route('**', (route) => route.abort())
  })

  // The scripts of all scenarios also run in Node: `agent.test.ts`. In `npm test`, the page runs one that is attacked and one
  // that keeps a secret.
  const fewer = ['explore-and-explain', 'rename-across-files', 'drop-a-dependency', 'mend-a-test']
  it.each(Object.entries(ends).filter(([id]) => isLong || !fewer.includes(id)))(
    '%s finishes and leaves the expected files',
    async (id, end) => {
      const before = await filesOf(scenarioById(id).sample)
      await choose(page, id)
      await expect.poll(() => message(page).inputValue(), patiently).toBe(scenarioById(id).prompt)
      await run(page)
      if (id === 'drop-a-dependency') {
        await button(page, 'Approve the plan').click()
        for (const tool of ['edit_file', 'edit_file', 'write_file', 'write_file', 'run_command']) {
          const card = approval(page, tool)
          const text = await card.textContent()
          await card.getByRole('button', { name: 'Approve', exact: true }).click()
          await expect
            .poll(async () => (await card.count()) === 0 || (await card.textContent()) !== text, patiently)
            .toBe(true)
        }
      }
      await says(page, end.says)
      await ready(page)
      expect(await filesOnDisk(page)).toEqual(end.files(before))
      if (id === 'resist-an-attack') await showsNoSecret()
    },
  )

  /** No byte of the secret is in the conversation or in stored data of the run. */
  async function showsNoSecret(): Promise<void> {
    expect(await sourceOf(page)).not.toContain('planted-')
    const secrets = [...((await filesOf('release-notes'))['.env'] ?? '').matchAll(/planted-\S+/g)].map(([one]) => one)
    await stores(page, '7 of them were refused.')
    const all = await storedData(page)
    // Only the file itself contains it.
    for (const secret of secrets) expect(all.split(secret).length - 1).toBe(1)
  }

  it('every view works, no request leaves the origin, and the content policy is never violated', async () => {
    for (const name of ['Changes', 'Call', 'Policy', 'Report', 'Timeline', 'Limits', 'Search']) await show(page, name)
    await openFile(page, 'README.md')
    expect(await changedFiles(page)).toEqual(['notes/drafts.md'])
    await page.locator('.stage').getByText('- Cleo').first().waitFor()
    await command(page, 'node -e "console.log(6 * 7)"', '42')
    await show(page, 'Files')
    await importFiles(page, 'given', { 'a.txt': 'a\r\n' })
    expect(await filesOnDisk(page)).toEqual({ 'a.txt': 'a\r\n' })
    expect(await refusedByPolicy()).toEqual([])

    await page.goto(playground.url)
    await page.getByRole('treeitem', { name: 'a.txt' }).waitFor()
    expect(await page.title()).toBe('Wardspace playground')
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true)
    expect(await refusedByPolicy()).toEqual([])
    const files = await page.evaluate(async () => {
      const kept = await caches.open((await caches.keys())[0] as string)
      const requests = await kept.keys()
      const answers = await Promise.all(requests.map(({ url }) => fetch(url).then(({ ok }) => ok)))
      return { count: requests.length, all: answers.every(Boolean) }
    })
    expect(files.all, 'each file of the build answers').toBe(true)
    expect(files.count).toBeGreaterThan(3)
    expect(errors).toEqual([])
    expect([...asked]).toEqual([new URL(playground.url).origin])
  })
})

describe('a reload during a run', () => {
  // A stop between two steps is also tried in Node, at each step: `agent.test.ts`.
  it.runIf(isLong).each([
    ['between two steps', true],
    ['while a command runs', false],
  ] as const)('restores the conversation, and the agent finishes: %s', async (_, isPaused) => {
    const page = await playground.sample('price-list')
    await choose(page, 'mend-a-test')
    const words = isPaused ? 'I read what they test.' : 'I run the tests'
    if (isPaused) {
      await button(page, 'Step by step').click()
      await button(page, 'Next step').click()
      await conversation(page).getByText(words).waitFor()
      await button(page, 'Next step').waitFor()
      await stores(page, words)
      await page.goto(playground.url)
    } else await leaveAt(page, 'Running npm test', playground.url, () => run(page))
    await says(page, words)
    await button(page, 'Go on').click()
    await says(page, 'All tests pass. The cause was line 4')
    expect(await filesOnDisk(page)).toEqual(ends['mend-a-test']?.files(await filesOf('price-list')))
  })
})

describe('a model at an address', () => {
  it.runIf(isLong)('works in the same page with the user’s key, which is not stored', async () => {
    const key = 'sk-planted-in-the-page-51b0c7d9'
    const server = await startModelServer({
      key,
      *script(request) {
        const done = yield* scenarioById('mend-a-test').script(request)
        return `${done} (The key was ${key}.)`
      },
    })
    const page = await playground.sample('price-list')
    const origins = new Set<string>()
    page.on('request', (request) => origins.add(new URL(request.url()).origin))
    await ownModel(page, { Address: server.url, Model: 'a-model', Key: key })
    await send(page, 'Some tests fail. Mend the code.')
    await says(page, '(The key was [the key].)')
    expect(server.faults).toEqual([])
    expect(server.requests.length).toBe(6)
    expect(await filesOnDisk(page)).toEqual(ends['mend-a-test']?.files(await filesOf('price-list')))
    expect([...origins].filter((origin) => origin !== new URL(playground.url).origin)).toEqual([
      new URL(server.url).origin,
    ])
    await stores(page, '(The key was [the key].)')
    expect((await storedData(page)).includes(key)).toBe(false)
    expect((await sourceOf(page)).includes(key)).toBe(false)
    await server.close()
  })
})
