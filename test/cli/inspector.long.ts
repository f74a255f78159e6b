import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inspect } from './inspector.ts'
import { main } from './run-cli.ts'

let home: string
let root: string
let server: ReturnType<typeof spawn>
const faces: Record<string, readonly string[]> = {}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'wardspace-inspector-'))
  root = join(home, 'project')
  await mkdir(root)
  await writeFile(join(root, 'a.txt'), 'one\n')
  await writeFile(join(root, '.env'), 'PASSWORD=hunter2\n')
  const command = [process.execPath, main, 'mcp', '--root', root, '--policy', 'autonomous']
  server = spawn(process.execPath, [...command.slice(1), '--http', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  const { url, token } = JSON.parse(String(line)) as { url: string; token: string }
  faces.stdio = command
  faces.HTTP = [url, '--header', `Authorization: Bearer ${token}`]
  faces.closed = [url, '--header', 'Authorization: Bearer not-the-right-one']
})
afterAll(async () => {
  server.kill('SIGTERM')
  const [code] = await once(server, 'exit')
  await rm(home, { recursive: true, force: true })
  expect(code).toBe(0)
})

describe.each(['stdio', 'HTTP'])('the inspector over %s', (face) => {
  async function ask(method: string, ...more: string[]): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await inspect(faces[face] as readonly string[], method, more)
    expect(stdout, stderr).not.toContain('hunter2')
    return JSON.parse(stdout) as Record<string, unknown>
  }

  it('lists tools, resources, templates and prompts', async () => {
    expect(await ask('tools/list')).toMatchObject({ tools: expect.arrayContaining([expect.anything()]) })
    expect(await ask('resources/list')).toMatchObject({ resources: expect.arrayContaining([expect.anything()]) })
    expect(await ask('resources/templates/list')).toHaveProperty('resourceTemplates')
    expect(await ask('prompts/list')).toHaveProperty('prompts')
  })

  it('calls a tool, and is refused', async () => {
    const result = await ask('tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=a.txt')
    expect(result.isError).toBeUndefined()
    expect(result.structuredContent).toMatchObject({ content: 'one\n' })
    expect(await ask('tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=.env')).toMatchObject({
      isError: true,
    })
    expect(await ask('tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=../a.txt')).toMatchObject({
      isError: true,
    })
  })
})

it('the inspector without a token gets an error that names the token', async () => {
  const { stdout, stderr } = await inspect(faces.closed as readonly string[], 'tools/list')
  expect(stdout).toBe('')
  expect(stderr).toContain('token')
})
