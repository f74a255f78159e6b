import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright'
import { expect, it, onTestFinished } from 'vitest'
import { call, calls, type Script } from 'wardspace/testing/scripted-model'
import { git } from '../git/repositories.ts'
import { type ModelServer, startModelServer } from './model-server.ts'
import {
  applyPolicy,
  button,
  chooseOption,
  conversationText,
  exported,
  filesOnDisk,
  importFiles,
  message,
  policyText,
  replaceText,
  send,
  setUp,
  show,
} from './person.ts'
import { usePlayground } from './shared.ts'
import { faultsOf } from './state-faults.ts'

/** A day's work with a model of one's own: a task of 200 steps, from the first message to a patch that git takes. */
const playground = usePlayground()

const MODULES = 66
const CONTEXT = 40_000

const names = Array.from({ length: MODULES }, (_, at) => `module-${String(at + 1).padStart(2, '0')}`)

/** A project whose modules all round down, with a test for each of them. */
const files: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "sums", "type": "module", "scripts": { "test": "node --test" } }\n',
  ...Object.fromEntries(
    names.flatMap((name, at) => {
      const notes = Array.from(
        { length: 40 },
        (_, line) => `// Note ${line + 1} about ${name}, which nobody has read yet.`,
      )
      const code = `export function share(cents) {\n  return Math.floor(cents / ${at + 2})\n}\n`
      const test = [
        "import { test } from 'node:test'",
        "import assert from 'node:assert'",
        `import { share } from '../src/${name}.js'`,
        `test('${name} rounds to the nearest cent', () => assert.equal(share(${(at + 2) * 2 - 1}), 2))`,
      ]
      return [
        [`src/${name}.js`, `${notes.join('\n')}\n${code}`],
        [`test/${name}.test.js`, `${test.join('\n')}\n`],
      ]
    }),
  ),
}

/** Mends each module: reads it, edits it, and looks at the line again. */
const mending: Script = function* () {
  yield* call('I look at the project first.', 'list_directory', { path: 'src' })
  yield* call('', 'read_file', { path: 'package.json' })
  for (const [at, name] of names.entries()) {
    const path = `src/${name}.js`
    const file = yield* call('', 'read_file', { path })
    yield* call('', 'edit_file', {
      path,
      oldText: `Math.floor(cents / ${at + 2})`,
      newText: `Math.round(cents / ${at + 2})`,
      ...(file.ok && typeof file.sha256 === 'string' && { expectedSha256: file.sha256 }),
    })
    yield* call('', 'search_text', { query: 'Math.round', path })
  }
  const end = yield* call('I run the tests.', 'run_command', { command: 'npm test' })
  return end.ok && end.exitCode === 0 ? 'All modules round to the nearest cent now.' : JSON.stringify(end)
}

it.each([
  ['OpenAI', 'compatible'],
  ['Anthropic', 'anthropic'],
] as const)(
  'a task of 200 steps ends in a patch that git applies, with a context that is compacted at least twice (%s)',
  async (_, provider) => {
    const server = await startModelServer({ script: mending, contextTokens: CONTEXT, pieces: 400 })
    onTestFinished(() => server.close())
    const page = await playground.sample('price-list')
    await importFiles(page, 'sums', files)
    await applyPolicy(page, () => replaceText(page, policyText(page), '{ "preset": "autonomous" }'))
    await show(page, 'Agent')
    await chooseOption(page, 'Model', 'endpoint')
    await chooseOption(page, 'Provider', provider)
    await page.getByText('Context, images and prices').click()
    await setUp(page, {
      Address: server.url,
      Key: 'sk-a-key-of-one-day',
      Model: 'a-model',
      'Context in tokens': String(CONTEXT),
    })
    await send(page, 'All modules shall round to the nearest cent. Mend them, and run the tests.')
    await expect.poll(() => conversationText(page), long).toContain('as many steps as one turn may have')
    expect(server.requests.length + server.messagesRequests.length).toBe(200)
    await button(page, 'Go on').click()
    await expect.poll(() => conversationText(page), long).toContain('All modules round to the nearest cent now.')
    expect(server.faults).toEqual([])
    await page.getByText(/tests pass/).waitFor()

    const compacted = compactions([...server.requests, ...server.messagesRequests])
    expect(compacted).toBeGreaterThanOrEqual(2)

    const patch = (await exported(page, 'Changes as a patch')).toString('utf8')
    const directory = mkdtempSync(join(tmpdir(), 'wardspace-own-model-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    for (const [path, text] of Object.entries(files)) write(path, text)
    write('mend.patch', patch)
    git(directory, 'init')
    git(directory, 'apply', '--check', 'mend.patch')
    git(directory, 'apply', 'mend.patch')
    const mended = await filesOnDisk(page)
    for (const path of Object.keys(files)) expect(readFileSync(join(directory, path), 'utf8')).toBe(mended[path])
    expect(Object.values(mended).filter((text) => text.includes('Math.round')).length).toBe(MODULES)
  },
  600_000,
)

/** How each state of the views for a model of one's own is reached, from the one before. */
const statesWith = (server: ModelServer): Readonly<Record<string, (page: Page) => Promise<unknown>>> => {
  const attach = (page: Page) => {
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Prices are in cents.') }
    const image = { name: 'shot.png', mimeType: 'image/png', buffer: Buffer.from('x') }
    return page.locator('#attach-files').setInputFiles([notes, image])
  }
  return {
    'the settings of a model that works': async (page) => {
      await chooseOption(page, 'Model', 'endpoint')
      await chooseOption(page, 'Provider', 'ollama')
      await page.getByRole('dialog').getByLabel('Address', { exact: true }).fill(server.url)
      await page.getByRole('dialog').getByLabel('Model', { exact: true }).fill('a-model')
      await button(page, 'Test connection').click()
      await page.getByText(/^It works: a-model/).waitFor()
      await page.getByText('Context, images and prices').click()
    },
    'a queue of messages': async (page) => {
      await page.keyboard.press('Escape')
      server.hold()
      await send(page, 'Hello?')
      await message(page).fill('And afterwards?')
      await button(page, 'Send afterwards').click()
      await page.getByRole('list', { name: 'Messages that wait' }).getByText('And afterwards?').waitFor()
    },
    'an earlier message that is edited, with attachments': async (page) => {
      await button(page, 'Stop').click()
      await button(page, 'Send').waitFor()
      await page.getByRole('button', { name: 'Edit and send again' }).click()
      await attach(page)
      await page.getByText('Cannot attach “shot.png”').waitFor()
    },
  }
}

it('every control of the views for a model of one’s own has its place, and axe finds no violation', async () => {
  const server = await startModelServer({
    *script(request) {
      if (request.includes('Call the tool')) yield* calls('', { name: 'ready', input: {} })
      return 'Hello.'
    },
  })
  onTestFinished(() => server.close())
  const page = await playground.sample('price-list', { storage: 'memory' })
  expect(await faultsOf(page, statesWith(server))).toEqual([])
}, 300_000)

const long = { timeout: 500_000, interval: 1_000 }

/** Counts the requests that are shorter than the one before them, though the conversation has become longer. */
function compactions(requests: readonly object[]): number {
  const sizes = requests.map((request) => JSON.stringify(request).length)
  return sizes.filter((size, at) => size < (sizes[at - 1] ?? 0)).length
}
