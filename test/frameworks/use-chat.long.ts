import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { chromiumArgs, chromiumPath } from '../runtimes/chromium.ts'
import { nodeOf } from '../runtimes/node-versions.ts'
import { packedTarball } from '../runtimes/packed.ts'

const home = mkdtempSync(join(tmpdir(), 'wardspace-use-chat-'))
const node = nodeOf(24)
const env = { ...process.env, PORT: '0', PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
let browser: Browser
let server: ChildProcess
let page: Page
let origin: string
/** The conversation that the page sent last. */
let sent: string

beforeAll(async () => {
  cpSync(join(import.meta.dirname, '../../examples/use-chat'), home, { recursive: true })
  const npm = (...words: string[]) => execFileSync('npm', [...words, '--silent'], { cwd: home, env })
  npm('install', packedTarball(), '--no-audit', '--no-fund')
  npm('run', 'build')
  browser = await chromium.launch({ executablePath: await chromiumPath(), args: chromiumArgs })
}, 600_000)
afterAll(async () => {
  await browser?.close()
  rmSync(home, { recursive: true, force: true })
})

beforeEach(async () => {
  server = spawn(node, ['server/start.ts'], { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data')) as [Buffer]
  origin = String(line).trim().replace(/\/$/, '')
  page = await browser.newPage()
  page.on('request', (request) => {
    if (request.method() === 'POST') sent = request.postData() ?? ''
  })
  await page.goto(origin)
  await page.getByRole('textbox', { name: 'Message' }).fill('Raise the price.')
  await page.keyboard.press('Enter')
  await cardOf('edit_file').getByText('+price: 12').waitFor()
  await cardOf('delete_file').getByText('-nobody needs this').waitFor()
})
afterEach(async () => {
  await page.close()
  server.kill()
  await once(server, 'exit')
})

const cardOf = (tool: string) => page.getByRole('article', { name: `Approval of ${tool}` })
const answer = (tool: string, name: 'Approve' | 'Deny') => cardOf(tool).getByRole('button', { name }).click()

async function send(body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${origin}/api/chat`, { method: 'POST', body, headers })
  return [response.status, await response.text()] as const
}

it('makes the approved call and not the denied one', async () => {
  await answer('edit_file', 'Approve')
  await answer('delete_file', 'Deny')
  await page.getByText('The price is new. The old file is still there.').waitFor()
  await page.getByText('edit_file: done').waitFor()
  await page.getByText('delete_file: denied').waitFor()
  // The same answers again.
  const [status, text] = await send(sent)
  expect(status).toBe(200)
  expect(text).toMatch(/"ok":false,"code":"(APPROVAL_REQUIRED|EDIT_NO_MATCH)"/)
  expect(text).not.toContain('"ok":true')
})

it('makes the approved deletion and not the denied edit', async () => {
  await answer('delete_file', 'Approve')
  await answer('edit_file', 'Deny')
  await page.getByText('The price is as before. The old file is gone.').waitFor()
})

it.each<[string, (body: string) => string]>([
  ['another input', (body) => body.replace('"newText":"price: 12"', '"newText":"price: 1"')],
  ['another file', (body) => body.replace('"input":{"path":"price.txt"', '"input":{"path":"old.txt"')],
  ['another tool', (body) => body.replace('"tool-edit_file"', '"tool-write_file"')],
  ['another id', (body) => body.replace('"toolCallId":"call-1"', '"toolCallId":"call-9"')],
  ['the id of the other call', (body) => body.replace('"toolCallId":"call-1"', '"toolCallId":"call-2"')],
])('refuses an answer that a modified page sends for %s', async (_, forge) => {
  let forged = ''
  await page.route('**/api/chat', async (route) => {
    const body = route.request().postData() ?? ''
    forged = forge(body)
    expect(forged).not.toBe(body)
    await route.continue({ postData: forged })
  })
  await answer('edit_file', 'Approve')
  await answer('delete_file', 'Deny')
  // An error, or, if both calls have one id, the denial.
  await page.getByRole('alert').or(page.getByText('The price is as before. The old file is still there.')).waitFor()
  const [, text] = await send(forged)
  expect(text).not.toContain('"ok":true')
})

it('answers its own page only', async () => {
  const body = sent
  expect((await send(body, { origin: 'http://example.com' }))[0]).toBe(403)
  expect((await send(body, { origin }))[0]).toBe(200)
})
