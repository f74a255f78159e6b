import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { defaultLimits } from '../../src/limits.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createWorkspace as createCoreWorkspace } from '../../src/workspace/core.ts'

describe('an option that belongs elsewhere', () => {
  it.each(Object.keys(defaultLimits))('is refused with its place: createWorkspace({ %s })', async (name) => {
    const options = { backend: memory(), policy: 'autonomous', [name]: 1 } as const
    const message = `Option "${name}" of createWorkspace() is unknown; pass limits: { ${name}: … }`
    await expect(createWorkspace(options)).rejects.toThrow(message)
    await expect(createCoreWorkspace(options)).rejects.toThrow(message)
  })

  it.each([
    ['files', 'memory(files)'],
    ['fs', 'memory(files)'],
    ['cwd', 'keepCwd: true'],
    ['network', 'network: { hosts }'],
    ['customCommands', 'by name: commands'],
    ['executionLimits', 'limits'],
    ['python', 'node'],
  ])('is refused with its place: bash({ %s })', (name, place) => {
    const create = () => bash({ [name]: {} } as object)
    expect(create).toThrow(`Option "${name}" of bash() is unknown; `)
    expect(create).toThrow(place)
  })

  it('is not listed among the options', () => {
    expect(() => bash({ zzzzzzzz: 1 } as object)).toThrow(/the options are root, random, env, commands, worker$/)
  })
})

describe('memory', () => {
  it.each([
    ['/home/user/a', 'home/user/a'],
    ['//a', 'a'],
    ['C:\\a', 'a'],
    ['D:/a/b', 'a/b'],
  ])('says what to write instead of the absolute key %s', (key, relative) => {
    expect(() => memory({ [key]: '' })).toThrow(`Keys are relative to the root of the workspace: write "${relative}"`)
  })
})

describe('run_command', () => {
  it.each(['echo "unclosed', 'ls |', ' ', 'if true', 'echo $(', 'cat <<E\nx', 'x'.repeat(70_000), 'ls\u200b'])(
    'does not forbid another try of a line that only needs a correction: %j',
    async (command) => {
      const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell: bash() })
      const result = await workspace.callTool('run_command', { command })
      expect(result).toMatchObject({ code: 'COMMAND_DENIED', hint: expect.not.stringContaining('do not retry') })
      await workspace.close()
    },
  )

  it('forbids another try of a command that is not allowed', async () => {
    const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell: bash() })
    expect(await workspace.callTool('run_command', { command: 'sudo ls' })).toMatchObject({
      code: 'COMMAND_DENIED',
      hint: expect.stringContaining('do not retry'),
    })
    await workspace.close()
  })

  it('names the option for a shell in a workspace without one', async () => {
    const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous' })
    expect(await workspace.callTool('run_command', { command: 'ls' })).toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      hint: expect.stringContaining('createWorkspace({ shell: bash() })'),
    })
  })
})
