import type { ObjectStore } from '../../src/backends/object-store/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import type { Backend, Path, Workspace } from '../../src/index.ts'
import type { Shell } from '../../src/shells/author.ts'
import type { Change } from '../../src/storage/kit.ts'

export type Runtime = 'Node' | 'Deno' | 'Bun' | 'workerd' | 'Chromium'

/** The features of a runtime apart from the package. */
export interface Kit {
  readonly root: typeof import('../../src/index.ts')
  readonly memory: typeof import('../../src/backends/memory/index.ts')['memory']
  /** A module of the package. */
  readonly load: <M>(subpath: string) => Promise<M>
  /** A new directory, if there is a disk. */
  readonly directory: () => string
  /** Starts a module of the package as a Web Worker. */
  readonly worker: (subpath: string) => Worker
  /** In workerd only. */
  readonly storage: never
  readonly bucket: never
}

/** One real use of a subpath: its result, or the reason why it is not possible in a runtime. */
export interface Use {
  run(module: never, kit: Kit): Promise<unknown>
  readonly gives: unknown
  readonly absent?: Readonly<Partial<Record<Runtime, string>>>
}

const noDisk = { workerd: 'there is no disk', Chromium: 'there is no disk' }
const noPage = (label: string) => ({ Node: label, Deno: label, Bun: label, workerd: label })
const noOrigin = noPage('only browsers have a file system per origin')
const ofNode = 'memfs needs Node modules, or a bundler that replaces them'

/** Loads an optional package. Its name is not a literal, because the same file is bundled for runtimes that lack the package. */
const ofPackage = <M>(name: string): Promise<M> => import(name)

/** Uses by subpath. A `*` matches every subpath of its kind. */
export const uses: Readonly<Record<string, Use>> = {
  '.': use<typeof import('../../src/index.ts')>('one\n', async ({ createWorkspace }, { memory }) =>
    readBack(await createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'readOnly' })),
  ),
  './core': use<typeof import('../../src/workspace/core.ts')>(
    'one\n',
    async ({ createWorkspace }, { memory, load }) => {
      const { readFile } = await load<typeof import('../../src/tools/entry.ts')>('./tools')
      return readBack(
        await createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'readOnly', tools: [readFile] }),
      )
    },
  ),
  './tools': use<typeof import('../../src/tools/entry.ts')>([6, 1], async (tools, { memory, load }) => {
    const { createWorkspace } = await load<typeof import('../../src/workspace/core.ts')>('./core')
    const workspace = await createWorkspace({
      backend: memory({ 'a.txt': 'one\n' }),
      policy: 'autonomous',
      tools: tools.minimalTools,
    })
    const edited = await workspace.call('write_file', { path: 'b.txt', content: 'two\n', expectedSha256: null })
    const found = await workspace.call('search_text', { query: 'two' })
    if (!edited.ok || !found.ok) throw new Error('a call was refused')
    return [workspace.tools.length, found.matches.length]
  }),
  './audit': use<typeof import('../../src/audit/index.ts')>(
    [true, 1],
    async ({ memorySink, reportRuns, verifyAudit }, { root, memory }) => {
      const sink = memorySink()
      const workspace = await root.createWorkspace({
        backend: memory({ 'a.txt': 'one\n' }),
        policy: 'readOnly',
        audit: sink,
      })
      await workspace.call('read_file', { path: 'a.txt' })
      await workspace.close()
      const records = sink.records()
      return [verifyAudit(records).ok, reportRuns(records).length]
    },
  ),
  './policy': use<typeof import('../../src/policy/index.ts')>(
    ['readOnly', true],
    async ({ permissions, policySchema }) => [
      policySchema.parse({ preset: 'readOnly' }).preset,
      permissions.includes('file:read'),
    ],
  ),
  './replay': use<typeof import('../../src/workspace/replay.ts')>(
    true,
    async ({ parseRecording, replay }, { root, memory }) => {
      const lines: string[] = []
      const files = { 'a.txt': 'one\n' }
      const workspace = await root.createWorkspace({
        backend: memory(files),
        policy: 'readOnly',
        record: (line) => void lines.push(line),
      })
      await workspace.call('read_file', { path: 'a.txt' })
      await workspace.close()
      const recording = parseRecording(lines.join('\n'))
      return (await replay(recording, { backend: memory(files) })).ok
    },
  ),
  './backend': use<typeof import('../../src/storage/kit.ts')>(
    ['a.txt', 'WRITE_CONFLICT'],
    async ({ hashBytes, parsePath, planStoredCommit, ToolError }) => {
      const path = parsePath('a.txt') as Path
      const to = { type: 'file', bytes: new TextEncoder().encode('one\n') } as const
      const tree = { at: () => undefined, names: () => [] }
      let next = 0
      const plan = async (expect: Change['expect']) => {
        const hashes = await hashBytes([{ path, expect, to }])
        const name = () => String(next++)
        return planStoredCommit([{ path, expect, to }], { tree, hashes, tag: name, content: name, at: 0 })
      }
      const { steps } = await plan('absent')
      const conflict = await plan({ tag: 'old' }).catch((error: unknown) => error)
      return [[...steps.keys()][0], conflict instanceof ToolError ? conflict.code : 'none']
    },
  ),
  './backends/memory': use<typeof import('../../src/backends/memory/index.ts')>('two\n', ({ memory }, kit) =>
    works(memory(), kit),
  ),
  './backends/overlay': use<typeof import('../../src/backends/overlay/index.ts')>('two\n', ({ overlay }, kit) =>
    works(overlay(kit.memory()), kit),
  ),
  './backends/lazy': use<typeof import('../../src/backends/lazy/index.ts')>('two\n', async ({ lazy }, kit) => {
    const { overlay } = await kit.load<typeof import('../../src/backends/overlay/index.ts')>('./backends/overlay')
    const files = [{ type: 'file' as const, path: 'b.txt', size: 4 }]
    const source = lazy({ list: async () => files, load: async () => new TextEncoder().encode('one\n') })
    return works(overlay(source), kit)
  }),
  './backends/memfs': use<typeof import('../../src/backends/memfs/index.ts')>(
    'two\n',
    async ({ memfs }, kit) => works(memfs(new (await ofPackage<typeof import('memfs')>('memfs')).Volume()), kit),
    { workerd: ofNode, Chromium: ofNode },
  ),
  './backends/node': use<typeof import('../../src/backends/node/index.ts')>(
    'two\n',
    ({ nodeBackend }, kit) => works(nodeBackend(kit.directory(), { stateDir: kit.directory() }), kit),
    noDisk,
  ),
  './backends/opfs': use<typeof import('../../src/backends/opfs/index.ts')>(
    'two\n',
    async ({ opfs }, kit) => works(await opfs({ name: 'use', persist: false, access: 'async' }), kit),
    noOrigin,
  ),
  './backends/opfs-worker': use<unknown>(
    ['two\n', true],
    async (_, kit) => {
      const { opfs } = await kit.load<typeof import('../../src/backends/opfs/index.ts')>('./backends/opfs')
      const worker = () => kit.worker('./backends/opfs-worker')
      const backend = await opfs({ name: 'use-worker', persist: false, access: 'sync', worker })
      const { inWorker } = await backend.info()
      return [await works(backend, kit), inWorker]
    },
    noOrigin,
  ),
  './backends/directory-handle': use<typeof import('../../src/backends/directory-handle/index.ts')>(
    'two\n',
    async ({ directoryHandle }, kit) => {
      const origin = await navigator.storage.getDirectory()
      return works(await directoryHandle(await origin.getDirectoryHandle('picked', { create: true })), kit)
    },
    noOrigin,
  ),
  './backends/durable-object': use<typeof import('../../src/backends/durable-object/index.ts')>(
    'two\n',
    ({ durableObject }, kit) => works(durableObject(kit.storage), kit),
    Object.fromEntries(['Node', 'Deno', 'Bun', 'Chromium'].map((name) => [name, 'only workerd has Durable Objects'])),
  ),
  './backends/object-store': use<typeof import('../../src/backends/object-store/index.ts')>(
    'two\n',
    ({ objectStore, r2 }, kit) => works(objectStore(kit.bucket === undefined ? mapStore() : r2(kit.bucket)), kit),
  ),
  './backends/indexeddb': use<typeof import('../../src/backends/indexeddb/index.ts')>(
    'two\n',
    async ({ indexedDb }, kit) => works(await indexedDb('uses'), kit),
    noPage('only browsers have IndexedDB'),
  ),
  './backends/sql': use<typeof import('../../src/backends/sql/index.ts')>(
    ['sqlite', 'postgres', 'TypeError'],
    async ({ sqlDatabase, sqlite, postgres }) => [
      sqlite({ exec: () => {}, prepare: () => ({ all: () => [], run: () => {} }) }).kind,
      postgres({ query: async () => ({ rows: [] }) }).kind,
      await sqlDatabase({} as never).catch((error) => error.name),
    ],
  ),
  './dialect': use<typeof import('../../src/dialects/define.ts')>('a/b.txt', async ({ createPathMapping }) =>
    createPathMapping({ '/workspace': '' }).inward('/workspace/a/b.txt'),
  ),
  './dialects/*': use<Readonly<Record<string, unknown>>>(true, async (module, kit) => {
    const values = Object.values(module).map((one) => (typeof one === 'function' ? attempted(() => one()) : one))
    for (const dialect of values.filter(isDialect)) {
      const workspace = await opened(kit, { dialect })
      await workspace.close()
    }
    return values.some(isDialect) || values.length > 0
  }),
  './shell': use<typeof import('../../src/shells/author.ts')>(
    ['deny', 'COMMAND_DENIED', '1\n'],
    async ({ analyzeCommand, createLineAnalyzer, createOutputTail }, kit) => {
      const judge = createLineAnalyzer({ root: '/workspace', shell: 'bash' })
      const capabilities = { processes: false, network: false, background: false, stderr: true, guarded: true }
      const shell: Shell = {
        name: 'count',
        capabilities: { ...capabilities, confined: true, undo: true },
        judge,
        async run({ cwd, files }) {
          const tail = createOutputTail(100)
          tail.addText(`${(await files.read('a.txt')).length - 3}\n`)
          return { stdout: tail.take(), stderr: '', exitCode: 0, cwd }
        },
        async close() {},
      }
      const policy = { preset: 'autonomous', tools: { run_command: 'allow' } } as const
      const workspace = await opened(kit, { policy, shell })
      const denied = await workspace.call('run_command', { command: 'sudo ls' })
      const counted = await workspace.call('run_command', { command: 'count a.txt' })
      await workspace.close()
      const { decision } = analyzeCommand('npm test && git push', { deny: ['git push'] })
      return [decision, denied.ok ? 'ok' : denied.code, counted.ok ? counted.stdout : counted.message]
    },
  ),
  './tool': use<typeof import('../../src/tools/author.ts')>(
    [true, 'ab'],
    async ({ compileGlob, compileQuery, defineTool, findMatches }, kit) => {
      const { z } = await import('zod')
      const findFirst = defineTool({
        name: 'find_first',
        title: 'Find first',
        description: 'Find the first line with a text.',
        input: z.strictObject({ path: z.string(), text: z.string() }),
        output: z.object({ snippet: z.string() }),
        permission: 'file:read',
        mutates: false,
        idempotent: true,
        plan: ({ path }) => [{ permission: 'file:read', path }],
        async draft({ path, text }, { files }) {
          const { bytes } = await files.read(path as Path, 1000)
          const query = compileQuery({ query: text, mode: 'literal', caseSensitive: true })
          const { matches } = findMatches(query, bytes, { contextLines: 0, maxMatches: 1, snippetUnits: 100 })
          return { summary: 'Found', result: () => ({ snippet: matches[0]?.snippet ?? '' }) }
        },
      })
      const backend = kit.memory({ 'a.txt': 'a\nab\n' })
      const workspace = await opened(kit, { backend, extraTools: [findFirst] })
      const first = await workspace.callTool('find_first', { path: 'a.txt', text: 'b' })
      await workspace.close()
      return [compileGlob('**/*.txt').matches('d/a.txt'), first.ok ? first.snippet : first.message]
    },
  ),
  './shells/bash': use<typeof import('../../src/shells/bash/index.ts')>('1\n', async ({ bash }, kit) => {
    const worker = () => kit.worker('./shells/bash-thread')
    return command(kit.memory({ 'a.txt': 'x\n' }), bash(kit.worker === undefined ? {} : { worker }), kit)
  }),
  './shells/bash-thread': use<unknown>(
    'started',
    async (_, kit) => {
      const worker = kit.worker('./shells/bash-thread')
      const failed = new Promise<string>((resolve) =>
        worker.addEventListener('error', ({ message }) => resolve(message)),
      )
      const started = new Promise<string>((resolve) => setTimeout(() => resolve('started'), 300))
      const outcome = await Promise.race([failed, started])
      worker.terminate()
      return outcome
    },
    noPage('it is the Web Worker of bash() in a page'),
  ),
  './shells/node': use<typeof import('../../src/shells/node/index.ts')>(
    '1\n',
    async ({ nodeShell }, kit) => {
      const { nodeBackend: backend } =
        await kit.load<typeof import('../../src/backends/node/index.ts')>('./backends/node')
      const [root, stateDir] = [kit.directory(), kit.directory()]
      const shell = nodeShell({ root, stateDir, sandbox: 'none' })
      const files = backend(root, { stateDir })
      await files.commit([change('a.txt', 'x\n')], { durability: 'relaxed' })
      return command(files, shell, kit)
    },
    { workerd: 'there are no processes', Chromium: 'there are no processes' },
  ),
  './shells/webcontainer': use<typeof import('../../src/shells/webcontainer/index.ts')>(
    'nothing',
    async ({ webcontainer }) => {
      // The vendor's frame is missing, which the error states.
      const shell = webcontainer({ fallback: false, bootTimeoutMs: 500 })
      const { runs } = await shell.ready()
      await shell.close()
      return runs
    },
    noPage('a WebContainer runs only in a page'),
  ),
  './git': use<typeof import('../../src/git/index.ts')>(['first\n'], async ({ git }, { root, memory }) => {
    const author = { name: 'A', email: 'a@example.com' }
    const backend = memory({ 'a.txt': 'one\n' })
    const workspace = await root.createWorkspace({ backend, policy: 'autonomous', git: git({ author }) })
    await workspace.git?.init()
    await workspace.git?.add('.')
    await workspace.git?.commit({ message: 'first' })
    const log = await workspace.git?.log()
    await workspace.close()
    return log?.map(({ message }) => message)
  }),
  './mcp': use<typeof import('../../src/adapters/mcp/index.ts')>('wardspace', async ({ createMcpServer }, kit) => {
    const server = createMcpServer(await opened(kit))
    const transport: { onmessage?: (message: unknown) => void; [other: string]: unknown } = {}
    const answered = new Promise<{ result?: { serverInfo?: { name?: unknown } } }>((resolve) => {
      Object.assign(transport, {
        start: async () => {},
        close: async () => {},
        send: async (answer: never) => resolve(answer),
      })
    })
    await server.connect(transport as never)
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'use', version: '1' } }
    transport.onmessage?.({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const { result } = await answered
    await server.close()
    return result?.serverInfo?.name
  }),
  './mcp-roots': use<typeof import('../../src/adapters/mcp-roots/index.ts')>(
    [1, 1],
    async ({ placeClientRoots }, kit) => {
      const uris = [`file://${kit.directory()}`, 'https://example.com/']
      const { roots, refused } = await placeClientRoots(uris.map((uri) => ({ uri })))
      return [roots.length, refused.length]
    },
    noDisk,
  ),
  './mcp-http': use<typeof import('../../src/adapters/mcp-http/index.ts')>(401, async ({ mcpHandler }) => {
    const open = () => {
      throw new TypeError('A session requires the token')
    }
    const handler = mcpHandler({ token: 'correct-horse-battery', open })
    const { status } = await handler.fetch(new Request('http://localhost/mcp', { headers: { host: 'localhost' } }))
    await handler.close()
    return status
  }),
  './ai-sdk': use<typeof import('../../src/adapters/ai-sdk/index.ts')>('one\n', async ({ aiSdkTools }, kit) => {
    const tools = aiSdkTools(await opened(kit)) as unknown as Record<string, { execute: (...a: unknown[]) => unknown }>
    const result = await tools.read_file?.execute({ path: 'a.txt' }, { toolCallId: '1', messages: [] })
    return (result as { content?: unknown }).content
  }),
  './mastra': use<typeof import('../../src/adapters/mastra/index.ts')>('one\n', async ({ mastraTools }, kit) => {
    const result = await mastraTools(await opened(kit)).read_file?.execute({ path: 'a.txt' }, { toolCallId: '1' })
    return result?.content
  }),
  './langchain': use<typeof import('../../src/adapters/langchain/index.ts')>(true, async ({ langchainTools }, kit) => {
    const read = langchainTools(await opened(kit)).find(({ name }) => name === 'read_file')
    const message = await read?.invoke({ type: 'tool_call', id: '1', name: 'read_file', args: { path: 'a.txt' } })
    return JSON.stringify(message).includes('one')
  }),
  './ui': use<typeof import('../../src/ui/index.ts')>(['read_file', 'allowed'], async (ui, { root, memory }) => {
    const timeline = ui.createTimeline()
    const backend = memory({ 'a.txt': 'one\n' })
    const workspace = await root.createWorkspace({ backend, policy: 'readOnly' })
    await ui.trackCalls(workspace, { timeline }).call('read_file', { path: 'a.txt' })
    return timeline.snapshot.entries.flatMap((entry) => [entry.tool, ui.outcomeOf(entry).text])
  }),
  // A server that renders pages imports it too.
  './elements': use<typeof import('../../src/elements/index.ts')>(
    'function',
    async (elements) => typeof elements.WardspaceApprovals,
  ),
  './deepagents': use<typeof import('../../src/adapters/deepagents/index.ts')>('one\n', async (deepagents, kit) => {
    const { content } = await deepagents.deepagentsBackend(await opened(kit)).read('/a.txt')
    return content
  }),
  './openai-agents': use<typeof import('../../src/adapters/openai-agents/index.ts')>(
    'completed',
    async (openAiAgents, { root, memory }) => {
      const workspace = await root.createWorkspace({ backend: memory({}), policy: 'autonomous' })
      return (await openAiAgents.openAiEditor(workspace).createFile({ path: 'a.txt', diff: '+one' })).status
    },
  ),
  './just-bash': use<typeof import('../../src/adapters/just-bash/index.ts')>('one\n', async ({ justBashFs }, kit) =>
    justBashFs(await opened(kit)).readFile('/a.txt'),
  ),
  './acp': use<typeof import('../../src/adapters/acp/index.ts')>('one\n', async ({ acpClient }, kit) => {
    const request = { sessionId: 's', path: '/workspace/a.txt' }
    return (await acpClient(await opened(kit)).answer('fs/read_text_file', request)).content
  }),
  './fs': use<typeof import('../../src/adapters/fs/index.ts')>('one', async ({ createFs }, { root, memory }) => {
    const { promises } = createFs(await root.createWorkspace({ backend: memory({}), policy: 'autonomous' }))
    await promises.mkdir('/d')
    await promises.writeFile('/d/a.txt', 'one')
    return promises.readFile('/d/a.txt', 'utf8')
  }),
  './checks': use<typeof import('../../src/checks/index.ts')>(1, async ({ json }, { root, memory }) => {
    const workspace = await root.createWorkspace({ backend: memory({}), policy: 'autonomous', checks: [json()] })
    const result = await workspace.call('write_file', { path: 'a.json', content: '{' })
    return result.ok ? result.checks?.[0]?.findings.length : result
  }),
  './webmcp': use<typeof import('../../src/adapters/webmcp/index.ts')>(
    true,
    async ({ hasWebTools, registerWebTools }, kit) => {
      const registered = registerWebTools(await opened(kit))
      if (!hasWebTools()) return registered.catch((error: unknown) => error instanceof TypeError)
      const unregister = await registered
      unregister()
      return true
    },
    noPage('only pages have WebMCP'),
  ),
  './json-schema': use<typeof import('../../src/adapters/json-schema/index.ts')>(
    'object',
    async ({ toJsonSchema }, kit) => {
      const [schema] = toJsonSchema((await opened(kit)).tools)
      return (schema?.inputSchema as { type?: unknown } | undefined)?.type
    },
  ),
  './evidence/jsonl-sink': use<typeof import('../../src/audit/jsonl-sink.ts')>(
    true,
    async ({ jsonlSink, verifyAuditFile }, kit) => {
      const file = `${kit.directory()}/audit.jsonl`
      const workspace = await opened(kit, { audit: jsonlSink(file) })
      await readBack(workspace)
      return verifyAuditFile(file).ok
    },
    noDisk,
  ),
  './evidence/directory-parking': use<typeof import('../../src/policy/directory-parking.ts')>(
    ['APPROVAL_REQUIRED', true],
    async ({ directoryParking }, kit) => {
      const workspace = await opened(kit, { policy: 'supervised', parked: directoryParking(kit.directory()) })
      const request = await workspace.call('delete_file', { path: 'a.txt' })
      if (request.ok) return request
      const { ok } = await workspace.resume(String(request.approvalId), 'allow')
      await workspace.close()
      return [request.code, ok]
    },
    noDisk,
  ),
  './testing': use<typeof import('../../src/testing/index.ts')>(
    ['NO_SPACE', 'one\n', true],
    async ({ testWorkspace, faulty, backendContract }, { memory }) => {
      const workspace = await testWorkspace({ 'a.txt': 'one\n' }, { faults: { on: 'commit', error: 'NO_SPACE' } })
      const refused = await workspace.call('write_file', { path: 'b.txt', content: 'x' })
      const content = await readBack(workspace)
      const cases = backendContract({ name: 'faulty', create: () => ({ backend: faulty(memory()) }) }).slice(0, 5)
      for (const one of cases) await one.run()
      return [refused.ok ? 'ok' : refused.code, content, cases.length === 5]
    },
  ),
  './testing/fixtures': use<typeof import('../../src/testing/fixtures.ts')>(
    [true, false, 1],
    async ({ recordFixture }, kit) => {
      const file = `${kit.directory()}/run.jsonl`
      const run = () =>
        recordFixture(file, { 'a.txt': 'one\n' }, (workspace) => workspace.files.read('a.txt'), { record: 'missing' })
      const [first, second] = [await run(), await run()]
      return [first.recorded, second.recorded, second.steps]
    },
    noDisk,
  ),
  './testing/vitest': use<typeof import('../../src/testing/vitest.ts')>([true, false], async ({ matchers }, kit) => {
    const { testWorkspace } = await kit.load<typeof import('../../src/testing/index.ts')>('./testing')
    const workspace = await testWorkspace({ 'a.txt': 'one\n' })
    // Called in the same way as by vitest.
    const context = {
      isNot: false,
      equals: Object.is,
      utils: { diff: String, printReceived: String, printExpected: String },
    }
    const has = async (content: string) =>
      (await matchers.toHaveFile.call(context as never, workspace, 'a.txt', content)).pass
    return [await has('one\n'), await has('other')]
  }),
  './testing/scripted-model': use<typeof import('../../src/testing/scripted-model.ts')>('Done.', async (module) => {
    const model = module.scriptedModel(function* () {
      yield* module.say('Hello.')
      return 'Done.'
    })
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
      { role: 'user', content: [{ type: 'text', text: 'On.' }] },
    ]
    const { content } = await model.doGenerate({ prompt: messages } as never)
    return (content[0] as { text?: string } | undefined)?.text
  }),
}

/** Returns the use of a subpath, by its name or its pattern. */
export function useOf(subpath: string): Use | undefined {
  return uses[subpath] ?? uses[subpath.replace(/[^/]+$/, '*')]
}

/** Returns the result or error of each subpath. */
export async function runUses(
  modules: Readonly<Record<string, () => Promise<unknown>>>,
  host: Omit<Kit, 'root' | 'memory' | 'load'>,
): Promise<Record<string, unknown>> {
  const load = async <M>(subpath: string) => (await modules[subpath]?.()) as M
  const root = await load<Kit['root']>('.')
  const { memory } = await load<Pick<Kit, 'memory'>>('./backends/memory')
  const kit = { ...host, root, memory, load }
  const match: Record<string, unknown> = {}
  for (const [subpath, load] of Object.entries(modules)) {
    match[subpath] = await (async () => useOf(subpath)?.run((await load()) as never, kit))().catch(
      (error: unknown) => `failed: ${(error as Error | null)?.stack ?? error}`,
    )
  }
  return match
}

function use<M>(gives: unknown, run: (module: M, kit: Kit) => Promise<unknown>, absent: Use['absent'] = {}): Use {
  return { run: run as Use['run'], gives, absent }
}

function attempted(act: () => unknown): unknown {
  try {
    return act()
  } catch {
    return undefined
  }
}

function isDialect(value: unknown): value is Dialect {
  const { tools, formatError: refusal } = (value ?? {}) as Partial<Dialect>
  return Array.isArray(tools) && typeof refusal === 'function'
}

function opened({ root, memory }: Kit, options: object = {}): Promise<Workspace> {
  return root.createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'autonomous', ...options })
}

async function readBack(workspace: Workspace): Promise<unknown> {
  const read = await workspace.call('read_file', { path: 'a.txt' })
  await workspace.close()
  return read.ok ? read.content : read
}

/** Writes, edits and reads a file with the tools. */
async function works(backend: Backend, kit: Kit): Promise<unknown> {
  const workspace = await kit.root.createWorkspace({ backend, policy: 'autonomous' })
  const result = await workspace.call('write_file', { path: 'a.txt', content: 'one\n' })
  if (!result.ok) return result
  const expectedSha256 = result.newSha256
  const edited = await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two', expectedSha256 })
  return edited.ok ? readBack(workspace) : edited
}

async function command(backend: Backend, shell: never | object, { root }: Kit): Promise<unknown> {
  const policy = { preset: 'autonomous', tools: { run_command: 'allow' } } as const
  const workspace = await root.createWorkspace({ backend, policy, shell: shell as never })
  const result = await workspace.call('run_command', { command: 'cat a.txt | grep -c x' })
  await workspace.close()
  return result.ok ? result.stdout : `${result.message} ${result.hint}`
}

function change(path: string, text: string) {
  return { path: path as never, expect: 'any', to: { type: 'file', bytes: new TextEncoder().encode(text) } } as const
}

/** An object store in memory, for runtimes without a bucket. */
function mapStore(): ObjectStore {
  const objects = new Map<string, { bytes: Uint8Array; etag: string }>()
  let count = 0
  return {
    async get(key, { offset = 0, length, ifNoneMatch } = {}) {
      const entry = objects.get(key)
      if (entry === undefined || entry.etag === ifNoneMatch) return entry && 'unchanged'
      return { ...entry, bytes: entry.bytes.slice(offset, length === undefined ? undefined : offset + length) }
    },
    async put(key, bytes, condition) {
      const etag = objects.get(key)?.etag
      if (condition !== undefined && ('ifMatch' in condition ? condition.ifMatch !== etag : etag !== undefined))
        return undefined
      count += 1
      objects.set(key, { bytes: bytes.slice(), etag: String(count) })
      return { etag: String(count) }
    },
    async delete(keys) {
      for (const key of keys) objects.delete(key)
    },
    async list(prefix) {
      const results = [...objects].filter(([key]) => key.startsWith(prefix))
      return {
        objects: results.map(([key, { bytes }]) => ({ key, size: bytes.length, uploadedAt: 0 })),
        cursor: undefined,
      }
    },
  }
}
