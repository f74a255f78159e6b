import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { directoryParking } from '../../src/policy/directory-parking.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { writeFiles } from '../write-files.ts'
import { runHere } from './run-cli.ts'

const home = mkdtempSync(join(tmpdir(), 'wardspace-one-call-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const root = join(home, 'root')
writeFiles(root, { 'a.txt': 'a\n' })

const shell = ['--root', root, '--policy', 'autonomous', '--shell', 'bash']
const background = ['start_command', 'check_command', 'stop_command']

/** The inputs with which a tool of a dialect starts a background command, where others run one to its end. */
const mayStart: Readonly<Record<string, object>> = {
  run_shell_command: { command: 'echo x > x.txt', is_background: true },
  mastra_workspace_execute_command: { command: 'echo x > x.txt', background: true },
}

const open = Object.entries(dialects).map(([name, create]) => [name, create()] as const)
const rows = open.flatMap(([dialect, { tools }]: readonly [string, Dialect]) =>
  tools.map((tool) => {
    const certain = tool.uses.some((name) => background.includes(name))
    const possible = tool.mayUse?.some((name) => background.includes(name)) === true
    return { dialect, name: tool.name, ends: certain || possible, input: certain ? {} : mayStart[tool.name] }
  }),
)

describe('a single call', () => {
  it.each([
    ...background.map((name) => ({ words: [name], input: { command: 'true', id: 'x' } })),
    ...rows.filter(({ ends }) => ends).map(({ dialect, name, input }) => ({ words: [name, dialect], input })),
  ])('of $words is refused before it is made, because its effect would end with the process', async (row) => {
    const [name = '', dialect] = row.words
    expect(row.input).toBeDefined()
    const options = dialect === undefined ? shell : [...shell, '--dialect', dialect]
    const { code, stdout, stderr } = await runHere(['call', name, JSON.stringify(row.input), ...options])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/has no effect here: a background command ends with this process; \w+ in the foreground/)
    expect(readdirSync(root)).toEqual(['a.txt'])
  })

  it('of every other tool is made', async () => {
    const others = [
      ...builtinTools
        .filter(({ name }) => !background.includes(name))
        .map(({ name }) => ({ name, dialect: undefined })),
      ...rows.filter(({ ends }) => !ends),
    ]
    expect(others.length).toBeGreaterThan(80)
    for (const { name, dialect } of others) {
      const options = dialect === undefined ? shell : [...shell, '--dialect', dialect]
      const { code, stderr } = await runHere(['call', name, '{"nope":1}', ...options])
      expect([dialect, name, code, stderr]).toEqual([dialect, name, 1, expect.not.stringContaining('has no effect')])
    }
  })

  it('of a tool that may start a command runs one in the foreground', async () => {
    const words = ['call', 'run_shell_command', '{"command":"cat a.txt"}', ...shell, '--dialect', 'gemini']
    expect(await runHere(words)).toMatchObject({ code: 0, stdout: expect.stringContaining('Output: a') })
  })

  it('of submit_plan is refused, because the plan would count only there', async () => {
    for (const [tool, ...options] of [['submit_plan'], ['submit_plan', '--dialect', 'snake-case']] as const) {
      const words = ['call', tool, '{"plan":"x"}', '--root', root, '--policy', 'autonomous', '--plan', ...options]
      expect(await runHere(words)).toMatchObject({ code: 2, stderr: expect.stringContaining('wardspace mcp --plan') })
    }
  })

  it('that nothing was read before is told how to name the version', async () => {
    const here = ['--root', root, '--policy', 'autonomous']
    for (const options of [here, [...here, '--dialect', 'mcp-filesystem']]) {
      const write = (more: object) =>
        runHere(['call', 'write_file', JSON.stringify({ path: 'a.txt', content: 'a\n', ...more }), ...options])
      const { code, stderr } = await write({})
      const [advice = ''] = /\{?"expectedSha256": "[0-9a-f]{64}"/.exec(stderr) ?? []
      expect(code).toBe(1)
      expect(await write(JSON.parse(`{${advice}}`))).toMatchObject({ code: 0 })
    }
    const artifact = ['call', 'read_file', '{"path":"artifact://run/x"}', ...here]
    expect((await runHere(artifact)).stderr).toContain('ends with the process of its call')
  })
})

describe('an approval', () => {
  it('of a call whose effect would end with the process can only be denied', async () => {
    const parked = join(home, 'parked')
    const supervised = ['--root', root, '--policy', 'supervised', '--parked', parked, '--shell', 'bash']
    const workspace = await openParking(parked)
    const { approvalId: id } = (await workspace.callTool('start_command', { command: 'echo x > x.txt' })) as never
    await workspace.close()
    expect(await runHere(['approve', 'x', ...supervised])).toMatchObject({
      code: 1,
      stderr: `wardspace: no call waits for the approval "x"; those that wait are ${id}\n`,
    })
    for (const answer of ['yes', 'run']) {
      const { code, stderr } = await runHere(['approve', id, answer, ...supervised])
      expect([code, stderr]).toEqual([2, expect.stringContaining('start_command cannot be allowed here')])
    }
    const { code, stdout } = await runHere(['approve', id, 'use run_command', ...supervised])
    expect([code, stdout]).toEqual([1, expect.stringContaining('use run_command')])
    expect(readdirSync(root)).toEqual(['a.txt'])
  })
})

/** Opens a workspace whose calls wait in a directory, as those of `wardspace mcp`. */
async function openParking(directory: string) {
  return createWorkspace({
    backend: nodeBackend(root),
    policy: 'supervised',
    shell: bash(),
    parked: directoryParking(directory),
  })
}
