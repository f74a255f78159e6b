import { readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { usePlayground } from '../playground/shared.ts'

const top = join(import.meta.dirname, '../..')
const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
const playground = usePlayground()
let server: Server

beforeAll(async () => {
  // The example as after `npm install wardspace`: the package is the built one of this directory.
  server = createServer(({ url = '/' }, response) => {
    const path = url === '/' ? '/index.html' : url
    const file = path.startsWith('/node_modules/wardspace/')
      ? join(top, path.slice('/node_modules/wardspace/'.length))
      : join(top, 'examples/html', path)
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return response.writeHead(404).end()
    return response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
afterAll(() => server.close())

it('the page in plain HTML runs without a bundler: the person approves what its agent changes', async () => {
  const page = await (await playground.person()).newPage()
  const failures: string[] = []
  page.on('pageerror', ({ message }) => failures.push(message))
  page.on('console', (message) => message.type() === 'error' && failures.push(message.text()))
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`)
  await page.getByRole('textbox', { name: 'Message to the agent' }).fill('Correct the price')
  await page.keyboard.press('Enter')
  const card = page.getByRole('article', { name: 'Approval of edit_file' })
  await card.getByText('+export const price = 2').waitFor()
  await card.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByText('The price is 2 now.').waitFor()
  await page.getByText('Blocked: .env is').first().waitFor()
  await page.getByText('-export const price = 1').waitFor()
  await page.getByRole('treeitem', { name: 'src' }).click()
  await page.getByRole('treeitem', { name: 'price.js' }).click()
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Text of src/price.js' }).inputValue())
    .toBe('export const price = 2\n')
  expect(failures.filter((text) => !text.includes('favicon'))).toEqual([])
})
