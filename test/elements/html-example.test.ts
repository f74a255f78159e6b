import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { usePlayground } from '../playground/shared.ts'
import { useExample } from './use-example.ts'

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
  await useExample(page, `http://localhost:${(server.address() as AddressInfo).port}/`)
  // The page maps neither xterm nor CodeMirror.
  await page.evaluate(`Promise.all(['wardspace', 'wardspace/backends/memory', 'wardspace/ui'].map((name) => import(name))).then(
    async ([{ createWorkspace }, { memory }, { createEditor, createTerminal }]) => {
      const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'one' }), policy: 'readOnly' })
      const terminal = Object.assign(document.createElement('wardspace-terminal'), { controller: createTerminal({ workspace }) })
      const editor = Object.assign(document.createElement('wardspace-editor'), { controller: createEditor({ workspace }) })
      document.body.replaceChildren(terminal, editor)
      await editor.controller.open('a.txt')
    },
  )`)
  await page.getByText('The terminal needs the packages @xterm/xterm and @xterm/addon-fit.').waitFor()
  await expect.poll(() => page.getByRole('textbox', { name: 'Text of a.txt' }).inputValue()).toBe('one')
})

it('says how to choose another port when its own is taken', () => {
  const { port } = server.address() as AddressInfo
  const env = { ...process.env, PORT: String(port) }
  const { status, stderr } = spawnSync(process.execPath, ['serve.js'], {
    cwd: join(top, 'examples/html'),
    env,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, `Port ${port} is taken. Choose another one: PORT=8081 npm start\n`])
})

it.each(['react', 'svelte', 'vue'])('the example in %s has the same agent and styles', (name) => {
  for (const file of ['agent.js', 'page.css']) {
    expect(readFileSync(join(top, 'examples', name, 'src', file), 'utf8')).toBe(
      readFileSync(join(top, 'examples/html', file), 'utf8'),
    )
  }
})
