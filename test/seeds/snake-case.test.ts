import { describe, expect, it } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { execWorkspace, joinTools } from '../../src/workspace/exec-workspace.ts'

const files = {
  'src/app.ts': 'export const answer = 41\n',
  'src/deep/util.ts': 'export const helper = () => answer(1)\n',
  'docs/guide.md': 'The answer.\n',
}

const open = (more: object = {}) =>
  createWorkspace({
    backend: memory(files),
    ...{ policy: 'autonomous', dialect: snakeCase(), shell: bash({ worker: false }), keepCwd: true },
    ...more,
  })

describe('the calls of the original', () => {
  it('read_file, edit_file and list_directory accept absolute paths, write_file a relative one', async () => {
    const workspace = await open()
    const read = await workspace.call('read_file', { path: '/workspace/src/app.ts' })
    expect(read.output).toMatchObject({ ok: true, content: files['src/app.ts'] })
    const edit = { path: '/workspace/src/app.ts', old_text: '41', new_text: '42' }
    expect((await workspace.call('edit_file', edit)).output).toMatchObject({ ok: true, replacements: 1 })
    expect(await workspace.call('edit_file', { ...edit, old_text: 't' })).toMatchObject({
      failure: { code: 'EDIT_AMBIGUOUS' },
    })
    expect(await workspace.call('edit_file', { ...edit, old_text: 'no' })).toMatchObject({
      failure: { code: 'EDIT_NO_MATCH' },
    })
    const write = await workspace.call('write_file', { path: 'notes/new.md', content: 'x\n' })
    expect(write.output).toMatchObject({ ok: true, path: '/workspace/notes/new.md', created: true })
    for (const path of ['/etc/passwd', '/workspace/../etc/passwd', '../x']) {
      expect(await workspace.call('write_file', { path, content: 'x' })).toMatchObject({
        failure: { code: 'PATH_REJECTED' },
      })
    }
  })

  it('list_directory ends the paths of directories with a slash, which every tool accepts', async () => {
    const workspace = await open()
    const { output } = await workspace.call('list_directory', { path: '/workspace' })
    const { entries } = output as { entries: { path: string }[] }
    expect(entries.map(({ path }) => path)).toEqual(['/workspace/docs/', '/workspace/src/'])
    const below = await workspace.call('list_directory', { path: '/workspace/src/' })
    expect(below.output).toMatchObject({
      entries: [{ path: '/workspace/src/app.ts' }, { path: '/workspace/src/deep/' }],
    })
    for (const [tool, input] of [
      ['search_files', { path: '/workspace/src/', pattern: '*.ts' }],
      ['run_command', { command: 'ls', cwd: '/workspace/src/' }],
    ] as const) {
      expect(await workspace.call(tool, input), tool).toMatchObject({ isError: false })
    }
  })

  it.each<[object, object]>([
    [{ path: '/workspace', pattern: '*.ts' }, { files: ['/workspace/src/app.ts', '/workspace/src/deep/util.ts'] }],
    [{ path: '/workspace/src', pattern: '*.ts', content_search: false }, { total_found: 2 }],
    [{ path: '/workspace', pattern: 'src/*.ts' }, { files: ['/workspace/src/app.ts'] }],
    [
      { path: '/workspace', pattern: 'answer', content_search: true },
      { matches: [{ line: 1 }, { line: 1 }, { line: 1 }] },
    ],
    [
      { path: '/workspace/src', pattern: 'an[sx]wer\\(', content_search: true },
      { matches: [{ path: '/workspace/src/deep/util.ts' }] },
    ],
    [
      { path: '/workspace/src', pattern: 'answer(', content_search: true },
      { matches: [{ path: '/workspace/src/deep/util.ts' }], warnings: [/searched as text/] },
    ],
    [{ path: '/workspace', pattern: 'a.s', content_search: true, is_regex: false }, { matches: [] }],
    [
      { path: '/workspace', query: 'answer', file_pattern: '**/*.md' },
      { matches: [{ path: '/workspace/docs/guide.md' }] },
    ],
  ])('search_files(%j)', async (input, expected) => {
    const { output } = await (await open()).call('search_files', input)
    const { warnings, ...rest } = expected as { warnings?: RegExp[] }
    expect(output).toMatchObject({ ok: true, ...rest })
    if (warnings !== undefined)
      expect((output as { warnings: string[] }).warnings.join()).toMatch(warnings[0] as RegExp)
  })

  it('read_file continues a line of more than 64 KiB', async () => {
    const text = `first\n${'y'.repeat(150_000)}\nend\n`
    const workspace = await open({ backend: memory({ 'a.log': text }) })
    let content = ''
    for (let input = { start_line: 1 }, calls = 0; calls < 9; calls++) {
      const { output } = await workspace.call('read_file', { path: 'a.log', ...input })
      const part = output as { ok: boolean; content: string; end_line: number; next_column?: number }
      expect(part.ok).toBe(true)
      content += part.content
      if (part.next_column === undefined) break
      input = { start_line: part.end_line, ...{ start_column: part.next_column } }
    }
    expect(content === text).toBe(true)
  })

  it('run_command returns stdout, stderr and the exit code, and the denylist holds', async () => {
    const workspace = await open()
    const result = await workspace.call('run_command', { command: 'echo out; echo err >&2; exit 3' })
    expect(result.output).toMatchObject({ ok: true, stdout: 'out\n', stderr: 'err\n', exit_code: 3 })
    for (const command of ['rm -rf /', 'sudo ls', 'echo x | sudo tee y']) {
      expect(await workspace.call('run_command', { command }), command).toMatchObject({
        failure: { code: 'COMMAND_DENIED' },
      })
    }
  })
})

describe.each([
  ['its default root', undefined],
  ['another root', { '/home/me/project': '' }],
  ['no root', {}],
  ['two roots', { '/code': 'src', '/notes': 'docs' }],
])('paths with %s', (_, roots) => {
  it('are resolved in the same way by the tools and the shell', async () => {
    const dialect = roots === undefined ? snakeCase() : snakeCase(roots)
    const workspace = await open({ dialect })
    const root = Object.keys(roots ?? {}).find((name) => Object(roots)[name] === '') ?? '/workspace'
    for (const command of ['pwd', 'cd src && pwd', 'cd deep && pwd', `cd ${root}/docs && pwd`, 'cd .. && pwd']) {
      const { output } = await workspace.call('run_command', { command })
      const { cwd, stdout } = output as { cwd: string; stdout: string }
      expect(stdout, command).toBe(`${cwd}\n`)
      expect(await workspace.call('list_directory', { path: cwd }), command).toMatchObject({ isError: false })
      const again = await workspace.call('run_command', { command: 'pwd', cwd })
      expect(again.output, command).toMatchObject({ stdout, cwd })
    }
    const matches = (await workspace.call('run_command', { command: `find ${root} -name "*.ts"` })).output as {
      stdout: string
    }
    const paths = matches.stdout.trim().split('\n')
    expect(paths).toHaveLength(2)
    for (const path of paths) {
      expect(await workspace.call('read_file', { path })).toMatchObject({ isError: false })
      expect(await workspace.call('run_command', { command: `cat ${path}` })).toMatchObject({
        output: { exit_code: 0 },
      })
    }
  })
})

describe('plan mode', () => {
  it('blocks write_file until submit_plan is approved, and its paths become the scope', async () => {
    const plans: unknown[] = []
    const approve = (request: { readonly tool: string; readonly input: unknown }) => {
      if (request.tool !== 'submit_plan') return { deny: 'outside of the plan' }
      plans.push(request.input)
      return 'allow' as const
    }
    const workspace = await open({ mode: 'plan', approve })
    expect(workspace.tools.map(({ name }) => name)).toContain('submit_plan')
    const write = () => workspace.call('write_file', { path: 'docs/new.md', content: 'x\n' })
    expect(await write()).toMatchObject({ isError: true, failure: { code: 'PLAN_MODE' } })
    const input = { plan: 'Write the guide.', paths: ['/workspace/docs/**', 'src/app.ts'] }
    const submitted = await workspace.call('submit_plan', input)
    expect(submitted.output).toMatchObject({
      ok: true,
      approved: true,
      paths: ['/workspace/docs/**', '/workspace/src/app.ts'],
    })
    expect(plans).toMatchObject([{ paths: ['docs/**', 'src/app.ts'] }])
    expect(await write()).toMatchObject({ isError: false })
    await workspace.call('write_file', { path: 'other.md', content: 'x\n' })
    expect((await workspace.report()).scope).toMatchObject({ outside: ['other.md'] })
  })

  it('is the only mode with submit_plan', async () => {
    const workspace = await open()
    expect(workspace.tools.map(({ name }) => name)).not.toContain('submit_plan')
    expect(await workspace.call('submit_plan', { plan: 'x' })).toMatchObject({ failure: { code: 'UNKNOWN_TOOL' } })
  })
})

describe('classification and taint', () => {
  const labels = {
    sources: [{ label: 'confidential', paths: ['docs/**'] }],
    sinks: [{ name: 'published', ceiling: 'public', paths: ['src/**'] }],
  }

  it('every result has its label, and a sink refuses content that was read', async () => {
    const workspace = await open({ policy: { preset: 'autonomous', labels } })
    const label = async (tool: string, input: object) =>
      ((await workspace.call(tool, input)).output as { label?: string; error?: { label?: string } }).label
    expect(await label('read_file', { path: 'src/app.ts' })).toBe('public')
    expect(await label('list_directory', { path: 'src' })).toBe('public')
    expect(await label('read_file', { path: '/workspace/docs/guide.md' })).toBe('confidential')
    expect(await label('search_files', { path: 'docs', pattern: 'answer', content_search: true })).toBe('confidential')
    expect(await label('run_command', { command: 'cat docs/guide.md' })).toBe('confidential')
    const write = await workspace.call('write_file', { path: 'src/new.ts', content: 'x\n' })
    expect(write).toMatchObject({ isError: true, failure: { code: 'TAINT_DENIED' } })
    expect(write.output).toMatchObject({ ok: false, error: { code: 'TAINT_DENIED' } })
  })

  it('results have no label without labels in the policy', async () => {
    const { output } = await (await open()).call('read_file', { path: 'src/app.ts' })
    expect(output).not.toHaveProperty('label')
  })
})

describe('file tools and exec tools in one agent', () => {
  it('work together, each on its own files', async () => {
    const main = await open()
    const scratch = await execWorkspace({ shell: bash({ worker: false }) })
    const joined = joinTools(main, scratch)
    expect(joined.tools.map(({ name }) => name)).toEqual([
      ...['read_file', 'write_file', 'edit_file', 'list_directory', 'search_files', 'run_command'],
      ...['exec.write', 'exec.read', 'exec.run', 'exec.ls'],
    ])
    const tools = aiSdkTools(joined)
    const call = async (name: string, input: object) =>
      tools[name]?.execute?.(input, { toolCallId: 'x', messages: [], context: {} } as never)
    expect(await call('exec.write', { path: 'sum.sh', content: 'echo $((1 + ))\n' })).toMatchObject({ isError: false })
    expect(await call('exec.run', { command: 'bash sum.sh' })).toMatchObject({ isError: true })
    expect(await call('exec.write', { path: 'sum.sh', content: 'echo $((1 + 1))\n' })).toMatchObject({ isError: false })
    expect(await call('exec.run', { command: 'bash sum.sh' })).toMatchObject({ output: { exitCode: 0, stdout: '2\n' } })
    expect(await call('read_file', { path: 'sum.sh' })).toMatchObject({ failure: { code: 'NOT_FOUND' } })
    expect(await call('run_command', { command: 'ls' })).toMatchObject({ output: { stdout: 'docs\nsrc\n' } })
    expect(await call('write_file', { path: 'sum.sh', content: 'echo 2\n' })).toMatchObject({ isError: false })
    expect(await call('exec.read', { path: 'sum.sh' })).toMatchObject({ output: { content: 'echo $((1 + 1))\n' } })
    expect(await joined.callTool('none', {})).toMatchObject({ failure: { code: 'UNKNOWN_TOOL' } })
    for (const name of ['exec_run', 'read_fil']) {
      const unknown = JSON.stringify(await joined.callTool(name, {}))
      for (const tool of joined.tools) expect(unknown).toContain(tool.name)
      expect(unknown).toContain(`Did you mean \\"${name === 'exec_run' ? 'exec.run' : 'read_file'}\\"?`)
    }
    expect(() => joinTools(main, main)).toThrow('Two workspaces have the tool "read_file"')
  })
})
