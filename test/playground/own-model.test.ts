import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call as modelCall, calls as modelCalls, say } from 'wardspace/testing/scripted-model'
import { isLong } from '../counts.ts'
import { type ModelServer, startModelServer } from './model-server.ts'
import {
  button,
  calls,
  chooseOption,
  conversation,
  conversationText,
  importFiles,
  message,
  model,
  ownModel,
  patiently,
  reload,
  says as saysOn,
  send as sendOn,
  setUp as setUpOn,
  show,
  switchProject,
} from './person.ts'
import { usePlayground } from './shared.ts'

/** A model of one's own: its key, its choice and its failures, in the words of a person. */
const playground = usePlayground()
let server: ModelServer
let page: Page

const nameIn = (request: string | undefined) => /Name it (\w+)/.exec(request ?? '')?.[1]
const key = 'sk-planted-in-the-field-71b0'

beforeAll(async () => {
  server = await startModelServer({
    key,
    models: [
      { id: 'text-embedding-3' },
      {
        id: 'maker/large',
        name: 'Maker: Large',
        context_length: 64_000,
        pricing: { prompt: '0.0000025', completion: '0.00001' },
        architecture: { input_modalities: ['text', 'image'] },
      },
      { id: 'a-model', context_window: 32_000 },
    ],
    *script(request) {
      if (request.includes('Call the tool')) yield* modelCalls('', { name: 'ready', input: {} })
      for (const path of request.includes('read three') ? ['README.md', 'package.json', 'src/price.js'] : []) {
        yield* modelCall('', 'read_file', { path })
      }
      if (request.includes('read three')) return 'I have read three files.'
      const note = /note (\d)/.exec(request)?.[1]
      if (note !== undefined) yield* modelCall('', 'append_file', { path: 'note.md', content: `${note}\n` })
      if (note !== undefined) return `Note ${note} is written.`
      let asked: string | undefined = request
      for (let name = nameIn(asked); name !== undefined; name = nameIn(asked)) {
        asked = yield* say(`It is ${name}, as you wish, and nothing else.`)
      }
      for (let i = 0; request.includes('loop') && i < 20; i++) yield* modelCall('', 'read_file', { path: 'README.md' })
      return 'Hello from the model of your own.'
    },
  })
  page = await playground.sample('price-list', { context: await playground.person() })
})

afterAll(() => server?.close())

const setUp = (fields: Readonly<Record<string, string>>) => setUpOn(page, fields)
const send = (text: string) => sendOn(page, text)
const says = (text: string | RegExp) => saysOn(page, text)
const clear = () => button(page, 'New').click()
const endHead = (text: RegExp) =>
  page.getByRole('region', { name: 'End of the run' }).getByRole('heading', { name: text }).waitFor()
const idle = () => button(page, 'Send').waitFor()

it('uses the key as soon as it is typed, also between two messages', async () => {
  await ownModel(page, { Address: server.url, Model: 'a-model', Key: `${key}-wrong` })
  await send('Hello?')
  await says(/did not accept the key\. Check it in the settings\./)
  await setUp({ Key: key })
  await send('Hello?')
  await says('Hello from the model of your own.')
  expect(server.faults).toEqual([])
})

describe('the settings of the model', () => {
  const dialog = () => page.getByRole('dialog')
  const openSettings = () => page.getByRole('button', { name: 'Settings' }).click()
  const status = (text: string | RegExp) => dialog().getByRole('status').filter({ hasText: text }).waitFor()

  it.runIf(isLong)('list the models of the server, and take what it says about the chosen one', async () => {
    await openSettings()
    await button(page, 'List models').click()
    const options = page.getByRole('listbox', { name: 'Models of the server' }).getByRole('option')
    await status('The server has 2 models.')
    expect(await options.allTextContents()).toEqual(['maker/large64k · $2.5 / $10', 'a-model32k'])
    await dialog().getByLabel('Model', { exact: true }).fill('lar')
    await expect.poll(() => options.count(), patiently).toBe(1)
    await page.keyboard.press('Enter')
    await dialog().getByText('Context, images and prices').click()
    expect(await dialog().getByLabel('Context in tokens').inputValue()).toBe('64000')
    expect(await dialog().getByLabel('Dollars per million tokens written').inputValue()).toBe('10')
    expect(await dialog().getByLabel('The model takes images').isChecked()).toBe(true)
    await dialog().getByLabel('Model', { exact: true }).fill('a-model')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  it('test the connection by a call of a tool, and say what is wrong', async () => {
    await openSettings()
    await button(page, 'Test connection').click()
    await status(/It works: a-model answered in [\d.]+ s and called a tool\./)
    server.misbehave('empty')
    await button(page, 'Test connection').click()
    await status('did not call the tool')
    server.misbehave(404)
    await button(page, 'Test connection').click()
    await status('does not know this model')
    await dialog().getByLabel('Key', { exact: true }).fill('sk-wrong-key')
    await button(page, 'List models').click()
    await status('did not accept the key')
    await dialog().getByLabel('Key', { exact: true }).fill(key)
    // What a request could not reach is of no interest once another one has.
    await page.route('**/models', (route) => route.abort(), { times: 1 })
    await button(page, 'List models').click()
    await status('127.0.0.1')
    await button(page, 'Test connection').click()
    await status(/It works/)
    expect(await dialog().getByRole('status').filter({ hasText: '127.0.0.1' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    expect(server.faults).toEqual([])
  })

  it.runIf(isLong)('mark a wrong number and a wrong address in their field, and keep the number before', async () => {
    await openSettings()
    const isMarked = (field: Locator) => field.getAttribute('aria-invalid')
    const cost = dialog().getByLabel('Dollars of one conversation, at most')
    await cost.fill('$5')
    await cost.blur()
    expect([await cost.inputValue(), await isMarked(cost)]).toEqual(['5', 'false'])
    await cost.press('End')
    await cost.pressSequentially(',50')
    await cost.blur()
    expect([await cost.inputValue(), await isMarked(cost)]).toEqual(['5,50', 'true'])
    await dialog().getByText('It is not clear what 5,50 means').waitFor()
    await dialog().getByText('It is still 5.').waitFor()
    const steps = dialog().getByLabel('Steps of one turn, at most')
    for (const wrong of ['0', '-1', 'abc', '']) {
      await steps.fill(wrong)
      expect(await isMarked(steps)).toBe('true')
    }
    const address = dialog().getByLabel('Address', { exact: true })
    const before = await address.inputValue()
    for (const wrong of ['hello', 'ftp://x', 'javascript:']) {
      await address.fill(wrong)
      expect(await isMarked(address)).toBe('true')
      await dialog()
        .getByText(/is not an address such as|must begin with https/)
        .waitFor()
    }
    await address.fill(before)
    expect(await isMarked(address)).toBe('false')
    await page.keyboard.press('Escape')
    await openSettings()
    expect([await cost.inputValue(), await steps.inputValue()]).toEqual(['5', '200'])
    await cost.fill('')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  it('send a key to no other server than the first, nor to another provider', async () => {
    const keys: unknown[] = []
    const other = createServer((request, response) => {
      response.setHeader('access-control-allow-origin', '*')
      response.setHeader('access-control-allow-headers', '*')
      response.setHeader('cross-origin-resource-policy', 'cross-origin')
      if (request.method !== 'OPTIONS') keys.push(request.headers.authorization ?? request.headers['x-api-key'])
      response.end('{"data":[]}')
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`
    try {
      await openSettings()
      await button(page, 'List models').click()
      await status('The server has 2 models.')
      await dialog().getByLabel('Address', { exact: true }).fill(address)
      await dialog()
        .getByText(`The key belongs to ${new URL(server.url).origin}`)
        .waitFor()
      await button(page, 'List models').click()
      await status('no models')
      await chooseOption(page, 'Provider', 'lmstudio')
      await dialog().getByLabel('Address', { exact: true }).fill(address)
      await button(page, 'List models').click()
      await status('no models')
      expect(keys).toEqual([undefined, undefined])
      await dialog().getByLabel('Address', { exact: true }).fill('')
      await chooseOption(page, 'Provider', 'compatible')
      await dialog().getByLabel('Address', { exact: true }).fill(server.url)
      await button(page, 'List models').click()
      await status('The server has 2 models.')
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
    } finally {
      other.closeAllConnections()
      other.close()
    }
  })

  it('reach a server with the protocol of Anthropic', async () => {
    await openSettings()
    await chooseOption(page, 'Provider', 'anthropic')
    await page.keyboard.press('Escape')
    await setUp({ Address: server.url, Model: 'a-model', Key: key })
    await clear()
    await send('Hello?')
    await says('Hello from the model of your own.')
    expect(server.messagesRequests.length).toBe(1)
    await openSettings()
    await chooseOption(page, 'Provider', 'compatible')
    await page.keyboard.press('Escape')
  })
})

it.runIf(isLong)('stays the chosen model over projects and reloads', async () => {
  await importFiles(page, 'other', { 'README.md': 'a\n', 'AGENTS.md': 'In this project, all names are in Latin.\n' })
  const chosen = async () => [
    await model(page).getAttribute('data-value'),
    await page.getByRole('button', { name: 'a-model' }).count(),
  ]
  await expect.poll(chosen, patiently).toEqual(['endpoint', 1])
  await send('Hello?')
  await says('Hello from the model of your own.')
  await switchProject(page, 'Price list')
  await expect.poll(chosen, patiently).toEqual(['endpoint', 1])
  await reload(page)
  await expect.poll(chosen, patiently).toEqual(['endpoint', 1])
  // The key was not to be kept.
  await setUp({ Key: key })
})

describe('the agent', () => {
  const lastSystem = () => JSON.stringify(server.requests.at(-1)?.messages[0])

  it.runIf(isLong)(
    'follows AGENTS.md of the project, which its own run reads, and the instructions of the person',
    async () => {
      await setUp({ 'Instructions for every conversation': 'Answer in rhymes.' })
      await switchProject(page, 'other')
      await clear()
      await send('Hello?')
      await says('Hello from the model of your own.')
      expect(lastSystem()).toContain('Answer in rhymes.')
      expect(lastSystem()).toContain('all names are in Latin')
      await show(page, 'Timeline')
      await calls(page).filter({ hasText: 'AGENTS.md' }).last().waitFor()
      await page.getByRole('button', { name: 'Settings' }).click()
      await page.getByLabel('Follow AGENTS.md of the project').uncheck()
      await setUp({ 'Instructions for every conversation': '' })
      await clear()
      await send('Hello?')
      await says('Hello from the model of your own.')
      expect(lastSystem()).not.toContain('all names are in Latin')
      expect(lastSystem()).not.toContain('rhymes')
      await switchProject(page, 'Price list')
    },
  )

  it('stops before a step that would exceed the budget, goes on with a larger one, and shows its use', async () => {
    await setUp({ 'Steps of one turn, at most': '2' })
    await clear()
    await send('read three')
    await says('Stopped: as many steps as one turn may have.')
    await endHead(/^Stopped by the limit of steps/)
    await setUp({ 'Tokens of one conversation, at most': '100' })
    await button(page, 'Go on').click()
    await says('Stopped: the next step would exceed the budget of tokens.')
    await endHead(/^Stopped by the budget of tokens/)
    await page.getByText(/tokens read, .* written/).waitFor()
    await page.getByText(/\d+ % of the context/).waitFor()
    await setUp({ 'Tokens of one conversation, at most': '', 'Steps of one turn, at most': '200' })
    await button(page, 'Go on').click()
    await says('I have read three files.')
    await endHead(/^Done/)
    expect(server.faults).toEqual([])
  })
})

describe('the conversation', () => {
  const composer = () => message(page)
  const lastMessages = () => JSON.stringify(server.requests.at(-1)?.messages.slice(1))
  const inMenu = (menu: string, item: string) =>
    button(page, menu)
      .click()
      .then(() => page.getByRole('menuitem', { name: item }).click())

  it('keeps messages in a queue while the agent works, to edit, to remove or to send', async () => {
    await clear()
    const release = server.hold()
    await send('Name it one.')
    const queue = page.getByRole('list', { name: 'Messages that wait' }).getByRole('listitem')
    for (const text of ['Name it two.', 'Name it three.', 'Name it four.']) {
      await composer().fill(text)
      await button(page, 'Send afterwards').click()
      await queue.filter({ hasText: text }).waitFor()
    }
    await queue.nth(1).getByRole('button', { name: 'Remove' }).click()
    await queue.nth(1).getByRole('button', { name: 'Edit' }).click()
    await expect.poll(() => composer().inputValue(), patiently).toBe('Name it four.')
    await composer().fill('Name it five.')
    await page.keyboard.press('Enter')
    await queue.filter({ hasText: 'five' }).waitFor()
    release()
    await says(/one\.[\s\S]*It is one[\s\S]*two\.[\s\S]*It is two[\s\S]*five\.[\s\S]*It is five/)
    await idle()
    expect(await queue.count()).toBe(0)
  })

  it('is stopped, tried again and continued by words; the queue waits after a stop', async () => {
    await clear()
    server.misbehave('hang')
    await send('Name it one.')
    await says('It is')
    await composer().fill('Name it two.')
    await page.keyboard.press('Enter')
    await composer().fill('stop')
    await page.keyboard.press('Enter')
    await says('Stopped')
    await send('Go on.')
    await says(/It is one[\s\S]*It is two/)
    await idle()
    const before = server.requests.length
    await send('retry')
    await expect.poll(() => server.requests.length, patiently).toBe(before + 1)
    await idle()
    expect(lastMessages()).not.toContain('retry')
  })

  it.runIf(isLong)('lets an earlier message be edited and sent again', async () => {
    await clear()
    await send('Name it one.')
    await says('It is one')
    await idle()
    await send('Name it two.')
    await says('It is two')
    await idle()
    await composer().fill('A thought for later')
    await page.getByRole('button', { name: 'Edit and send again' }).first().click()
    await expect.poll(() => composer().inputValue(), patiently).toBe('Name it one.')
    await composer().fill('Name it six.')
    await button(page, 'Send').click()
    await says('It is six')
    expect(await conversationText(page)).not.toMatch(/one|two/)
    expect(lastMessages()).not.toMatch(/one|two/)
    expect(await composer().inputValue()).toBe('A thought for later')
    await composer().fill('')
  })

  it.runIf(isLong)(
    'is one of several per project, which survive a reload, and can be opened, downloaded and deleted',
    async () => {
      await clear()
      await send('Name it seven.')
      await says('It is seven')
      await idle()
      await reload(page)
      await button(page, 'Name it seven.').click()
      await page.getByRole('menuitemcheckbox', { name: 'Name it six.' }).click()
      await says('It is six')
      await setUp({ Key: key })
      await send('Name it eight.')
      await says('It is eight')
      expect(lastMessages()).toContain('six')
      expect(lastMessages()).not.toContain('seven')
      await idle()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        inMenu('More for this conversation', 'Download as Markdown'),
      ])
      const text = readFileSync(await download.path(), 'utf8')
      expect(text).toMatch(/^# Name it six\.\n\n\*\*You:\*\* Name it six\.\n\n\*\*Agent:\*\* It is six/)
      await inMenu('More for this conversation', 'Delete this conversation')
      await expect.poll(() => conversationText(page), patiently).not.toContain('eight')
      await button(page, 'New conversation').click()
      expect(await page.getByRole('menuitemcheckbox', { name: 'Name it six.' }).count()).toBe(0)
      await page.getByRole('menuitemcheckbox', { name: 'Name it seven.' }).first().click()
      await says('It is seven')
    },
  )

  it.runIf(isLong)('takes files by @, and attached texts, images and PDF documents', async () => {
    await clear()
    await composer().focus()
    await page.keyboard.type('Name it nine: @prijs')
    const files = page.getByRole('listbox', { name: 'Files of the project' })
    await files.getByRole('option', { name: 'src/price.js' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => composer().inputValue(), patiently).toBe('Name it nine: @src/price.js ')
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const image = { name: 'shot.png', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') }
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Prices are in cents.') }
    const paper = { name: 'paper.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4\n%%EOF\n') }
    await page.locator('#attach-files').setInputFiles([notes, paper])
    await page.getByText('Cannot attach “paper.pdf”: this model takes no PDF documents.').waitFor()
    await page.locator('#attach-files').setInputFiles([image])
    await page.getByText('Cannot attach “shot.png”: this model takes no images.').waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByText('Context, images and prices').click()
    await page.getByLabel('The model takes images').check()
    await page.getByLabel('The model takes PDF documents').check()
    await page.keyboard.press('Escape')
    const large = { ...paper, name: 'large.pdf', buffer: Buffer.alloc(10_000_001) }
    await page.locator('#attach-files').setInputFiles([large])
    await page.getByText('Cannot attach “large.pdf”: PDF documents may have 10 MB.').waitFor()
    await page.locator('#attach-files').setInputFiles([image, paper])
    await page.getByRole('list', { name: 'Attached files' }).getByText('paper.pdf').waitFor()
    await page.getByRole('list', { name: 'Attached files' }).getByText('shot.png').waitFor()
    await button(page, 'Send').click()
    await says('It is nine')
    expect(lastMessages()).toContain('export function')
    expect(lastMessages()).toContain('Prices are in cents.')
    expect(lastMessages()).toContain(`data:image/png;base64,${png}`)
    expect(lastMessages()).toContain(
      `"filename":"paper.pdf","file_data":"data:application/pdf;base64,${paper.buffer.toString('base64')}"`,
    )
    await idle()
    await conversation(page).getByText('notes.txt').waitFor()
    expect(server.faults).toEqual([])
  })
})

it('says that an answer is empty or cut, and goes on', async () => {
  const ask = async (fault: Parameters<typeof server.misbehave>[0], task: string, shown: string | RegExp) => {
    server.misbehave(fault)
    await send(task)
    await says(shown)
  }
  await clear()
  await ask('empty', 'Hello?', 'The model answered with nothing.')
  await ask('cut', 'Once more?', 'The answer was cut off')
  await button(page, 'Go on').click()
  await says(/own\.[\s\S]*cut off[\s\S]*own\./)
  expect(server.faults).toEqual([])
  // Servers that announce a call and send none; a call of an answer that is cut off does not run.
  await clear()
  await ask('empty', 'Please read three.', 'The model answered with nothing.')
  await ask('cut', 'Please read three, now.', /Could not read[\s\S]*Stopped[\s\S]*cut off/)
})

it('counts down after too many requests, and tries again', async () => {
  await clear()
  await page.clock.install()
  server.misbehave(429, 429)
  for (const start of [() => send('Hello?'), () => page.clock.fastForward(1_000)]) {
    await start()
    await says(/Too many requests/)
    await says(/Trying again in \d+ s/)
  }
  await page.clock.fastForward(1_000)
  await says('Hello from the model of your own.')
  expect(await conversationText(page)).not.toContain('Too many requests')
})

it.runIf(isLong)('tries again by itself for each message, also after tries that were all in vain', async () => {
  await clear()
  await page.clock.install()
  for (const text of ['Hello?', 'Hello again?']) {
    server.misbehave(429, 429, 429, 429)
    const before = server.requests.length
    await send(text)
    // A first request and three more.
    await expect
      .poll(async () => {
        await page.clock.fastForward(1_000)
        return server.requests.length - before
      }, patiently)
      .toBe(4)
    await idle()
  }
})

it.runIf(isLong)(
  'does not wait for an hour, and sends no conversation to another server, model or key than the one that it waits for',
  async () => {
    await clear()
    server.misbehave({ retryAfter: 3_600 })
    await send('Hello?')
    await says('The server asks to wait for an hour.')
    const waiting = page.getByRole('timer', { name: 'Next try' })
    expect(await waiting.count()).toBe(0)
    await idle()

    const asked: string[] = []
    const other = createServer((request, response) => {
      if (request.method === 'POST') asked.push(request.url ?? '')
      response.end()
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    try {
      const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`
      for (const fields of [{ Address: address }, { Model: 'another' }, { Key: `${key}-other` }]) {
        await setUp({ Address: server.url, Model: 'a-model', Key: key })
        await clear()
        server.misbehave({ retryAfter: 5 })
        await send('Hello?')
        await waiting.waitFor()
        const before = server.requests.length
        await setUp(fields)
        await says('Not tried again: the server, the model or the key has changed')
        expect(await waiting.count()).toBe(0)
        await page.waitForTimeout(5_500)
        expect([asked, server.requests.length - before]).toEqual([[], 0])
      }
    } finally {
      await setUp({ Address: server.url, Model: 'a-model', Key: key })
      other.close()
    }
  },
)

it('says that the connection broke off, and repeats no text', async () => {
  await clear()
  server.misbehave('drop')
  await send('Hello?')
  await says('The connection broke off in the middle of the answer.')
  await button(page, 'Go on').click()
  await says('Hello from the model of your own.')
  expect((await conversationText(page))?.match(/Hello from/g)?.length).toBe(1)
})

it('shows the end of a run with its numbers after a turn that has called something, and after no other', async () => {
  await clear()
  await send('read three')
  await says('I have read three files.')
  const end = page.getByRole('region', { name: 'End of the run' })
  await endHead(/^Done/)
  await send('Hello?')
  await says('Hello from the model of your own.')
  await idle()
  expect(await end.count()).toBe(0)
})

it('keeps the card of each turn that has changed files, and takes back from there', async () => {
  await clear()
  const cards = page.getByRole('region', { name: 'End of the run' })
  const [first, second] = [cards.first(), cards.nth(1)]
  const named = (card: Locator, name: string) => card.getByRole('button', { name })
  await send('note 1')
  await says('Note 1 is written.')
  await send('Hello?')
  await says('Hello from the model of your own.')
  await idle()
  expect(await cards.count()).toBe(1)
  const top = async (place: Locator) => (await place.boundingBox())?.y ?? 0
  expect(await top(first)).toBeLessThan(await top(page.getByText('Hello from the model of your own.')))
  expect(await named(first, 'Take it back').isEnabled()).toBe(true)
  await send('note 2')
  await says('Note 2 is written.')
  await idle()
  await expect.poll(() => cards.count(), patiently).toBe(2)
  await named(first, 'Take back from here').click()
  for (const card of [first, second]) {
    await card.getByText('file is as before').waitFor()
    for (const name of ['Take it back', 'Review changes']) expect(await named(card, name).isDisabled()).toBe(true)
  }
})

it('stops a model that makes the same call again and again', async () => {
  await clear()
  const before = server.requests.length
  await send('loop')
  await says('Stopped: the model made the same calls again and again')
  await idle()
  expect(server.requests.length - before).toBe(3)
})

it('says why it cannot reach a server', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const strict = createServer((_, response) => {
    response.setHeader('cross-origin-resource-policy', 'cross-origin')
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(strict, 'listening')
  const strictPort = (strict.address() as AddressInfo).port
  try {
    const cases = [
      [`http://127.0.0.1:${port}/v1`, `Nothing answers at 127.0.0.1:${port}.`],
      [`http://127.0.0.1:${strictPort}/v1`, `The server at 127.0.0.1:${strictPort} runs, and does not let pages of`],
      ['http://127.0.0.1:11434/v1', 'OLLAMA_ORIGINS'],
    ] as const
    for (const [address, words] of cases) {
      await clear()
      await setUp({ Address: address })
      await send('Hello?')
      await says(words)
    }
    for (const [status, words] of [
      [404, 'does not know this model'],
      [400, 'Out of order'],
    ] as const) {
      await setUp({ Address: server.url })
      await clear()
      server.misbehave(status)
      await send('Hello?')
      await says(words)
    }
  } finally {
    strict.closeAllConnections()
    strict.close()
  }
})
