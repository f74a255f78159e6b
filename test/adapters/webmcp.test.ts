import { afterEach, describe, expect, it, vi } from 'vitest'
import { modelTools, toModelText } from '../../src/adapters/json-schema/index.ts'
import { hasWebTools, registerWebTools } from '../../src/adapters/webmcp/index.ts'
import { memorySink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

/**
 * `document.modelContext` by its specification, which the Chromium of these tests does not support yet. The older interface is
 * tested in that Chromium by `webmcp.browser.ts`.
 */
function modelContext() {
  const tools = new Map<string, { execute: (input: object) => Promise<unknown>; readonly annotations: object }>()
  return {
    tools,
    async registerTool(
      tool: { name: string; description: string; execute: never; annotations: object },
      { signal }: { signal: AbortSignal },
    ) {
      if (tools.has(tool.name)) throw new DOMException('Duplicate tool name', 'InvalidStateError')
      if (tool.name === 'delete_file') throw new TypeError('It does not like that one')
      tools.set(tool.name, tool)
      signal.addEventListener('abort', () => tools.delete(tool.name))
    },
  }
}

function page(where: 'document' | 'navigator' = 'document') {
  const context = modelContext()
  vi.stubGlobal(where, { modelContext: context })
  return context
}

afterEach(() => vi.unstubAllGlobals())

const files = { 'src/app.ts': 'export const answer = 41\n', '.env': 'PASSWORD=never-shown\n' }

const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', tools: 'minimal', ...options })

describe('registerWebTools', () => {
  it.each(['document', 'navigator'] as const)('registers on %s, and each call has its own run', async (where) => {
    const { tools } = page(where)
    expect(hasWebTools()).toBe(true)
    const sink = memorySink()
    const workspace = await open({ audit: sink })
    const unregister = await registerWebTools(workspace)
    expect([...tools.values()]).toMatchObject(
      modelTools(workspace.tools).map((tool) => ({
        ...tool,
        annotations: { readOnlyHint: !/write|patch/.test(tool.name) },
      })),
    )
    const direct = await workspace.call('read_file', { path: 'src/app.ts' })
    expect(await tools.get('read_file')?.execute({ path: 'src/app.ts' })).toEqual({
      content: [{ type: 'text', text: toModelText('read_file', direct) }],
    })
    expect(await tools.get('read_file')?.execute({ path: '.env' })).toEqual({
      content: [{ type: 'text', text: expect.stringMatching(/^POLICY_DENIED_SECRET: /) }],
      isError: true,
    })
    const runs = new Set(
      sink.records().map(({ runId, actor }) => `${actor} ${runId === workspace.id ? 'own' : 'other'}`),
    )
    expect([...runs]).toEqual(['agent own', 'WebMCP other'])
    unregister()
    expect(tools.size).toBe(0)
  })

  it('reports that the page has no WebMCP', async () => {
    expect(hasWebTools()).toBe(false)
    await expect(registerWebTools(await open())).rejects.toThrow(TypeError)
    await expect(registerWebTools(await open())).rejects.toThrow(/no WebMCP: neither document.modelContext nor/)
  })

  it('registers all tools or none, and reports the conflict', async () => {
    const { tools } = page()
    const workspace = await open()
    const unregister = await registerWebTools(workspace, { tools: ['search_text'] })
    await expect(registerWebTools(workspace)).rejects.toThrow(
      'Cannot register the tool "search_text": the page already has a tool with that name',
    )
    expect([...tools.keys()]).toEqual(['search_text'])
    unregister()
    await expect(registerWebTools(await open({ tools: 'full' }))).rejects.toThrow(
      /"delete_file": TypeError: It does not/,
    )
    expect(tools.size).toBe(0)
    await expect(registerWebTools(workspace, { tools: ['no_such_tool'] })).rejects.toThrow(/no tool "no_such_tool"/)
  })

  it('unregisters the tools and cancels running calls on abort', async () => {
    const { tools } = page()
    const workspace = await open({ shell: bash(), tools: 'full', readOnly: false })
    const stop = new AbortController()
    await registerWebTools(workspace, { signal: stop.signal, tools: ['run_command'] })
    const running = tools.get('run_command')?.execute({ command: 'echo x > made.txt; while true; do :; done' })
    stop.abort()
    expect(tools.size).toBe(0)
    expect(await running).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^ABORTED/) }] })
    expect(await workspace.call('file_info', { path: 'made.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    await expect(registerWebTools(workspace, { signal: stop.signal })).rejects.toThrow(/aborted/)
    await workspace.close()
  })

  it('leaves nothing registered after an abort during registration', async () => {
    const { tools } = page()
    const stop = new AbortController()
    const registering = registerWebTools(await open(), { signal: stop.signal })
    stop.abort(new Error('Gone'))
    await expect(registering).rejects.toThrow()
    expect(tools.size).toBe(0)
    const unregisterTool = vi.fn((name: string) => tools.delete(name))
    const older = { ...modelContext(), tools, unregisterTool }
    const again = new AbortController()
    vi.stubGlobal('navigator', {
      modelContext: { ...older, registerTool: (tool: { name: string }) => void tools.set(tool.name, tool as never) },
    })
    vi.stubGlobal('document', undefined)
    const other = registerWebTools(await open(), { signal: again.signal })
    again.abort()
    await expect(other).rejects.toThrow()
    expect(tools.size).toBe(0)
    expect(unregisterTool.mock.calls).toHaveLength(1)
  })

  it('uses the given run and its approve function', async () => {
    const { tools } = page()
    const sink = memorySink()
    const workspace = await open({ policy: 'supervised', audit: sink })
    const run = workspace.run({ id: 'given' })
    await registerWebTools(workspace, { run, approve: () => ({ deny: 'not from a page' }) })
    const refused = await tools.get('write_file')?.execute({ path: 'n.txt', content: 'x' })
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('not from a page') }] })
    expect(sink.records().at(-1)).toMatchObject({ runId: 'given', code: 'APPROVAL_DENIED' })
  })
})
