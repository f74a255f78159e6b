import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { mcp } from '../../src/cli/mcp.ts'

let home = ''
const ends: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'wardspace-client-roots-')))
  vi.stubEnv('XDG_STATE_HOME', join(home, 'state'))
  await mkdir(join(home, 'project/api'), { recursive: true })
  await mkdir(join(home, 'other'), { recursive: true })
  await writeFile(join(home, 'project/a.txt'), 'project\n')
  await writeFile(join(home, 'project/api/b.txt'), 'api\n')
  await writeFile(join(home, 'other/c.txt'), 'other\n')
  const policy = { preset: 'autonomous', deniedPaths: ['api/private/**'] }
  await writeFile(join(home, 'project/wardspace.config.json'), JSON.stringify(policy))
})

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  vi.unstubAllEnvs()
  await rm(home, { recursive: true, force: true })
})

/** Runs the command in this process, with the official client. */
async function connect(words: string[], names: () => string[]) {
  const host = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, once() {} }
  let message = ''
  host.stderr.on('data', (chunk) => {
    message += String(chunk)
  })
  const ended = mcp(words, host)
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { roots: { listChanged: true } } })
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: names().map((path) => ({ uri: pathToFileURL(join(home, path)).href })),
  }))
  // The server transport works for a client too, since both sides of a pipe use the same protocol.
  await client.connect(new StdioServerTransport(host.stdout, host.stdin))
  const end = async () => {
    host.stdin.end()
    expect(await ended).toBe(0)
  }
  ends.push(end)
  async function read(path: string): Promise<string> {
    const result = await client.callTool({ name: 'read_file', arguments: { path } })
    const failure = result._meta?.['wardspace/failure'] as { code: string } | undefined
    return failure?.code ?? String((result.structuredContent as { content: unknown }).content)
  }
  return { client, read, told: () => message }
}

describe("a client's roots on the command line", () => {
  it('narrow those of --root, at the same paths and under its policy', async () => {
    let roots = ['project']
    const { client, read } = await connect(['--root', join(home, 'project')], () => roots)
    expect(await read('a.txt')).toBe('project\n')
    roots = ['project/api', 'other']
    await client.sendRootsListChanged()
    expect(await read('api/b.txt')).toBe('api\n')
    expect(await read('a.txt')).toBe('NOT_FOUND')
    expect(await read('c.txt')).toBe('NOT_FOUND')
    expect(await read('api/private/x')).toBe('POLICY_DENIED')
    roots = ['other']
    await client.sendRootsListChanged()
    expect(await read('api/b.txt')).toBe('NOT_FOUND')
    expect((await client.listTools()).tools).toEqual([])
    // An empty list of roots means the default ones.
    roots = []
    await client.sendRootsListChanged()
    expect(await read('a.txt')).toBe('project\n')
  })

  it('are used as they are without --root', async () => {
    const { read } = await connect(['--policy', 'readOnly'], () => ['project/api', 'other'])
    expect(await read('api/b.txt')).toBe('api\n')
    expect(await read('other/c.txt')).toBe('other\n')
    expect(await read('package.json')).toBe('NOT_FOUND')
  })

  it('are ignored with --overlay, whose overlay belongs to the roots of the command line', async () => {
    const { read } = await connect(['--root', join(home, 'project'), '--overlay'], () => ['other'])
    expect(await read('a.txt')).toBe('project\n')
  })

  it('end in one refusal if they cannot be opened, with the reason on stderr', async () => {
    let roots = ['project']
    const words = ['--root', join(home, 'project'), '--audit', join(home, 'project/api/audit.jsonl')]
    await expect(mcp(words)).rejects.toThrow('is inside the root')
    const { client, read, told } = await connect(
      ['--policy', 'autonomous', '--audit', join(home, 'other/audit.jsonl')],
      () => roots,
    )
    expect(await read('a.txt')).toBe('project\n')
    roots = ['other']
    await client.sendRootsListChanged()
    expect(await read('c.txt')).toBe('BACKEND_ERROR')
    expect(told()).toContain('is inside the root')
    roots = ['project']
    await client.sendRootsListChanged()
    expect(await read('a.txt')).toBe('project\n')
  })
})
