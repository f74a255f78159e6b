import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema, type ElicitResult, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { main } from './run-cli.ts'
import { withPolicy } from './with-policy.ts'

interface Answer {
  readonly isError?: boolean
  readonly structuredContent: Record<string, unknown>
  readonly _meta: { readonly 'wardspace/failure': Record<string, unknown> }
  readonly content: readonly { readonly type: string; readonly text: string }[]
}

describe('the MCP server, driven by the official client over stdio', () => {
  let home: string
  let root: string
  let client: Client

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'wardspace-mcp-'))
    root = join(home, 'project')
    await mkdir(join(root, 'src'), { recursive: true })
    await writeFile(join(root, 'src/app.ts'), 'export const answer = 41\n')
    await writeFile(join(root, '.env'), 'PASSWORD=hunter2\n')
  })

  afterEach(async () => {
    await client.close()
    await rm(home, { recursive: true, force: true })
  })

  async function connect(...options: string[]): Promise<void> {
    await connectAs(new Client({ name: 'test', version: '1.0.0' }), ...options)
  }

  async function connectAs(expected: Client, ...options: string[]): Promise<void> {
    client = expected
    const args = [main, ...withPolicy(['mcp', '--root', root, ...options])]
    const env = { ...(process.env as Record<string, string>), XDG_STATE_HOME: join(home, 'state') }
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env }))
  }

  async function call(name: string, input: Record<string, unknown>): Promise<Answer> {
    return (await client.callTool({ name, arguments: input })) as unknown as Answer
  }

  function failure(answer: Answer): Record<string, unknown> {
    expect(answer.isError).toBe(true)
    return answer._meta['wardspace/failure']
  }

  it('lists the tools, makes an edit, and refuses a write', async () => {
    await connect()
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('edit_file')
    const read = tools.find(({ name }) => name === 'read_file')
    expect(read?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false })
    expect(tools.find(({ name }) => name === 'delete_file')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
    })
    expect(read?.outputSchema?.properties).toHaveProperty('sha256')

    // The client checks structured results against the output schemas that it has listed.
    const file = await call('read_file', { path: 'src/app.ts' })
    expect(file.structuredContent).toMatchObject({ ok: true, content: 'export const answer = 41\n' })

    const edited = await call('edit_file', {
      path: 'src/app.ts',
      oldText: '41',
      newText: '42',
      expectedSha256: file.structuredContent.sha256,
    })
    expect(edited.isError).toBeUndefined()
    expect(await readFile(join(root, 'src/app.ts'), 'utf8')).toBe('export const answer = 42\n')

    const stale = await call('write_file', {
      path: 'src/app.ts',
      content: 'lost\n',
      expectedSha256: file.structuredContent.sha256,
    })
    expect(stale.isError).toBe(true)
    expect(failure(stale)).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    expect(stale.content[0]?.text).toMatch(/^WRITE_CONFLICT: .*\nRead the file again/)
    expect(await readFile(join(root, 'src/app.ts'), 'utf8')).toBe('export const answer = 42\n')

    const secret = await call('read_file', { path: '.env' })
    expect(failure(secret)).toMatchObject({ ok: false, code: 'POLICY_DENIED_SECRET' })
    expect(JSON.stringify(secret)).not.toContain('hunter2')
  })

  it('registers no mutating tool when read-only, and gives that reason if one is called', async () => {
    await connect('--read-only')
    const { tools } = await client.listTools()
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
    const refused = await call('write_file', { path: 'a.txt', content: 'a' })
    expect(failure(refused)).toMatchObject({ code: 'READ_ONLY' })
  })

  it('asks for approval, reports progress, can be cancelled, and has roots and resources', async () => {
    await mkdir(join(root, 'inner'))
    await writeFile(join(root, 'inner/b.txt'), 'one\n')
    const person = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: {}, roots: {} } })
    person.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: [{ uri: pathToFileURL(join(root, 'inner')).href }],
    }))
    const questions: string[] = []
    let reached = () => {}
    const request = new Promise<void>((resolve) => {
      reached = resolve
    })
    const never = new Promise<ElicitResult>(() => {})
    const answers: (ElicitResult | Promise<ElicitResult>)[] = [
      { action: 'accept', content: { decision: 'allow once' } },
      { action: 'decline' },
      never,
    ]
    person.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message)
      const answer = answers[questions.length - 1] ?? never
      if (answer === never) reached()
      return answer
    })
    const policy = join(home, 'policy.json')
    await writeFile(policy, JSON.stringify({ preset: 'supervised' }))
    await connectAs(person, '--policy', policy)

    // The client's root narrows the workspace to itself.
    const outside = await call('read_file', { path: 'src/app.ts' })
    expect(outside.isError).toBe(true)
    const { resources } = await client.listResources()
    const files = resources.map(({ uri }) => uri).filter((uri) => uri.startsWith('wardspace://files/'))
    expect(files).toEqual(['wardspace://files/inner/b.txt'])
    expect(await client.readResource({ uri: files[0] as string })).toMatchObject({ contents: [{ text: 'one\n' }] })

    const progress: number[] = []
    const patch = ['c', 'd'].map((name) => `--- /dev/null\n+++ b/inner/${name}.txt\n@@ -0,0 +1 @@\n+${name}\n`).join('')
    const patched = await client.callTool({ name: 'apply_patch', arguments: { patch } }, undefined, {
      onprogress: (one) => progress.push(one.progress),
    })
    expect(patched.isError).toBeUndefined()
    expect(progress.length).toBeGreaterThan(0)
    expect(await readFile(join(root, 'inner/d.txt'), 'utf8')).toBe('d\n')

    const write = { name: 'write_file', arguments: { path: 'inner/e.txt', content: 'e\n' } }
    expect(failure((await client.callTool(write)) as unknown as Answer)).toMatchObject({ code: 'APPROVAL_DENIED' })
    const cancelling = new AbortController()
    const cancelled = client.callTool(write, undefined, { signal: cancelling.signal }).catch((error) => String(error))
    await request
    cancelling.abort('not needed any more')
    expect(await cancelled).toContain('not needed any more')
    expect(questions).toHaveLength(3)
    await expect(readFile(join(root, 'inner/e.txt'))).rejects.toThrow('ENOENT')
    expect((await call('read_file', { path: 'inner/c.txt' })).structuredContent).toMatchObject({ content: 'c\n' })
  })

  it('accepts a policy file', async () => {
    const policy = join(home, 'policy.json')
    await writeFile(policy, JSON.stringify({ preset: 'autonomous', deniedPaths: ['src/**'] }))
    await connect('--policy', policy)
    const refused = await call('read_file', { path: 'src/app.ts' })
    expect(failure(refused)).toMatchObject({ code: 'POLICY_DENIED' })
    const match = await call('find_files', { pattern: '**/*.ts' })
    expect(match.structuredContent.files).toEqual([])
  })

  it('refuses wrong input with the field, and an unknown tool with the list', async () => {
    await connect()
    expect(failure(await call('read_file', { path: 'src/app.ts', startLine: 0 }))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'startLine',
    })
    expect(failure(await call('no_such_tool', {}))).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })
})
