import { describe, expect, it } from 'vitest'
import { hasWebTools, registerWebTools } from '../../src/adapters/webmcp/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'

/** The interface with which a test acts as the browser's agent. The switch `WebMCPTesting` enables it. */
interface Agent {
  listTools(): { readonly name: string; readonly description: string; readonly inputSchema: string }[]
  executeTool(name: string, input: string): Promise<string>
}

const agent = () => (navigator as unknown as { readonly modelContextTesting: Agent }).modelContextTesting

describe('WebMCP of this browser', () => {
  it('lets its agent list and call the tools, refuses, and unregisters on abort', async () => {
    expect(hasWebTools()).toBe(true)
    const workspace = await createWorkspace({
      backend: memory({ 'src/app.ts': 'export const answer = 41\n', '.env': 'PASSWORD=never-shown\n' }),
      policy: 'autonomous',
      tools: 'minimal',
    })
    const stop = new AbortController()
    await registerWebTools(workspace, { signal: stop.signal })
    const listed = agent().listTools()
    expect(listed.map(({ name }) => name).sort()).toEqual(workspace.tools.map(({ name }) => name).sort())
    const read = listed.find(({ name }) => name === 'read_file')
    expect(JSON.parse(read?.inputSchema ?? '')).toMatchObject({ type: 'object', required: ['path'] })

    const call = async (name: string, input: object) =>
      JSON.parse(await agent().executeTool(name, JSON.stringify(input)))
    expect(await call('read_file', { path: 'src/app.ts' })).toEqual({
      content: [
        { type: 'text', text: expect.stringMatching(/^Read lines 1-1 of 1 .*\n.*\n\nexport const answer = 41\n$/) },
      ],
    })
    const patch =
      '--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1 +1 @@\n-export const answer = 41\n+export const answer = 42\n'
    expect((await call('apply_patch', { patch })).content[0].text).toMatch(/^Patched src\/app.ts/)
    expect((await workspace.files.read('src/app.ts')).content).toBe('export const answer = 42\n')
    const refused = await call('read_file', { path: '.env' })
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^POLICY_DENIED_SECRET/) }],
    })
    expect(JSON.stringify(refused)).not.toContain('never-shown')

    await expect(registerWebTools(workspace)).rejects.toThrow(/"\w+": the page already has a tool with that name/)
    expect(agent().listTools()).toHaveLength(listed.length)
    stop.abort()
    expect(agent().listTools()).toEqual([])
    await (await registerWebTools(workspace))()
    expect(agent().listTools()).toEqual([])
    await workspace.close()
  })
})
