import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { patiently } from '../playground/person.ts'
import { usePlayground } from '../playground/shared.ts'

const built = usePlayground(join(import.meta.dirname, 'policy-page'))
const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/browser.md'), 'utf8')
const policy = (/^Content-Security-Policy: ([^`]+)/m.exec(guide)?.[1] ?? '').replaceAll(/\s+/g, ' ').trim()
const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
let server: Server

beforeAll(async () => {
  server = createServer(({ url = '/' }, response) => {
    const path = url === '/' ? 'index.html' : url.slice(1)
    response.setHeader('Content-Security-Policy', policy)
    response.setHeader('Content-Type', types[extname(path)] ?? 'text/plain')
    if (path === 'favicon.ico') response.writeHead(404).end()
    else response.end(readFileSync(join(built.directory, path)))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
afterAll(() => server.close())

it('all elements work under the whole Content-Security-Policy of the guide, and nothing tries what it refuses', async () => {
  expect(policy).toMatch(/^default-src 'none'; .*style-src 'self';.*form-action 'none'$/)
  const person = await built.person()
  await person.addInitScript(() => {
    const refused: string[] = []
    Object.assign(globalThis, { refused })
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile }) =>
      refused.push(`${effectiveDirective} ${blockedURI} ${sourceFile}`),
    )
  })
  const page = await person.newPage()
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`)
  await page.getByRole('textbox', { name: 'Message to the agent' }).fill('Set the price')
  await page.keyboard.press('Enter')
  const card = page.getByRole('article', { name: 'Approval of edit_file' })
  await card.getByText('+export const price = 2').waitFor()
  await card.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.locator('wardspace-chat strong').getByText('price').waitFor()
  await page.getByText('removed: export const price = 1').waitFor()
  await page.getByRole('listbox', { name: 'Timeline of calls' }).getByRole('option').first().waitFor()
  await page.getByRole('tree', { name: 'Files', exact: true }).getByRole('treeitem', { name: 'src' }).click()
  const text = page.locator('wardspace-editor .cm-content')
  await expect.poll(() => text.textContent(), patiently).toBe('export const price = 2')
  // The colours of the editor are those of its own style sheets.
  const keyword = text.locator('span').first()
  const [colour, plain] = await Promise.all(
    [keyword, text].map((place) => place.evaluate((element) => getComputedStyle(element).color)),
  )
  expect(colour).not.toBe(plain)
  await text.click()
  await page.keyboard.press('Control+f')
  await page.locator('wardspace-editor .find-panel input').first().waitFor()
  await page.getByLabel('Terminal input').focus()
  await page.keyboard.type('node -e "console.log(6 * 7)"\n')
  const output = () => page.locator('wardspace-terminal .xterm-rows').textContent()
  await expect.poll(output, patiently).toMatch(/7\)"\s*42/)
  await page.getByRole('textbox', { name: 'Policy as JSON' }).fill('{ "preset": "readOnly", "deniedPath": ["src"] }')
  await page
    .locator('wardspace-policy')
    .getByText(/deniedPath/)
    .first()
    .waitFor()
  expect(await page.evaluate(() => (globalThis as unknown as { refused: string[] }).refused)).toEqual([])
  expect(errors).toEqual([])
})
