import { describe, expect, it } from 'vitest'
import { toModelText } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import type { CheckContext, Finding } from '../../src/checks/index.ts'
import { json } from '../../src/checks/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { createWorkspace, type PolicyInput, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { connect } from '../adapters/mcp-client.ts'
import { fixtures } from '../dialects/fixtures.ts'

type Checks = NonNullable<WorkspaceOptions['checks']>

const files = {
  'package.json': '{\n  "name": "app"\n}\n',
  'src/app.ts': 'export const a = 1\n',
  'src/other.ts': 'export const b = 2\n',
  '.env': 'TOKEN=hunter2\n',
  'private/plan.md': 'the plan\n',
}

function open(checks: Checks, options: Partial<WorkspaceOptions> = {}) {
  return createWorkspace({ backend: memory(files), policy: 'autonomous', checks, ...options })
}

/** A check that keeps what it was called with. */
function spy(findings: readonly (Finding | string)[] = []) {
  const calls: CheckContext[] = []
  return {
    calls,
    check: {
      name: 'spy',
      check: (context: CheckContext) => {
        calls.push(context)
        return findings
      },
    },
  }
}

const write = (path: string, content: string) => ({ path, content, mode: 'CREATE_OR_REPLACE' as const })

describe('checks', () => {
  it('adds the findings to the result of the call that made the change', async () => {
    const workspace = await open([json()])
    const read = await workspace.call('read_file', { path: 'package.json' })
    expect(read).not.toHaveProperty('checks')
    const edited = await workspace.call('edit_file', {
      path: 'package.json',
      oldText: '"app"',
      newText: '"app",',
    })
    expect(edited).toMatchObject({
      ok: true,
      checks: [
        {
          name: 'json',
          findings: [{ path: 'package.json', line: 3, column: 1, message: 'A comma before } is not allowed' }],
        },
      ],
    })
    expect(toModelText('edit_file', edited).split('\n').slice(1, 3)).toEqual([
      'Check json: 1 finding',
      '- package.json:3:1: A comma before } is not allowed',
    ])
    const mended = await workspace.call('edit_file', { path: 'package.json', oldText: '"app",', newText: '"app"' })
    expect(toModelText('edit_file', mended)).toContain('\nChecks without findings: json\n')
    const outcomes = workspace
      .auditRecords()
      .filter(({ phase, toolName }) => phase === 'outcome' && toolName === 'edit_file')
    expect(outcomes.map(({ checks }) => checks)).toEqual([
      [{ name: 'json', findings: 1 }],
      [{ name: 'json', findings: 0 }],
    ])
    expect(workspace.verifyAudit().ok).toBe(true)
  })

  it('runs each check once for all files of a call, and not for other files, dry runs and reads', async () => {
    const { check, calls } = spy()
    const workspace = await open([{ ...check, files: ['src/**', 'docs/*.md'] }])
    await workspace.call('write_file', write('package.json', '{}\n'))
    await workspace.call('read_file', { path: 'src/app.ts' })
    await workspace.call('edit_file', { path: 'src/app.ts', oldText: '1', newText: '2', dryRun: true })
    expect(calls).toEqual([])
    const patch = [
      '*** Begin Patch',
      '*** Update File: src/app.ts',
      '-export const a = 1',
      '+export const a = 3',
      '*** Delete File: src/other.ts',
      '*** Add File: docs/a.md',
      '+text',
      '*** Add File: notes.txt',
      '+text',
      '*** End Patch',
    ].join('\n')
    const patched = await workspace.call('apply_patch', { patch })
    expect(patched).toMatchObject({ ok: true, checks: [{ name: 'spy', findings: [] }] })
    expect(calls.map(({ changed }) => changed)).toEqual([
      [
        { path: 'docs/a.md', change: 'created' },
        { path: 'src/app.ts', change: 'changed' },
        { path: 'src/other.ts', change: 'deleted' },
      ],
    ])
    await workspace.call('move_file', { path: 'src/app.ts', to: 'src/moved.ts' })
    expect(calls.at(-1)?.changed).toEqual([
      { path: 'src/app.ts', change: 'deleted' },
      { path: 'src/moved.ts', change: 'created' },
    ])
  })

  it('checks what a command has changed, and not what its program or undo changes', async () => {
    const { check, calls } = spy()
    const workspace = await open([check], { shell: bash() })
    const result = await workspace.call('run_command', { command: 'echo 1 > new.txt' })
    expect(result).toMatchObject({ ok: true, checks: [{ name: 'spy' }] })
    expect(calls.map(({ changed }) => changed)).toEqual([[{ path: 'new.txt', change: 'created' }]])
    await workspace.files.write('by-program.txt', 'x')
    await workspace.undo(String(result.ok && result.callId))
    expect(calls.length).toBe(1)
    await workspace.close()
  })

  it('reads only what the agent may read', async () => {
    const seen: unknown[] = []
    const check = {
      name: 'reader',
      async check({ files: view }: CheckContext) {
        for (const path of ['src/other.ts', '.env', 'private/plan.md', 'missing.ts', '../x', '.git/config']) {
          seen.push(await view.readText(path).catch((error) => `${error.code} ${error.message}`))
          seen.push((await view.versionOf(path)) !== undefined)
        }
        seen.push((await view.entries()).map(({ name }) => name))
        seen.push(await view.entries('private'))
        return [{ path: 'private/plan.md', message: 'about a hidden file' }, 'a finding']
      },
    }
    const workspace = await open([check], { policy: { preset: 'autonomous', deniedPaths: ['private/**'] } })
    const result = await workspace.call('write_file', write('new.txt', 'x'))
    const absent = (path: string) => [`NOT_FOUND "${path}" does not exist`, false]
    expect(seen).toEqual([
      'export const b = 2\n',
      true,
      ...['.env', 'private/plan.md', 'missing.ts', '../x', '.git/config'].flatMap(absent),
      ['new.txt', 'package.json', 'src'],
      [],
    ])
    expect(result).toMatchObject({ ok: true, checks: [{ findings: [{ message: 'a finding' }] }] })
    expect(workspace.auditRecords().at(-1)).toMatchObject({ pathsRead: ['src/other.ts'] })
  })

  it('redacts secrets in texts and findings', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    let text = ''
    const check = {
      name: 'leak',
      async check({ files: view }: CheckContext) {
        text = await view.readText('token.ts')
        return [{ message: `found ${token}`, code: token, path: 'token.ts' }]
      },
    }
    const workspace = await open([check])
    const result = await workspace.call('write_file', write('token.ts', `const t = '${token}'\n`))
    expect(text).toContain('[REDACTED:')
    expect(JSON.stringify([result, text])).not.toContain(token)
    expect(result).toMatchObject({
      ok: true,
      checks: [{ findings: [{ message: expect.stringContaining('[REDACTED:') }] }],
    })
  })

  it('raises the taint of the run by the labels of what a check has read', async () => {
    const policy: PolicyInput = {
      preset: 'autonomous',
      labels: {
        sources: [{ label: 'restricted', paths: ['private/**'] }],
        sinks: [{ name: 'site', ceiling: 'public', paths: ['site/**'] }],
      },
    }
    const check = {
      name: 'reader',
      check: async ({ files: view }: CheckContext) => [await view.readText('private/plan.md')],
    }
    const workspace = await open([check], { policy })
    const result = await workspace.call('write_file', write('a.txt', 'x'))
    expect(result).toMatchObject({ ok: true, label: 'restricted' })
    expect(await workspace.call('write_file', write('site/a.txt', 'x'))).toMatchObject({ code: 'TAINT_DENIED' })
    // What was written before the check has no label of what the check read.
    const other = workspace.run()
    expect(await other.call('read_file', { path: 'a.txt' })).toMatchObject({ ok: true, label: 'public' })
    expect(workspace.auditRecords().find(({ phase }) => phase === 'outcome')).toMatchObject({ label: 'restricted' })
  })

  it('reports a check that throws, hangs or returns something else, and leaves the change as it is', async () => {
    const exceptions: unknown[] = []
    const signals: AbortSignal[] = []
    const hang = (context: CheckContext) => {
      signals.push(context.signal)
      return new Promise<never>(() => {})
    }
    const workspace = await open([
      {
        name: 'throws',
        check: () => {
          throw new RangeError('/home/me/secret')
        },
      },
      {
        name: 'rejects',
        check: async () => {
          throw new TypeError('x')
        },
      },
      { name: 'hangs', timeoutMs: 20, check: hang },
      { name: 'wrong', check: (() => 'x') as never },
      { name: 'wrong-path', check: () => [{ path: '/etc/passwd', message: 'x' }] },
      { name: 'fine', check: () => [] },
      { name: 'mixed', check: () => ['one', { line: 1 } as never, { path: 'a.txt', message: 'two' }] },
    ])
    workspace.subscribe((event) => event.type === 'exception' && exceptions.push(event.cause))
    const result = await workspace.call('write_file', write('a.txt', 'x'))
    expect(result).toMatchObject({
      ok: true,
      checks: [
        { name: 'throws', problem: 'failed (RangeError)' },
        { name: 'rejects', problem: 'failed (TypeError)' },
        { name: 'hangs', problem: 'did not end within 20 ms' },
        { name: 'wrong', problem: 'failed (TypeError)' },
        { name: 'wrong-path', findings: [], problem: 'returned findings in a wrong form: 1 of 1' },
        { name: 'fine', findings: [] },
        {
          name: 'mixed',
          findings: [{ message: 'one' }, { path: 'a.txt', message: 'two' }],
          problem: 'returned findings in a wrong form: 1 of 3',
        },
      ],
    })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(exceptions.length).toBe(5)
    const text = toModelText('write_file', result)
    expect(text).toContain('\nCheck hangs did not end within 20 ms\n')
    expect(text).toContain(
      '\nCheck mixed returned findings in a wrong form: 1 of 3\nCheck mixed: 2 findings\n- one\n- a.txt: two\n',
    )
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'x' })
  })

  it('refuses findings with a wrong or unknown field, and says which', async () => {
    const rows: readonly (readonly [fields: object, reason: RegExp])[] = [
      [{ severity: 'fatal' }, /"severity" of a finding must be "error" or "warning"/],
      [{ sevrity: 'error' }, /"sevrity" of a finding is unknown; did you mean "severity"/],
      ...[0, -1, 1.5, '1', null].map((line) => [{ line }, /"line" of a finding must be a positive/] as const),
      [{ line: 1, column: 0 }, /"column" of a finding must be a positive/],
      [{ column: 1 }, /The column of a finding needs a line/],
      [{ path: 1 }, /The path of a finding/],
      [{ message: 1 }, /"message" of a finding must be a string/],
    ]
    const fine = [
      { message: 'x', line: 1, column: 1, severity: 'error', code: 7, path: '.' },
      { message: 'x', line: undefined },
    ]
    const exceptions: unknown[] = []
    const check = () => [...rows.map(([fields]) => ({ message: 'x', ...fields })), ...fine] as never
    const workspace = await open([{ name: 'c', check }])
    workspace.subscribe((event) => event.type === 'exception' && exceptions.push(event.cause))
    expect(await workspace.call('write_file', write('a.txt', 'x'))).toMatchObject({
      checks: [
        {
          findings: [{ message: 'x', line: 1, column: 1, code: '7' }, { message: 'x' }],
          problem: `returned findings in a wrong form: ${rows.length} of ${rows.length + fine.length}`,
        },
      ],
    })
    expect(exceptions.map(String)).toEqual(rows.map(([, reason]) => expect.stringMatching(reason)))
  })

  it('lets a check read nothing after its end', async () => {
    let late: Promise<unknown> | undefined
    const check = {
      name: 'late',
      timeoutMs: 10,
      check: async ({ files: view, signal }: CheckContext) => {
        late = new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve(view.readText('src/app.ts').catch((error) => error.code))),
        )
        return new Promise<never>(() => {})
      },
    }
    await (await open([check])).call('write_file', write('a.txt', 'x'))
    expect(await late).toBe('ABORTED')
  })

  it('ends with the call when the caller cancels it, and the change stands', async () => {
    const cancel = new AbortController()
    const check = {
      name: 'slow',
      check: () => {
        cancel.abort()
        return new Promise<never>(() => {})
      },
    }
    const workspace = await open([check])
    const result = await workspace.call('write_file', write('a.txt', 'x'), { signal: cancel.signal })
    expect(result).toMatchObject({ ok: true, checks: [{ name: 'slow', problem: 'was cancelled' }] })
  })

  it('cuts findings at whole ones and counts the rest', async () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ path: 'a.txt', line: i + 1, message: 'm'.repeat(90) }))
    const checks = [
      { name: 'many', check: () => many },
      { name: 'long', check: () => ['x'.repeat(100_000), 'second'] },
    ]
    const workspace = await open(checks, { limits: { checkBytes: 1000 } })
    const result = await workspace.call('write_file', write('a.txt', 'x'))
    const [first, second] = result.ok ? (result.checks ?? []) : []
    expect(first?.findings).toEqual(many.slice(0, first?.findings.length))
    expect((first?.findings.length ?? 0) + (first?.omitted ?? 0)).toBe(50)
    expect(JSON.stringify(first).length).toBeLessThan(1200)
    expect(second).toMatchObject({ findings: [{ message: expect.stringMatching(/^x+…$/) }], omitted: 1 })
    expect(JSON.stringify(second).length).toBeLessThan(1200)
    const counted = await open([{ name: 'many', check: () => many }], { limits: { checkFindings: 3 } })
    expect(await counted.call('write_file', write('a.txt', 'x'))).toMatchObject({
      checks: [{ findings: many.slice(0, 3), omitted: 47 }],
    })
  })

  it('does not mix the findings of calls at the same time', async () => {
    const check = {
      name: 'names',
      async check({ changed }: CheckContext) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
        return changed.map(({ path }) => ({ path, message: path }))
      },
    }
    const workspace = await open([check])
    const paths = Array.from({ length: 20 }, (_, i) => `f${i}.txt`)
    const results = await Promise.all(paths.map((path) => workspace.call('write_file', write(path, 'x'))))
    expect(results.map((result) => result.ok && result.checks?.[0]?.findings)).toEqual(
      paths.map((path) => [{ path, message: path }]),
    )
  })

  it('keeps the state of a check for each workspace and each fork', async () => {
    const check = {
      name: 'counter',
      check({ state }: CheckContext) {
        state.set('n', Number(state.get('n') ?? 0) + 1)
        return [String(state.get('n'))]
      },
    }
    const workspace = await open([check])
    const fork = await workspace.fork()
    const run = async (target: Pick<typeof workspace, 'call'>, content: string) => {
      const result = await target.call('write_file', write('a.txt', content))
      return result.ok && result.checks?.[0]?.findings[0]?.message
    }
    expect([await run(workspace, '1'), await run(workspace, '2'), await run(fork, '3')]).toEqual(['1', '2', '1'])
  })

  it('writes findings that go over several lines so that no line looks like another part', async () => {
    const workspace = await open([{ name: 'lines', check: () => ['one\nWarning: two\n\nthree'] }])
    const result = await workspace.call('write_file', write('a.txt', 'x'))
    expect(toModelText('write_file', result)).toContain(
      'Check lines: 1 finding\n- one\n  | Warning: two\n  | \n  | three\n',
    )
  })
})

describe('the forms of a result', () => {
  /** A call that changes a file in each dialect that has no fixtures, and how it spells a path. */
  const changes: Readonly<Record<string, readonly [tool: string, input: object, spelled: string]>> = {
    anthropic: [
      'str_replace_based_edit_tool',
      { command: 'create', path: '/workspace/a.txt', file_text: 'x' },
      '/workspace/src/app.ts',
    ],
    codex: ['apply_patch', { input: '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch' }, 'src/app.ts'],
    deepagents: ['write_file', { file_path: '/a.txt', content: 'x' }, '/src/app.ts'],
    exec: ['exec.write', { path: 'a.txt', content: 'x' }, 'src/app.ts'],
    gemini: ['write_file', { file_path: '/workspace/a.txt', content: 'x' }, '/workspace/src/app.ts'],
    mastra: ['mastra_workspace_write_file', { path: 'a.txt', content: 'x' }, 'src/app.ts'],
    'mcp-filesystem': ['write_file', { path: '/workspace/a.txt', content: 'x' }, '/workspace/src/app.ts'],
    'python-harness': ['write_file', { path: 'a.txt', content: 'x' }, 'src/app.ts'],
  }
  const finding = { path: 'src/app.ts', line: 7, message: 'found' }
  const openIn = (name: string, check: Checks[number], roots?: object, shell?: WorkspaceOptions['shell']) =>
    createWorkspace({
      ...{ backend: memory(files), policy: 'autonomous', checks: [check], ...(shell && { shell }) },
      dialect: (dialects[name] as (roots?: object) => Dialect)(roots),
    })

  it.each(Object.entries(changes))('has the findings in %s, with paths as it spells them', async (name, change) => {
    const [tool, input, spelled] = change
    const result = await (await openIn(name, spy([finding]).check)).call(tool, input)
    for (const form of [result.output, result.content]) {
      expect(JSON.stringify(form).replaceAll('\\\\', '\\')).toContain(`Check spy: 1 finding\\n- ${spelled}:7: found`)
    }
  })

  it('has the findings in every changing call of the other dialects, and in no other call', async () => {
    const found = new Set<string>()
    for (const { name, fixture } of fixtures()) {
      const { check, calls } = spy([finding])
      const workspace = await openIn(fixture.dialect, check, fixture.roots, fixture.shell && bash())
      for (const { tool, input } of fixture.calls) {
        const before = calls.length
        const { isError, output, content } = await workspace.call(tool, input)
        if (isError) continue
        for (const form of [output, content]) {
          const isShown = JSON.stringify(form).includes('Check spy: 1 finding')
          expect(isShown, `${name} ${tool}`).toBe(calls.length > before)
        }
        if (calls.length > before) found.add(fixture.dialect)
      }
      await workspace.close()
    }
    expect([...found, ...Object.keys(changes)].sort()).toEqual(Object.keys(dialects).sort())
  })

  it('reaches the client of an MCP server', async () => {
    const workspace = await open([json()])
    const { client } = await connect(workspace)
    await client.listTools()
    const result = await client.callTool({ name: 'write_file', arguments: { path: 'bad.json', content: '{' } })
    expect(result.content).toEqual([
      { type: 'text', text: expect.stringContaining('\n- bad.json:1:2: Unexpected end of the text') },
    ])
    expect(result.structuredContent).toMatchObject({
      checks: [{ name: 'json', findings: [{ path: 'bad.json', line: 1 }] }],
    })
    await client.close()
  })
})

describe('checks by a command line', () => {
  const commands = { preset: 'autonomous', tools: { run_command: 'allow' } } as const

  it('reports the output of a command that fails, runs it at the root and drops its changes', async () => {
    const workspace = await open(
      [
        { name: 'lint', files: 'src/*', command: 'cat {files}; echo x > made.txt; pwd; exit 3' },
        { name: 'fine', command: 'true' },
      ],
      { policy: commands, shell: bash(), keepCwd: true },
    )
    await workspace.call('run_command', { command: 'cd src' })
    const result = await workspace.call('write_file', write("src/it's new.ts", 'export {}\n'))
    expect(result).toMatchObject({
      ok: true,
      checks: [
        { name: 'lint', findings: [{ message: 'ended with exit code 3\nexport {}\n/workspace' }] },
        { name: 'fine', findings: [] },
      ],
    })
    expect(await workspace.call('read_file', { path: 'made.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await workspace.call('run_command', { command: 'basename "$PWD"' })).toMatchObject({ stdout: 'src\n' })
    const records = workspace.auditRecords().filter(({ via }) => via === 'checks.lint')
    expect(records.map(({ phase, toolName, pathsWritten }) => [phase, toolName, pathsWritten])).toEqual([
      ['intent', 'run_command', []],
      ['outcome', 'run_command', []],
    ])
    await workspace.close()
  })

  it('does not run a command that policy denies or asks about, and asks nobody', async () => {
    const asked: string[] = []
    const approve = async ({ tool }: { readonly tool: string }) => {
      asked.push(tool)
      return 'allow' as const
    }
    const checks = [
      { name: 'denied', command: 'sudo ls' },
      { name: 'asked', command: 'ls' },
    ]
    const policy = { preset: 'autonomous', tools: { run_command: 'ask' } } as const
    const workspace = await open(checks, { policy, shell: bash(), approve })
    const result = await workspace.call('write_file', write('a.txt', 'x'))
    expect(result).toMatchObject({
      ok: true,
      checks: [
        { name: 'denied', problem: expect.stringMatching(/^was not run: /) },
        { name: 'asked', problem: 'was not run: it needs an approval, and a check asks for none' },
      ],
    })
    expect(asked).toEqual([])
    await workspace.close()
  })

  it('cannot open a protected file, and ends in time', async () => {
    const workspace = await open(
      [
        { name: 'secret', command: 'cat .env' },
        { name: 'slow', command: 'sleep 60', timeoutMs: 300 },
      ],
      { policy: commands, shell: bash() },
    )
    const result = await workspace.call('write_file', write('a.txt', 'x'))
    expect(JSON.stringify(result)).not.toContain('hunter2')
    expect(result).toMatchObject({
      ok: true,
      checks: [{ name: 'secret' }, { name: 'slow', problem: 'did not end within 300 ms' }],
    })
    await workspace.close()
  })
})

describe('the option checks', () => {
  const check = () => []

  it.each<[string, unknown, string]>([
    [
      'an unknown field',
      [{ name: 'a', check, pattern: '*' }],
      'Option "checks[0].pattern" of createWorkspace() is unknown',
    ],
    ['no name', [{ check }], 'Option "checks[0].name" of createWorkspace() must be a string, not undefined'],
    [
      'a wrong name',
      [{ name: 'a b', check }],
      'Option "checks[0].name" of createWorkspace() must have 1 to 64 of the characters A-Z a-z 0-9 . _ -',
    ],
    [
      'two of one name',
      [json(), json()],
      'Option "checks[1].name" of createWorkspace() is the name of an earlier check: "json"',
    ],
    [
      'neither form',
      [{ name: 'a' }],
      'Option "checks[0]" of createWorkspace() must have either a function "check" or a command line "command"',
    ],
    ['both forms', [{ name: 'a', check, command: 'ls' }], 'Option "checks[0]" of createWorkspace() must have either'],
    ['an empty command', [{ name: 'a', command: ' ' }], 'Option "checks[0].command" of createWorkspace() is empty'],
    [
      'an absolute pattern',
      [{ name: 'a', check, files: '/src/**' }],
      'Option "checks[0].files" of createWorkspace() is a glob that matches nothing: in "/src/**", it is absolute',
    ],
    [
      'an open bracket',
      [{ name: 'a', check, files: ['src/{a'] }],
      'Option "checks[0].files" of createWorkspace() is not a valid glob',
    ],
    ['no pattern', [{ name: 'a', check, files: [] }], 'Option "checks[0].files" of createWorkspace() is an empty list'],
    [
      'a wrong time',
      [{ name: 'a', check, timeoutMs: 0 }],
      'Option "checks[0].timeoutMs" of createWorkspace() must be a positive safe integer, not 0',
    ],
    ['a name alone', ['json'], 'Option "checks[0]" of createWorkspace() must be an object, not a string'],
    ['no list', json(), 'Option "checks" of createWorkspace() must be a list, not an object'],
  ])('is refused with %s', async (_, checks, message) => {
    await expect(open(checks as never)).rejects.toThrow(message)
  })
})
