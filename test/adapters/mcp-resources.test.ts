import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { createSubscriptions } from '../../src/adapters/mcp/subscriptions.ts'
import { parseResourceUri } from '../../src/adapters/mcp/uris.ts'
import { callbackSink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import type { WorkspaceOptions } from '../../src/index.ts'
import { connect as connectTo, settled, workspaceOver } from './mcp-client.ts'

const files = {
  'a.txt': 'one\n',
  'docs/ä b?#%.md': '# Ärger\n',
  'src/app.ts': 'export const answer = 41\n',
  'src/logo.png': '\u0000png',
  '.env': 'PASSWORD=hunter2\n',
  'secrets/key.txt': 'hunter2\n',
  id_rsa: 'hunter2\n',
}

async function connect(more: Record<string, string> = {}, options: Partial<WorkspaceOptions> = {}) {
  const connected = await connectTo(await workspaceOver({ ...files, ...more }, options))
  const { client } = connected
  /** Returns the text of a resource. */
  async function text(uri: string): Promise<string> {
    const [first] = (await client.readResource({ uri })).contents
    return (first as { text: string }).text
  }
  const updates = () =>
    connected.sent.flatMap((message) =>
      'method' in message && message.method === 'notifications/resources/updated' ? [message.params?.uri] : [],
    )
  return { ...connected, text, updates }
}

/** Matches the error of a refused request of the protocol. */
function refusedWith(code: number, failure?: string) {
  return expect.objectContaining({
    code,
    ...(failure === undefined ? {} : { data: { 'wardspace/failure': expect.objectContaining({ code: failure }) } }),
  })
}

describe('the resources', () => {
  it('list the reports of the workspace and its readable files', async () => {
    const { client } = await connect()
    const { resources, nextCursor } = await client.listResources()
    expect(nextCursor).toBeUndefined()
    expect(resources.map(({ uri }) => uri)).toEqual([
      ...['wardspace://diff', 'wardspace://report', 'wardspace://report.json', 'wardspace://policy'],
      'wardspace://files/a.txt',
      'wardspace://files/docs/%C3%A4%20b%3F%23%25.md',
      'wardspace://files/src/app.ts',
    ])
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'wardspace://files/{+path}{?startLine,startColumn,maxLines}',
      'artifact://{run}/{name}{?startLine,startColumn,maxLines}',
    ])
  })

  it('can be read whenever they are listed', async () => {
    const { client, text, workspace } = await connect()
    for (const { uri, mimeType } of (await client.listResources()).resources) {
      const { contents } = await client.readResource({ uri })
      expect(contents).toMatchObject([{ uri, mimeType, text: expect.any(String) }])
    }
    expect(await text('wardspace://files/docs/%C3%A4%20b%3F%23%25.md')).toBe('# Ärger\n')
    expect(await text('wardspace://files/docs%2F%C3%A4%20b%3F%23%25.md')).toBe('# Ärger\n')
    const read = workspace.auditRecords().filter(({ toolName }) => toolName === 'read_file')
    expect(read).toHaveLength(10)
  })

  it('are listed in pages, up to a limit', async () => {
    const many = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`m/${String(i).padStart(4, '0')}`, '']))
    const { client } = await connect(many)
    const names: string[] = []
    let pages = 0
    for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages++) {
      const page = await client.listResources(cursor === undefined ? {} : { cursor })
      names.push(...page.resources.map(({ name }) => name))
      cursor = page.nextCursor
    }
    expect(pages).toBe(5)
    // One of the first thousand files is protected.
    expect(names.slice(0, 6)).toEqual(['diff', 'report', 'report.json', 'policy', 'a.txt', 'docs/ä b?#%.md'])
    expect(new Set(names).size).toBe(names.length)
    expect(names).toHaveLength(4 + 999)
    await expect(client.listResources({ cursor: '%' })).rejects.toEqual(refusedWith(-32602))
    expect((await client.listResources({ cursor: 'zzz' })).resources).toEqual([])
  })

  it('are listed by any available listing tool, and not at all if the policy hides everything', async () => {
    const few = await connect({}, { tools: ['read_file', 'list_directory'] })
    const names = async ({ client }: typeof few) => (await client.listResources()).resources.map(({ name }) => name)
    expect(await names(few)).toEqual(['report', 'report.json', 'policy', 'a.txt', 'docs/ä b?#%.md', 'src/app.ts'])
    expect(await names(await connect({}, { tools: ['read_file'] }))).toEqual(['report', 'report.json', 'policy'])
    const closed = await connect({}, { policy: { preset: 'autonomous', deniedPaths: ['**'] } })
    expect(await names(closed)).toEqual(['diff', 'report', 'report.json', 'policy'])
    const narrow = await connect({}, { policy: { preset: 'autonomous', allowedPaths: ['src/**'] } })
    expect((await names(narrow)).slice(4)).toEqual(['src/app.ts'])
  })

  it('return whole files that need several calls, and ranges, with version and lines', async () => {
    const long = Array.from({ length: 2500 }, (_, i) => `line ${i + 1}\n`).join('')
    const { client, text } = await connect({ 'long.txt': long, 'empty.txt': '' })
    expect(await text('wardspace://files/long.txt')).toBe(long)
    expect(await text('wardspace://files/empty.txt')).toBe('')
    const { contents } = await client.readResource({ uri: 'wardspace://files/long.txt?startLine=1200&maxLines=2' })
    expect(contents).toMatchObject([
      {
        text: 'line 1200\nline 1201\n',
        _meta: { 'wardspace/call': { startLine: 1200, endLine: 1201, totalLines: 2500, truncated: true } },
      },
    ])
    expect(contents[0]?._meta?.['wardspace/call']).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    await expect(text('wardspace://files/long.txt?startLine=2600')).rejects.toThrow('INVALID_INPUT')
  })

  it('are refused as too large, or name the artifact with the complete text', async () => {
    const line = `${'x'.repeat(99)}\n`
    const { client, text, workspace } = await connect({
      'large.txt': line.repeat(6000),
      'wide.txt': 'y'.repeat(70_000),
    })
    await expect(client.readResource({ uri: 'wardspace://files/large.txt' })).rejects.toEqual(
      refusedWith(-32003, 'FILE_TOO_LARGE'),
    )
    expect(await text('wardspace://files/wide.txt')).toBe('y'.repeat(70_000))
    await workspace.call('append_file', { path: 'large.txt', content: line.repeat(3000) })
    const diff = await text('wardspace://diff')
    const [, uri = ''] = /\n\[Truncated\. The complete text is at (artifact:\/\/\S+)\]\n$/.exec(diff) ?? []
    expect(await text(`${uri}?startLine=1&maxLines=2`)).toMatch(/^diff --git a\/large\.txt b\/large\.txt\n/)
    for (let i = 0; i < 300; i++) await workspace.call('read_file', { path: `secrets/${'n'.repeat(250)}/${i}` })
    expect(await text('wardspace://report')).toMatch(/\n\[Truncated\. The complete text is at artifact:\S+\]\n$/)
    await expect(text('wardspace://report.json')).rejects.toThrow(/FILE_TOO_LARGE[\s\S]*artifact:/)
  })

  it('are refused if the file changes between the calls that read it', async () => {
    const long = 'line\n'.repeat(1500)
    let reads = 0
    const { client, workspace } = await connect(
      { 'long.txt': long },
      {
        hooks: {
          async preToolCall({ tool }) {
            reads += tool === 'read_file' ? 1 : 0
            if (tool === 'read_file' && reads === 2) {
              await workspace.call('append_file', { path: 'long.txt', content: 'more\n' })
            }
            return undefined
          },
        },
      },
    )
    await expect(client.readResource({ uri: 'wardspace://files/long.txt' })).rejects.toEqual(
      refusedWith(-32003, 'WRITE_CONFLICT'),
    )
  })

  it.each([
    ['a protected file', 'wardspace://files/.env', -32003, 'POLICY_DENIED_SECRET'],
    ['a protected file in escapes', 'wardspace://files/%2Eenv', -32003, 'POLICY_DENIED_SECRET'],
    ['a protected directory', 'wardspace://files/secrets/key.txt', -32003, 'POLICY_DENIED_SECRET'],
    ['git-internal files', 'wardspace://files/.git/config', -32003, 'POLICY_DENIED'],
    ['a path that leaves the root', 'wardspace://files/../a.txt', -32602, 'PATH_REJECTED'],
    ['a path that leaves the root and returns', 'wardspace://files/src/../../files/a.txt', -32602, 'PATH_REJECTED'],
    ['a path that leaves the root in escapes', 'wardspace://files/%2e%2e%2fa.txt', -32602, 'PATH_REJECTED'],
    ['an absolute path', 'wardspace://files//etc/passwd', -32602, 'PATH_REJECTED'],
    ['a path that is encoded twice', 'wardspace://files/%252e%252e/a.txt', -32002, 'NOT_FOUND'],
    ['a NUL', 'wardspace://files/a.txt%00', -32602, 'PATH_REJECTED'],
    ['a backslash', 'wardspace://files/src%5Capp.ts', -32602, 'PATH_REJECTED'],
    ['the root', 'wardspace://files/', undefined, undefined],
    ['a directory', 'wardspace://files/src', -32003, 'IS_DIRECTORY'],
    ['a binary file', 'wardspace://files/src/logo.png', -32003, 'UNSUPPORTED_BINARY'],
    ['a missing file', 'wardspace://files/none.txt', -32002, 'NOT_FOUND'],
    ['an artifact of another run', 'artifact://other/0a.txt', -32002, 'NOT_FOUND'],
    ['no artifact', 'artifact://a', -32602, 'PATH_REJECTED'],
    ['an artifact as a file', 'wardspace://files/artifact://r/x.txt', -32602, undefined],
    ['a file of the disk', 'file:///a.txt', -32602, undefined],
    ['another name', 'wardspace://DIFF', -32602, undefined],
    ['nothing', '', -32602, undefined],
    ['bytes that are not text', 'wardspace://files/%ff', -32602, undefined],
    ['half an escape', 'wardspace://files/%', -32602, undefined],
    ['a range from zero', 'wardspace://files/a.txt?startLine=0', -32602, undefined],
    ['a range twice', 'wardspace://files/a.txt?maxLines=1&maxLines=2', -32602, undefined],
    ['an unknown field', 'wardspace://files/a.txt?path=.env', -32602, undefined],
    ['a range without an end', 'wardspace://files/a.txt?maxLines=1e9', -32602, undefined],
    ['a very long address', `wardspace://files/${'a'.repeat(20_000)}`, -32602, undefined],
  ])('refuse %s, to read and to subscribe to', async (_, uri, code, failure) => {
    const { client, updates, workspace } = await connect()
    const refused =
      code === undefined ? expect.objectContaining({ code: expect.any(Number) }) : refusedWith(code, failure)
    await expect(client.readResource({ uri })).rejects.toEqual(refused)
    await expect(client.subscribeResource({ uri })).rejects.toEqual(refused)
    await workspace.call('append_file', { path: 'a.txt', content: 'two\n' })
    expect(updates()).toEqual([])
    const reported = await Promise.allSettled([client.readResource({ uri })])
    expect(JSON.stringify(reported, (_key, value) => (value instanceof Error ? value.message : value))).not.toContain(
      'hunter2',
    )
  })

  it('mark secrets, and obey disabled tools and rules like any call', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const rules = [{ name: 'no report', action: 'deny', tools: ['report'] }] as const
    const { text } = await connect(
      { 'config.ts': `export const token = '${token}'\n` },
      { policy: { preset: 'autonomous', rules, tools: { diff_workspace: 'deny' } } },
    )
    expect(await text('wardspace://files/config.ts')).toMatch(/'\[REDACTED:[^\]]+\]'/)
    await expect(text('wardspace://report')).rejects.toThrow('no report')
    await expect(text('wardspace://report.json')).rejects.toThrow('POLICY_DENIED')
    await expect(text('wardspace://diff')).rejects.toThrow('POLICY_DENIED')
    expect(JSON.parse(await text('wardspace://policy'))).toMatchObject({ policy: { rules } })
  })

  it('ask for approval if the policy requires it for a read', async () => {
    const workspace = await workspaceOver(files, { policy: { preset: 'autonomous', tools: { read_file: 'ask' } } })
    const questions: string[] = []
    const { client } = await connectTo(workspace, {}, { elicitation: {} }, (request) => {
      request.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        questions.push(params.message)
        return { action: 'accept', content: { decision: questions.length === 1 ? 'allow once' : 'deny' } }
      })
    })
    expect(await client.readResource({ uri: 'wardspace://files/a.txt' })).toMatchObject({
      contents: [{ text: 'one\n' }],
    })
    await expect(client.subscribeResource({ uri: 'wardspace://files/a.txt' })).rejects.toEqual(
      refusedWith(-32003, 'APPROVAL_DENIED'),
    )
    expect(questions).toHaveLength(2)
  })

  it.each([
    { deniedPaths: ['src', '.env'] },
    { allowedPaths: ['a.txt', 'docs/**'] },
    { rules: [{ name: 'closed', action: 'deny', permissions: ['file:list'], paths: ['src/**', '.env'] }] },
  ] as const)('notify of no change that policy hides: %j', async (policy) => {
    const { client, workspace, count, updates } = await connect({}, { policy: { preset: 'autonomous', ...policy } })
    await client.listResources()
    for (const name of ['diff', 'report', 'report.json']) await client.subscribeResource({ uri: `wardspace://${name}` })
    const sent = async (...paths: string[]) => {
      const before = updates().length + count('notifications/resources/list_changed')
      workspace.notifyExternalChange(paths)
      await settled()
      return updates().length + count('notifications/resources/list_changed') - before
    }
    for (const path of ['src/app.ts', 'src/new.ts', 'src/deep/er.ts', '.env']) expect(await sent(path), path).toBe(0)
    expect(await sent('src/app.ts', '.env')).toBe(0)
    expect(await sent('src/app.ts', 'a.txt')).toBe(4)
    expect(await sent('.git/HEAD')).toBe(4)
  })

  it('contain the artifacts of this connection, and notify of new ones', async () => {
    const { client, call, count, text } = await connect()
    await call('append_file', { path: 'a.txt', content: 'two\n' })
    await settled()
    expect(count('notifications/resources/list_changed')).toBe(0)
    const { resources } = await client.listResources()
    const artifact = resources.find(({ uri }) => uri.startsWith('artifact://'))
    expect(await text(artifact?.uri ?? '')).toContain('+two\n')
    await call('append_file', { path: 'a.txt', content: 'three\n' })
    await call('read_file', { path: 'a.txt' })
    await settled()
    expect(count('notifications/resources/list_changed')).toBe(1)
    await call('delete_file', { path: 'a.txt' })
    await settled()
    expect(count('notifications/resources/list_changed')).toBeGreaterThan(1)
    for (let i = 0; i < 60; i++) await call('append_file', { path: 'b.txt', content: `${i}\n` })
    const listed = (await client.listResources()).resources.filter(({ uri }) => uri.startsWith('artifact://'))
    expect(listed).toHaveLength(50)
  })
})

describe('a subscription', () => {
  it('notifies of changes by any run and from outside, also through a link, until it ends', async () => {
    const backend = memory({ ...files })
    await backend.commit([{ path: 'link.txt' as never, expect: 'absent', to: { type: 'link', target: 'a.txt' } }], {
      durability: 'durable',
    })
    const { client, workspace, updates, call } = await connect({}, { backend })
    for (const uri of ['wardspace://files/link.txt', 'wardspace://diff', 'wardspace://policy']) {
      await client.subscribeResource({ uri })
    }
    await workspace.run({ id: 'other' }).call('append_file', { path: 'a.txt', content: 'two\n' })
    await settled()
    expect(updates()).toEqual(['wardspace://files/link.txt', 'wardspace://diff'])
    await call('append_file', { path: 'src/app.ts', content: 'x\n' })
    await call('edit_file', { path: 'a.txt', oldText: 'no such text', newText: '' })
    expect(updates().slice(2)).toEqual(['wardspace://diff'])
    workspace.notifyExternalChange(['docs/b.md'])
    workspace.notifyExternalChange(['a.txt'])
    await settled()
    expect(updates().splice(3)).toEqual(['wardspace://diff', 'wardspace://files/link.txt', 'wardspace://diff'])
    workspace.notifyExternalChange()
    await settled()
    expect(updates().splice(6)).toEqual(['wardspace://files/link.txt', 'wardspace://diff'])
    await client.unsubscribeResource({ uri: 'wardspace://diff' })
    await client.unsubscribeResource({ uri: 'wardspace://diff' })
    await call('delete_file', { path: 'a.txt' })
    expect(updates().slice(8)).toEqual(['wardspace://files/link.txt'])
  })

  it('is stored once per URI, and at most 200 are allowed', async () => {
    const { client, updates, call } = await connect()
    const stored = await call('append_file', { path: 'a.txt', content: 'two\n' })
    await client.subscribeResource({ uri: String(stored.artifactUri) })
    for (let i = 0; i < 3; i++) await client.subscribeResource({ uri: 'wardspace://files/a.txt' })
    for (let i = 1; i < 199; i++) await client.subscribeResource({ uri: `wardspace://files/src/app.ts?maxLines=${i}` })
    await expect(client.subscribeResource({ uri: 'wardspace://diff' })).rejects.toEqual(refusedWith(-32602))
    await client.subscribeResource({ uri: 'wardspace://files/a.txt' })
    await call('append_file', { path: 'a.txt', content: 'three\n' })
    expect(updates()).toEqual(['wardspace://files/a.txt'])
  })

  it('notifies once and then ends when the file is unreadable in a new workspace', async () => {
    const subscriptions = createSubscriptions()
    const workspace = await workspaceOver(files)
    await subscriptions.add({ workspace, run: workspace }, 'wardspace://files/a.txt', {})
    expect(subscriptions.affectedBy(['a.txt'], true)).toEqual(['wardspace://files/a.txt'])
    const closed = await workspaceOver(files, { policy: { preset: 'autonomous', deniedPaths: ['a.txt'] } })
    expect(await subscriptions.resolveIn({ workspace: closed, run: closed })).toEqual(['wardspace://files/a.txt'])
    expect(subscriptions.affectedBy(['a.txt'], true)).toEqual([])
  })

  it('does not fail a call when the connection breaks', async () => {
    const { serverTransport, client, workspace } = await connect()
    await client.subscribeResource({ uri: 'wardspace://files/a.txt' })
    serverTransport.send = () => Promise.reject(new Error('The pipe is broken'))
    expect(await workspace.call('append_file', { path: 'a.txt', content: 'two\n' })).toMatchObject({ ok: true })
    await settled()
  })

  it('sends nothing after its client has closed', async () => {
    const { client, workspace, updates } = await connect()
    await client.subscribeResource({ uri: 'wardspace://files/a.txt' })
    await client.close()
    await workspace.call('append_file', { path: 'a.txt', content: 'two\n' })
    await settled()
    expect(updates()).toEqual([])
  })
})

describe('a prompt', () => {
  it('is offered if its tools are', async () => {
    const names = async (options: Partial<WorkspaceOptions>) =>
      (await (await connect({}, options)).client.listPrompts()).prompts.map(({ name }) => name)
    expect(await names({})).toEqual(['review_diff', 'explain_run'])
    expect(await names({ tools: ['read_file'] })).toEqual(['explain_run'])
    const { bash } = await import('../../src/shells/bash/index.ts')
    expect(await names({ shell: bash() })).toEqual(['mend_failing_test', 'review_diff', 'explain_run'])
  })

  it('includes its subject, read like any resource', async () => {
    const { client, call, workspace } = await connect()
    await call('append_file', { path: 'a.txt', content: 'two\n' })
    const review = await client.getPrompt({ name: 'review_diff', arguments: { focus: 'line ends' } })
    expect(review.messages).toMatchObject([
      { role: 'user', content: { type: 'text', text: expect.stringContaining('Focus on this: "line ends"') } },
      { content: { type: 'resource', resource: { uri: 'wardspace://diff', text: expect.stringContaining('+two\n') } } },
    ])
    const plain = await client.getPrompt({ name: 'review_diff' })
    expect(JSON.stringify(plain)).not.toContain('Look most')
    const explained = await client.getPrompt({ name: 'explain_run' })
    expect(explained.messages[1]).toMatchObject({
      content: { resource: { mimeType: 'text/markdown', text: expect.stringContaining('a.txt') } },
    })
    expect(workspace.auditRecords().map(({ toolName }) => toolName)).toContain('diff_workspace')
  })

  it('accepts its declared arguments only', async () => {
    const { bash } = await import('../../src/shells/bash/index.ts')
    const { client } = await connect({}, { shell: bash() })
    const get = (name: string, input?: Record<string, string>) => client.getPrompt({ name, arguments: input })
    const { messages } = await get('mend_failing_test', { command: 'npm test', path: 'src/app.ts' })
    expect(messages).toMatchObject([{ content: { text: expect.stringMatching(/"npm test"[\s\S]*"src\/app\.ts"/) } }])
    expect(JSON.stringify(await get('mend_failing_test', { command: 'npm test', path: ' ' }))).not.toContain('Begin at')
    for (const [name, input] of [
      ['mend_failing_test', {}],
      ['mend_failing_test', { command: '' }],
      ['mend_failing_test', { command: 'x', file: 'y' }],
      ['mend_failing_test', { command: 'x'.repeat(2001) }],
      ['explain_run', { focus: 'x' }],
      ['no_such', {}],
    ] as const) {
      await expect(get(name, input), name).rejects.toEqual(refusedWith(-32602))
    }
  })

  it('is refused if its subject is not readable', async () => {
    const { client } = await connect({}, { audit: callbackSink(() => {}) })
    await expect(client.getPrompt({ name: 'explain_run' })).rejects.toEqual(refusedWith(-32002, 'NOT_FOUND'))
  })
})

describe('completion', () => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`many/${i}.txt`, '']))

  it('offers listed and readable paths', async () => {
    const { client, call } = await connect(
      { ...many, '.github/ci.yml': '' },
      { policy: { preset: 'autonomous', deniedPaths: ['docs/**'] } },
    )
    const file = { type: 'ref/resource', uri: 'wardspace://files/{+path}{?startLine,startColumn,maxLines}' } as const
    const complete = async (ref: Parameters<typeof client.complete>[0]['ref'], name: string, value: string) =>
      (await client.complete({ ref, argument: { name, value } })).completion
    const paths = async (value: string) => (await complete(file, 'path', value)).values
    expect(await paths('')).toEqual(['a.txt', 'many/', 'src/'])
    expect(await paths('src/')).toEqual(['src/app.ts', 'src/logo.png'])
    expect(await paths('src/ap')).toEqual(['src/app.ts'])
    // Protected names are never completed, and hidden ones only after their first dot.
    expect(await paths('.')).toEqual(['.github/'])
    for (const nothing of ['.e', 'id_', 'secrets/', 'docs/', '../', '/', 'a\\', 'none/x', '.git/', 'src//', '\u0000']) {
      expect(await paths(nothing), nothing).toEqual([])
    }
    expect(await complete(file, 'path', 'many/')).toMatchObject({ total: 150, hasMore: true })
    expect(await complete(file, 'startLine', '')).toMatchObject({ values: [] })
    const prompt = { type: 'ref/prompt', name: 'mend_failing_test' } as const
    expect((await complete(prompt, 'path', 'src/a')).values).toEqual(['src/app.ts'])
    expect((await complete(prompt, 'command', 'n')).values).toEqual([])
    await call('append_file', { path: 'a.txt', content: 'x\n' })
    const artifact = { type: 'ref/resource', uri: 'artifact://{run}/{name}{?startLine,startColumn,maxLines}' } as const
    expect((await complete(artifact, 'run', '')).values).toHaveLength(1)
    expect((await complete(artifact, 'name', '')).values).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.diff$/)])
    expect((await complete(artifact, 'name', 'zz')).values).toEqual([])
    expect((await complete(artifact, 'maxLines', '')).values).toEqual([])
  })
})

describe('the URI of a resource', () => {
  it('is decoded once and never resolved', () => {
    expect(parseResourceUri('wardspace://files/a/%2e%2e/b%3Fc?startLine=2')).toEqual({
      type: 'text',
      path: 'a/../b?c',
      range: { startLine: 2 },
    })
    expect(parseResourceUri('artifact://r/a.txt')).toEqual({ type: 'text', path: 'artifact://r/a.txt' })
  })
})
