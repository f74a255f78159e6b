import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
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
    const result = await workspace.call('write_file', { path, content: 'hola mundo' })
    expect(result.output).toEqual({ success: true, path, created: true, bytes: 10 })
    const appended = await workspace.call('append_file', { path, content: '\nuna linea mas\n' })
    expect(appended.output).toEqual({ success: true, path, appended: 15, size: 25 })
    const deleted = await workspace.call('delete_file', { path })
    expect(deleted.output).toEqual({ success: true, path })
    const outside = await workspace.call('read_file', { path: '/etc/passwd' })
    expect(outside).toMatchObject({ isError: true, failure: { code: 'PATH_REJECTED' } })
    await workspace.close()
  })

  it.each([
    ['named-roots', 'read_file', 'path', '/workspace/a.txt'],
    ['snake-case', 'read_file', 'path', '/workspace/a.txt'],
    ['mcp-filesystem', 'read_text_file', 'path', '/workspace/a.txt'],
    ['gemini', 'read_file', 'file_path', '/workspace/a.txt'],
    ['deepagents', 'read_file', 'file_path', '/a.txt'],
    ['anthropic', 'str_replace_based_edit_tool', 'path', '/workspace/a.txt'],
    ['mastra', 'mastra_workspace_read_file', 'path', 'a.txt'],
    ['file-read-write', 'file_read', 'path', 'a.txt'],
  ])('opens its directory under its absolute name and under that of %s', async (dialect, tool, field, own) => {
    const { root } = project
    const workspace = await project.open(await project.write('agent.yaml', configuration(root)), dialect)
    const input = tool === 'str_replace_based_edit_tool' ? { command: 'view' } : {}
    for (const path of [`${root}/a.txt`, own]) {
      expect(await workspace.call(tool, { ...input, [field]: path })).toMatchObject({ isError: false })
    }
    const outside = await workspace.call(tool, { ...input, [field]: `${project.home}/agent.yaml` })
    expect(outside.isError).toBe(true)
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

  it('restricts the agent to the allowed directories', async () => {
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
    ['no directory', '  file: { enabled: true }', '"tools.file.allowed_paths" must be a list of directories'],
    [
      'a pattern',
      '  file: { enabled: true, allowed_paths: ["src/**"] }',
      '"tools.file.allowed_paths" contains directories',
    ],
    ['no section', '  file:', '"tools.file" must be an object with "enabled" and "allowed_paths"'],
    ['true', '  file: true', '"tools.file" must be an object with "enabled" and "allowed_paths"'],
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
      'a preset in addition',
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
    [
      'a path that leaves the root',
      '  file: { enabled: true, allowed_paths: [../x] }',
      '"tools.file.allowed_paths[0]"',
      'climbs',
    ],
    ['a home directory', '  file: { enabled: true, allowed_paths: [~/x] }', '"tools.file.allowed_paths[0]"', 'home'],
  ])('names settings without effect: %s', async (name, text, ...parts) => {
    const file = await project.write(`${name.replace(/\W/g, '-')}.yaml`, `tools:\n${text}\n`)
    const error: unknown = await loadConfig(project.root, file).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TypeError)
    for (const part of parts) expect((error as Error).message).toContain(part)
  })

  it('treats its directories as literal names', async () => {
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

describe('the tools of the agent', () => {
  const root = '/home/ubuntu/workspace/proyecto-x'
  const line = `${'x'.repeat(79)}\n`
  const open = (files: Readonly<Record<string, string>>) =>
    createWorkspace({ backend: memory(files), policy: 'autonomous', dialect: namedRoots({ [root]: '' }) })

  it('read_file returns at most 64 KiB, and continues with start_line', async () => {
    for (const [name, text] of [
      ['many short lines', Array.from({ length: 9000 }, (_, i) => `line ${i + 1}\n`).join('')],
      ['lines of 80 bytes', line.repeat(2500)],
      ['long lines', `${'y'.repeat(30_000)}\n`.repeat(7)],
    ] as const) {
      const workspace = await open({ 'a.log': text })
      let content = ''
      let calls = 0
      for (let start_line = 1; ; calls++) {
        const { output } = await workspace.call('read_file', { path: `${root}/a.log`, start_line })
        const part = output as { content: string; truncated?: true; end_line: number; total_lines: number }
        expect(part, name).toMatchObject({ success: true, start_line, total_lines: text.split('\n').length - 1 })
        expect(part.content.length, name).toBeLessThanOrEqual(64 * 1024)
        content += part.content
        start_line = part.end_line + 1
        if (part.truncated !== true) break
      }
      expect(content === text, name).toBe(true)
      expect(calls, name).toBe(Math.ceil(text.length / (64 * 1024)) - 1)
    }
  })

  it('read_file continues a line of more than 64 KiB with start_column', async () => {
    const text = `${'y'.repeat(150_000)}\nend\n`
    const workspace = await open({ 'a.log': text })
    let content = ''
    for (let input = { start_line: 1 }, calls = 0; calls < 9; calls++) {
      const { output } = await workspace.call('read_file', { path: `${root}/a.log`, ...input })
      const part = output as { content: string; truncated?: true; end_line: number; next_column?: number }
      content += part.content
      if (part.truncated !== true) break
      const { end_line: last, next_column: start_column } = part
      input = start_column === undefined ? { start_line: last + 1 } : { start_line: last, ...{ start_column } }
    }
    expect(content === text).toBe(true)
  })

  it('write_file requires that all parts of a file of more than 64 KiB were read', async () => {
    const workspace = await open({ 'a.log': line.repeat(1000) })
    const path = `${root}/a.log`
    const write = () => workspace.call('write_file', { path, content: 'short\n' })
    await workspace.call('read_file', { path })
    expect(await write()).toMatchObject({ failure: { code: 'WRITE_CONFLICT' } })
    await workspace.call('read_file', { path, start_line: 800 })
    expect(await write()).toMatchObject({ isError: false })
  })

  it('read_file reads a range', async () => {
    const workspace = await open({ 'a.txt': 'one\ntwo\nthree\n' })
    const path = `${root}/a.txt`
    expect((await workspace.call('read_file', { path })).output).toEqual({
      success: true,
      content: 'one\ntwo\nthree\n',
    })
    for (const range of [
      { start_line: 2, max_lines: 1 },
      { startLine: 2, maxLines: 1 },
    ]) {
      expect((await workspace.call('read_file', { path, ...range })).output).toEqual({
        ...{ success: true, content: 'two\n', start_line: 2, end_line: 2, total_lines: 3 },
      })
    }
  })

  it('names its own fields in errors', async () => {
    const workspace = await open({ 'a.txt': 'one\n' })
    const { output } = await workspace.call('read_file', { path: `${root}/a.txt`, start_line: 5 })
    expect(JSON.stringify(output)).toContain('Line 5 is after the last line 1')
  })

  it('list_directory shows names, types, sizes and modification dates, at most 500', async () => {
    const { root: directory } = project
    const workspace = await project.open(await project.write('list.yaml', configuration(directory)), 'named-roots')
    const { output } = await workspace.call('list_directory', { path: directory, recursive: true })
    const { entries } = output as { entries: { path: string; type: string; size?: number; modified?: string }[] }
    expect(entries).toMatchObject([
      { path: `${directory}/a.txt`, type: 'file', size: 2 },
      { path: `${directory}/src`, type: 'directory' },
      { path: `${directory}/src/handler.go`, type: 'file', size: 13 },
      { path: `${directory}/src/main.go`, type: 'file', size: 13 },
    ])
    for (const { type, modified } of entries) {
      if (type === 'file') expect(modified).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    }
    await workspace.close()
    const many = await open(Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}`, ''])))
    const listed = (await many.call('list_directory', { path: root })).output as { entries: unknown[] }
    expect(listed.entries).toHaveLength(500)
    expect(listed).toMatchObject({ truncated: true, total: 600 })
  })

  it('write_file refuses more than 1 MiB, and append_file more than 10 MiB in total', async () => {
    const workspace = await open({ 'a.log': 'x'.repeat(10 * 1024 * 1024 - 5) })
    const big = { path: `${root}/b`, content: 'x'.repeat(1024 * 1024 + 1) }
    expect(await workspace.call('write_file', big)).toMatchObject({ failure: { code: 'LIMIT_EXCEEDED' } })
    const append = { path: `${root}/a.log`, content: '123456' }
    expect(await workspace.call('append_file', append)).toMatchObject({ isError: true })
    expect(await workspace.call('append_file', { path: `${root}/new/x`, content: '1' })).toMatchObject({
      isError: false,
    })
  })

  it('delete_file deletes only files, and refuses recursive with that reason', async () => {
    const workspace = await open({ 'src/a.go': '', 'b.go': '' })
    for (const [input, code] of [
      [{ path: `${root}/src` }, 'IS_DIRECTORY'],
      [{ path: `${root}/src`, recursive: true }, 'INVALID_INPUT'],
      [{ path: `${root}/b.go`, recursive: true }, 'INVALID_INPUT'],
    ] as const) {
      const result = await workspace.call('delete_file', input)
      expect(result.failure?.code).toBe(code)
      if (code === 'INVALID_INPUT') expect(JSON.stringify(result.output)).toContain('only single files are deleted')
    }
    expect(await workspace.call('delete_file', { path: `${root}/b.go`, recursive: false })).toMatchObject({
      isError: false,
    })
  })

  it('every tool refuses paths outside, climbing paths and links to outside', async () => {
    const { root } = project
    await symlink('/etc', join(root, 'out'))
    const workspace = await project.open(await project.write('links.yaml', configuration(root)), 'named-roots')
    for (const path of ['/etc/passwd', `${root}/../x`, `${root}/out/passwd`, 'a/../../x', project.home]) {
      for (const [tool, more] of [
        ['read_file', {}],
        ['list_directory', {}],
        ['write_file', { content: '' }],
        ['append_file', { content: 'x' }],
        ['delete_file', {}],
      ] as const) {
        const result = await workspace.call(tool, { path, ...more })
        expect([tool, path, result.failure?.code]).toEqual([tool, path, 'PATH_REJECTED'])
      }
    }
    await workspace.close()
  })
})
