import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { loadConfig } from '../../src/cli/config.ts'
import { namedRoots } from '../../src/dialects/named-roots/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { createProject, type Project } from './open-config.ts'

let project: Project

beforeAll(async () => {
  project = await createProject({ 'src/main.go': 'package main\n', 'src/handler.go': 'package main\n', 'a.txt': 'a\n' })
})

afterAll(() => rm(project.home, { recursive: true, force: true }))

/** The agent's configuration, with the root of the test. */
const configuration = (root: string, isReadOnly = false): string => `tools:
  file:
    enabled: true
    allowed_paths:
      - "${root}"
    read_only: ${isReadOnly}
`

describe('the configuration of the agent', () => {
  it('opens its directory under its absolute name', async () => {
    const { root } = project
    const workspace = await project.open(await project.write('agent.yaml', configuration(root)), 'named-roots')
    const listed = await workspace.call('list_directory', { path: `${root}/src` })
    expect(listed.output).toMatchObject({
      success: true,
      entries: [{ path: `${root}/src/handler.go` }, { path: `${root}/src/main.go` }],
    })
    const path = `${root}/test.txt`
    const written = await workspace.call('write_file', { path, content: 'hola mundo' })
    expect(written.output).toEqual({ success: true, path, created: true, bytes: 10 })
    const appended = await workspace.call('append_file', { path, content: '\nuna linea mas\n' })
    expect(appended.output).toEqual({ success: true, path, appended: 15, size: 25 })
    const deleted = await workspace.call('delete_file', { path })
    expect(deleted.output).toEqual({ success: true, path })
    const outside = await workspace.call('read_file', { path: '/etc/passwd' })
    expect(outside).toMatchObject({ isError: true, failure: { code: 'PATH_REJECTED' } })
    await workspace.close()
  })

  it('registers only the reading tools with read_only', async () => {
    const { root } = project
    const file = await project.write('read-only.yaml', configuration(root, true))
    const workspace = await project.open(file, 'named-roots')
    expect(workspace.tools.map(({ name }) => name)).toEqual(['read_file', 'list_directory'])
    const path = `${root}/a.txt`
    expect(await workspace.call('read_file', { path })).toMatchObject({ output: { success: true, content: 'a\n' } })
    for (const name of ['write_file', 'append_file', 'delete_file']) {
      expect(await workspace.call(name, { path, content: 'x' })).toMatchObject({ failure: { code: 'READ_ONLY' } })
    }
    await workspace.close()
  })

  it('restricts the agent to the directories that it allows', async () => {
    const { root } = project
    const file = await project.write('part.yaml', configuration(`${root}/src`))
    const workspace = await project.open(file, 'named-roots')
    expect(await workspace.call('read_file', { path: `${root}/src/main.go` })).toMatchObject({ isError: false })
    expect(await workspace.call('read_file', { path: `${root}/a.txt` })).toMatchObject({
      failure: { code: 'POLICY_DENIED' },
    })
    await workspace.close()
  })

  it('is a policy in code as well', async () => {
    const root = '/home/ubuntu/workspace/proyecto-x'
    const policy = { tools: { file: { enabled: true, allowed_paths: [root], read_only: false } } }
    const workspace = await createWorkspace({
      backend: memory({ 'src/main.go': 'package main\n' }),
      policy: policy as never,
      dialect: namedRoots({ [root]: '' }),
    })
    expect(await workspace.call('read_file', { path: `${root}/src/main.go` })).toMatchObject({ isError: false })
    expect(await workspace.call('read_file', { path: '/etc/passwd' })).toMatchObject({ isError: true })
  })

  it.each([
    ['snake_case', { tools: { file: { enabled: true, allowed_paths: ['src'], read_only: true } } }],
    ['camelCase', { tools: { file: { enabled: true, allowedPaths: ['src'], readOnly: true } } }],
    ['PascalCase', { Tools: { FileOps: { Enabled: true, AllowedPaths: ['src'], ReadOnly: true } } }],
    ['the name of its section', { tools: { file_ops: { enabled: true, allowed_paths: ['src'], read_only: true } } }],
  ])('is understood in %s', (_, policy) => {
    expect(compilePolicy(policy).data).toEqual({ preset: 'readOnly', allowedPaths: ['src'] })
  })

  it.each<[string, string, ...string[]]>([
    ['enabled: false', '  file: { enabled: false, allowed_paths: [a] }', '"tools.file.enabled" is false', 'no tool'],
    ['enabled missing', '  file: { allowed_paths: [a] }', '"tools.file.enabled" is missing'],
    ['no directory', '  file: { enabled: true }', '"tools.file.allowedPaths" must be a list of directories'],
    ['an empty list', '  file: { enabled: true, allowed_paths: [] }', '"tools.file.allowed_paths" must be a list'],
    [
      'a wrong type',
      '  file: { enabled: true, allowed_paths: [a], read_only: "no" }',
      '"tools.file.read_only" must be',
    ],
    [
      'a misspelling',
      '  file: { enabled: true, alowed_paths: [a] }',
      '"tools.file.alowed_paths" is unknown',
      'allowed_paths"?',
    ],
    ['another field', '  file: { enabled: true, allowed_paths: [a], max_size: 5 }', '"tools.file.max_size" is unknown'],
    [
      'another section',
      '  file: { enabled: true, allowed_paths: [a] }\n  http: { enabled: true }',
      '"tools.http" must be',
    ],
    [
      'a preset beside it',
      '  file: { enabled: true, allowed_paths: [a] }\npreset: readOnly',
      'mean the same; keep one',
    ],
    [
      'a directory outside',
      '  file: { enabled: true, allowed_paths: [/etc] }',
      'tools.file.allowed_paths[0]',
      '"/etc"',
      '--root',
    ],
    ['a climbing path', '  file: { enabled: true, allowed_paths: [../x] }', '"tools.file.allowed_paths[0]"', 'climbs'],
    ['a home directory', '  file: { enabled: true, allowed_paths: [~/x] }', '"tools.file.allowed_paths[0]"', 'home'],
  ])('names what has no effect: %s', async (name, text, ...parts) => {
    const file = await project.write(`${name.replace(/\W/g, '-')}.yaml`, `tools:\n${text}\n`)
    const error: unknown = await loadConfig(project.root, file).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TypeError)
    for (const part of parts) expect((error as Error).message).toContain(part)
  })

  it('takes its directories literally', async () => {
    const policy = { tools: { file: { enabled: true, allowed_paths: ['/srv/[a]*'], read_only: false } } }
    const { data } = compilePolicy(policy, { roots: { '/srv/[a]*': '', '/srv/x': 'x' } })
    expect(data.allowedPaths).toEqual(['**'])
    const below = compilePolicy(policy, { roots: { '/srv': 'p' } }).data.allowedPaths
    const workspace = await createWorkspace({
      backend: memory({ 'p/[a]*/f': '1', 'p/ab/f': '2' }),
      policy: { preset: 'autonomous', allowedPaths: below ?? [] },
    })
    expect(await workspace.call('read_file', { path: 'p/[a]*/f' })).toMatchObject({ ok: true })
    expect(await workspace.call('read_file', { path: 'p/ab/f' })).toMatchObject({ ok: false })
  })
})
