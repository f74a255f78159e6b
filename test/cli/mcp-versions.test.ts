import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio'
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { officialClients } from '../adapters/mcp-official-clients.ts'

const main = join(import.meta.dirname, '../../dist/cli/main.js')
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'wardspace-versions-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

describe('wardspace mcp', () => {
  it.each(officialClients)('serves the official client %s over stdio', async (name, create, version) => {
    const root = join(home, name.replaceAll(' ', '-'))
    await mkdir(root)
    await writeFile(join(root, 'a.txt'), 'one\n')
    await writeFile(join(root, '.env'), 'KEY=hunter2\n')
    const questions: string[] = []
    const client = create({
      answer(message) {
        questions.push(message)
        return { action: 'accept', content: { decision: 'allow once' } }
      },
    })
    const Transport = name === 'v1' ? TransportV1 : TransportV2
    const args = [main, 'mcp', '--root', root, '--policy', 'supervised', '--shell', 'bash']
    await client.connect(new Transport({ command: process.execPath, args }))
    expect(client.version()).toBe(version)
    expect(await client.call('read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(await client.call('run_command', { command: 'wc -l < a.txt' })).toMatchObject({ ok: true, exitCode: 0 })
    expect(questions).toHaveLength(1)
    await client.close()
  })
})
