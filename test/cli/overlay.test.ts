import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import { main, runCli } from './run-cli.ts'
import { withPolicy } from './with-policy.ts'

let home = ''
let root = ''
const env = () => ({ ...(process.env as Record<string, string>), XDG_STATE_HOME: join(home, 'state') })

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'wardspace-overlay-'))
  root = join(home, 'project')
  mkdirSync(root)
  writeFileSync(join(root, 'a.txt'), 'old\n')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const run = (...words: string[]) => runCli(withPolicy([...words, '--root', root]), { env: env() })

it('an overlay keeps the changes of an MCP session separate until they are accepted', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const args = [main, ...withPolicy(['mcp', '--root', root, '--overlay'])]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: env() }))
  const edit = await client.callTool({
    name: 'edit_file',
    arguments: { path: 'a.txt', oldText: 'old', newText: 'new' },
  })
  expect(edit.isError).not.toBe(true)
  await client.callTool({ name: 'write_file', arguments: { path: 'd/b.txt', content: 'b\n', expectedSha256: null } })
  // One process at a time.
  expect(await run('overlay', 'accept')).toMatchObject({ code: 2, stderr: expect.stringContaining('Another process') })
  await client.close()
  expect(readdirSync(root)).toEqual(['a.txt'])
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('old\n')

  const listing = await run('overlay')
  expect(listing).toMatchObject({ code: 0, stdout: expect.stringContaining('-old\n+new\n') })
  expect(JSON.parse((await run('overlay', 'show', '--json')).stdout)).toEqual({
    ok: true,
    pending: [
      { path: 'a.txt', to: 'file' },
      { path: 'd', to: 'directory' },
      { path: 'd/b.txt', to: 'file' },
    ],
  })
  expect(await run('overlay', 'accept', '--policy', 'readOnly')).toMatchObject({ code: 1 })
  expect(await run('overlay', 'accept', '--json')).toMatchObject({ code: 0 })
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n')
  expect(readFileSync(join(root, 'd/b.txt'), 'utf8')).toBe('b\n')
  expect((await run('overlay')).stdout).toBe('No changes are pending.\n')
})

it.runIf(isLong)('an overlay is not accepted over files that have changed, and can be discarded', async () => {
  await run('call', 'delete_file', '{"path":"a.txt"}', '--overlay')
  expect(existsSync(join(root, 'a.txt'))).toBe(true)
  writeFileSync(join(root, 'a.txt'), 'theirs\n')
  const refused = await run('overlay', 'accept', '--json')
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.stdout)).toMatchObject({ ok: false, code: 'WRITE_CONFLICT', path: 'a.txt' })
  expect(await run('overlay', 'discard')).toMatchObject({ code: 0 })
  expect((await run('overlay')).stdout).toBe('No changes are pending.\n')
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('theirs\n')
  expect(await run('overlay', 'nonsense')).toMatchObject({ code: 2 })
})
