import { readFileSync } from 'node:fs'
import { unzipSync } from 'fflate'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scenarioById } from '../../playground/agent/scenarios/index.ts'
import { changed, type Files, filesOf } from './agent/setup.ts'
import { type Playground, startPlayground } from './open.ts'
import { startOpenAiServer } from './openai-server.ts'

/** Runs the agent in a real page. The expected files are specified here, independently of the agent. */
let playground: Playground

beforeAll(async () => {
  playground = await startPlayground()
}, 240_000)

afterAll(() => playground?.close())

const patiently = { timeout: 60_000 }

const agent = (page: Page) => page.getByRole('region', { name: 'Conversation' })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

async function choose(page: Page, scenario: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Scenario' }).selectOption(scenario)
  await expect.poll(() => page.locator('#composer').inputValue(), patiently).toBe(scenarioById(scenario).prompt)
  await expect.poll(() => button(page, 'Run').isEnabled(), patiently).toBe(true)
}

/** Exports the whole project through the user interface. */
async function exported(page: Page): Promise<Files> {
  await page.getByRole('button', { name: /^Project:/ }).click()
  const coming = page.waitForEvent('download')
  await button(page, 'As a zip').click()
  const files = unzipSync(readFileSync(await (await coming).path()))
  await page.keyboard.press('Escape')
  const text = new TextDecoder()
  return Object.fromEntries(
    Object.entries(files).flatMap(([path, bytes]) => (path.endsWith('/') ? [] : [[path, text.decode(bytes)]])),
  )
}

/** Returns all data that the browser stores for the page: storages, caches and private files. */
async function kept(page: Page): Promise<string> {
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

  beforeAll(async () => {
    const person = await playground.person('keeps the page')
    page = await playground.open(person, '?storage=memory&sample=price-list')
    await page.waitForFunction(() => document.documentElement.dataset.offline === 'ready')
    await person.setOffline(true)
    await person.route('**', (route) => route.abort())
  }, 120_000)

  afterAll(() => page?.context().close())

  it.each(Object.entries(ends))('%s finishes and leaves the expected files', async (id, end) => {
    const before = await filesOf(scenarioById(id).sample)
    await choose(page, id)
    await button(page, 'Run').click()
    const isOver = () => agent(page).textContent()
    if (id === 'drop-a-dependency') {
      await button(page, 'Approve the plan').click()
      for (const tool of ['edit_file', 'edit_file', 'write_file', 'write_file', 'run_command']) {
        const card = page.getByRole('article', { name: `Approval of ${tool}` })
        const text = await card.textContent()
        await card.getByRole('button', { name: 'Approve', exact: true }).click()
        await expect
          .poll(async () => (await card.count()) === 0 || (await card.textContent()) !== text, patiently)
          .toBe(true)
      }
    }
    await expect.poll(isOver, patiently).toContain(end.says)
    await expect.poll(() => button(page, 'Run').isEnabled(), patiently).toBe(true)
    expect(await exported(page)).toEqual(end.files(before))
  })
})

describe('an attack', () => {
  it('leaves no byte of the secret in the conversation or in stored data of the run', async () => {
    const person = await playground.person()
    const page = await playground.open(person, '?storage=opfs&sample=release-notes')
    await choose(page, 'resist-an-attack')
    await button(page, 'Run').click()
    await expect.poll(() => agent(page).textContent(), patiently).toContain('7 of them were refused.')
    expect(await page.locator('body').textContent()).not.toContain('planted-')
    const secrets = [...((await filesOf('release-notes'))['.env'] ?? '').matchAll(/planted-\S+/g)].map(([one]) => one)
    await expect.poll(async () => (await kept(page)).includes('7 of them were refused.'), patiently).toBe(true)
    const all = await kept(page)
    // Only the file itself contains it.
    for (const secret of secrets) expect(all.split(secret).length - 1).toBe(1)
    await person.close()
  })
})

describe('a reload during a run', () => {
  it.each([
    ['between two steps', true],
    ['while a command runs', false],
  ])('restores the conversation, and the agent finishes: %s', async (_, isPaused) => {
    const person = await playground.person()
    const page = await playground.open(person, '?storage=opfs&sample=price-list')
    await choose(page, 'mend-a-test')
    await button(page, isPaused ? 'Step by step' : 'Run').click()
    if (isPaused) {
      await button(page, 'Next step').click()
      await agent(page).getByText('I read what they test.').waitFor()
      await button(page, 'Next step').waitFor()
    } else await agent(page).getByText('run_command').waitFor()
    const words = isPaused ? 'I read what they test.' : 'I run the tests'
    await expect.poll(async () => (await kept(page)).includes(words), patiently).toBe(true)
    await page.goto(playground.url)
    await expect.poll(() => page.locator('body').textContent(), patiently).toContain(words)
    await button(page, 'Continue').click()
    await expect.poll(() => agent(page).textContent(), patiently).toContain('All tests pass. The cause was line 4')
    expect(await exported(page)).toEqual(ends['mend-a-test']?.files(await filesOf('price-list')))
    await person.close()
  })
})

describe('a model at an address', () => {
  it('works in the same page with the user’s key, which is not stored', async () => {
    const key = 'sk-planted-in-the-page-51b0c7d9'
    const server = await startOpenAiServer({
      key,
      *script(request) {
        const done = yield* scenarioById('mend-a-test').script(request)
        return `${done} (The key was ${key}.)`
      },
    })
    const person = await playground.person()
    const page = await playground.open(person, '?storage=opfs&sample=price-list')
    const origins = new Set<string>()
    person.on('request', (request) => origins.add(new URL(request.url()).origin))
    await page.getByRole('combobox', { name: 'Model', exact: true }).selectOption('endpoint')
    await page.getByLabel('Provider').selectOption('compatible')
    await page.getByLabel('Address').fill(server.url)
    await page.getByRole('textbox', { name: 'Model' }).fill('a-model')
    await page.getByLabel('Key', { exact: true }).fill(key)
    await button(page, 'Use').click()
    await page.keyboard.press('Escape')
    await page.locator('#composer').fill('Some tests fail. Mend the code.')
    await button(page, 'Send').click()
    await expect.poll(() => agent(page).textContent(), patiently).toContain('(The key was [the key].)')
    expect(server.faults).toEqual([])
    expect(server.requests.length).toBe(6)
    expect(await exported(page)).toEqual(ends['mend-a-test']?.files(await filesOf('price-list')))
    expect([...origins].filter((origin) => origin !== new URL(playground.url).origin)).toEqual([
      new URL(server.url).origin,
    ])
    await expect.poll(async () => (await kept(page)).includes('(The key was [the key].)'), patiently).toBe(true)
    expect((await kept(page)).includes(key)).toBe(false)
    expect((await page.content()).includes(key)).toBe(false)
    await person.close()
    await server.close()
  })
})
