import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toJsonSchema } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { pythonHarness } from '../../src/dialects/python-harness/index.ts'
import { createWorkspace, type DialectRun, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

const files: Readonly<Record<string, string>> = {
  'app.py': 'import os\n\nprint(os.name)\n',
  'secrets.yaml': 'a: 1\n',
  'config/secret.txt': 'hidden\n',
  'src/a.py': 'x = 1\n',
  'src/b.txt': 'x = 1\n',
  '.hidden': 'x = 1\n',
  'subdir/x.txt': 'x\n',
}

async function open(options: Partial<WorkspaceOptions> = {}) {
  const defaults = { backend: memory({ ...files }), policy: 'autonomous' as const, shell: bash(), keepCwd: true }
  return createWorkspace({ ...defaults, ...options, dialect: pythonHarness() })
}

/** Makes a call, and returns the output of the tool, or the error that the agent can correct. */
async function answer(run: Pick<DialectRun, 'call'>, tool: string, input: object): Promise<string> {
  const { success, output, error } = (await run.call(tool, input)).output as Record<string, unknown>
  return success === true ? String(output) : `ERROR ${error}`
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

describe('the file tools', () => {
  it('read with line numbers, after a header with the hash', async () => {
    const workspace = await open()
    expect(await answer(workspace, 'read_file', { path: 'app.py' })).toBe(
      `[app.py | 3 lines | hash:${hash(files['app.py'] as string)}]\n     1\timport os\n     2\t\n     3\tprint(os.name)\n`,
    )
    expect(await answer(workspace, 'read_file', { path: 'app.py', offset: 1, limit: 1 })).toContain(
      '     2\t\n... (1 more lines. Use offset=2 to continue reading.)\n',
    )
    expect(await answer(workspace, 'read_file', { path: 'app.py', offset: 0, limit: null })).toContain('     1\timport')
    await workspace.own.call('write_file', { path: 'empty.py', content: '' })
    expect(await answer(workspace, 'read_file', { path: 'empty.py' })).toContain('(empty file)')
  })

  it('change a file only in the version of expected_hash', async () => {
    const workspace = await open()
    await answer(workspace, 'read_file', { path: 'app.py' })
    const expected_hash = hash(files['app.py'] as string)
    const stale = { path: 'app.py', content: 'x\n', expected_hash: hash('other') }
    expect(await answer(workspace, 'write_file', stale)).toMatch(/^ERROR WRITE_CONFLICT/)
    const edit = { path: 'app.py', old_text: 'import os', new_text: 'import sys' }
    expect(await answer(workspace, 'edit_file', { ...edit, expected_hash: hash('other') })).toMatch(
      /^ERROR WRITE_CONFLICT/,
    )
    const edited = await answer(workspace, 'edit_file', { ...edit, expected_hash })
    const text = (files['app.py'] as string).replace('import os', 'import sys')
    expect(edited).toContain(`[hash:${hash(text)}]`)
    // The hash of a result is the next version to expect.
    const next = await answer(workspace, 'write_file', { path: 'app.py', content: 'new\n', expected_hash: hash(text) })
    expect(next).toContain(`[hash:${hash('new\n')}]`)
    const whole = createHash('sha256').update('new\n').digest('hex')
    expect(await answer(workspace, 'write_file', { path: 'app.py', content: 'n\n', expected_hash: whole })).toContain(
      '[hash:',
    )
    const missing = { path: 'none.py', content: 'x', expected_hash: hash('other') }
    expect(await answer(workspace, 'write_file', missing)).toMatch(/^ERROR WRITE_CONFLICT/)
    const bad = { path: 'app.py', content: 'x', expected_hash: 'abc' }
    expect(await answer(workspace, 'write_file', bad)).toMatch(/^ERROR INVALID_INPUT.*expected_hash/)
  })

  it('return errors that the agent can correct', async () => {
    const workspace = await open()
    const errors: readonly (readonly [string, object, RegExp])[] = [
      ['read_file', { path: 'none.py' }, /NOT_FOUND/],
      ['read_file', { path: '../../etc/passwd' }, /PATH_REJECTED/],
      ['read_file', { path: 'src' }, /IS_DIRECTORY/],
      ['read_file', { path: 'app.py', offset: 99 }, /INVALID_INPUT/],
      ['write_file', { path: 'app.py', content: 'blind' }, /WRITE_CONFLICT/],
      ['edit_file', { path: 'app.py', old_text: 'absent', new_text: '' }, /EDIT_NO_MATCH/],
      ['edit_file', { path: 'app.py', old_text: 'o', new_text: '0' }, /EDIT_AMBIGUOUS/],
      ['search_files', { pattern: '(' }, /INVALID_PATTERN/],
      ['run_command', { command: 'sudo ls' }, /COMMAND_DENIED/],
      ['write_file', { path: 'app.py', content: 'x', expected_sha: 'x' }, /INVALID_INPUT.*did you mean "expected/],
    ]
    for (const [tool, input, error] of errors) expect(await answer(workspace, tool, input), tool).toMatch(error)
  })

  it('agree on the existing files', async () => {
    const workspace = await open()
    const listed = await answer(workspace, 'list_directory', { recursive: true })
    const matches = await answer(workspace, 'find_files', { pattern: '*' })
    const searched = await answer(workspace, 'search_files', { pattern: '.' })
    const names = listed.split('\n').flatMap((line) => (line.endsWith('/') ? [] : [line.replace(/ {2}.*/, '')]))
    expect(matches.split('\n').sort()).toEqual(names.sort())
    expect(names).not.toContain('.hidden')
    expect(listed).toContain('app.py  (26 bytes)')
    // The secret file is listed, but its content and size are not shown.
    expect([...new Set(searched.split('\n').map((line) => line.split(':')[0]))]).toEqual(
      names.filter((name) => name !== 'secrets.yaml').sort(),
    )
    expect(await answer(workspace, 'search_files', { pattern: 'x = \\d', include_glob: '*.py' })).toBe(
      'src/a.py:1: x = 1',
    )
    const info = JSON.parse(await answer(workspace, 'file_info', { path: 'app.py' }))
    expect(info).toMatchObject({ type: 'file', size_bytes: 26, total_lines: 3, hash: hash(files['app.py'] as string) })
    expect(await answer(workspace, 'create_directory', { path: 'a/b' })).toBe('Created a/b')
  })

  it('apply allow, deny and protect patterns to the canonical path, in every tool', async () => {
    const allowed = await open({ policy: { preset: 'autonomous', allowedPaths: ['src/*.py'] } })
    expect(await answer(allowed, 'list_directory', { path: '.', recursive: true })).toBe('src/\nsrc/a.py  (6 bytes)')
    expect(await answer(allowed, 'search_files', { pattern: 'x' })).toBe('src/a.py:1: x = 1')
    expect(await answer(allowed, 'find_files', { pattern: '*' })).toBe('src/a.py')
    const denied = await open({ policy: { preset: 'autonomous', deniedPaths: ['config/secret.txt', '**/secrets*'] } })
    for (const path of ['config/./secret.txt', 'config//secret.txt', 'src/../config/secret.txt', 'secrets.yaml']) {
      expect(await answer(denied, 'read_file', { path }), path).toMatch(/POLICY_DENIED/)
    }
    expect(await answer(denied, 'search_files', { pattern: 'hidden' })).toBe('No matches')
    const frozen = await open({ policy: { preset: 'autonomous', readOnlyPaths: ['app.py'] } })
    await answer(frozen, 'read_file', { path: 'app.py' })
    expect(await answer(frozen, 'write_file', { path: 'app.py', content: '' })).toMatch(/READ_ONLY/)
  })

  it('show the values of their defaults', async () => {
    const workspace = await open()
    const defaults = Object.fromEntries(
      toJsonSchema(workspace.tools).map(({ name, inputSchema }) => [
        name,
        Object.entries(inputSchema.properties as Record<string, { default?: unknown }>).flatMap(
          ([field, { default: value }]) => (typeof value === 'number' ? [`${field}=${value}`] : []),
        ),
      ]),
    )
    expect(defaults).toMatchObject({
      read_file: ['offset=0', 'limit=2000'],
      search_files: ['max_results=100'],
      find_files: ['max_results=200'],
      run_command: ['timeout_seconds=30'],
    })
  })

  it('require limits that are positive integers, not booleans', async () => {
    for (const readLines of [0, -1, 1.5, true]) {
      await expect(open({ limits: { readLines: readLines as number } })).rejects.toThrow(TypeError)
    }
  })
})

describe('the shell tools', () => {
  it('keep the directory of cd, also with ";", and ignore directories in the output', async () => {
    const workspace = await open()
    await answer(workspace, 'run_command', { command: 'cd subdir ; true' })
    expect(await answer(workspace, 'run_command', { command: 'pwd' })).toContain('subdir')
    await answer(workspace, 'run_command', { command: 'true ; echo __HARNESS_PWD__/workspace' })
    expect(await answer(workspace, 'run_command', { command: 'pwd' })).toContain('subdir')
    // Another run has its own directory.
    expect(await answer(workspace.run(), 'run_command', { command: 'pwd' })).not.toContain('subdir')
  })

  it('keep the end of a long output, and the exit code', async () => {
    const workspace = await open()
    const long = await answer(workspace, 'run_command', { command: 'seq 1 100000; echo failed >&2; exit 3' })
    expect(long).toMatch(/^ERROR Exit code 3/)
    const { output } = (await workspace.call('run_command', { command: 'seq 1 100000; echo failed >&2' })).output as {
      output: string
    }
    expect(output).toContain('100000\n')
    expect(output).toContain('failed')
    expect(output).not.toContain('\n1\n2\n3\n')
  })

  it('end a command after timeout_seconds', async () => {
    const workspace = await open()
    expect(await answer(workspace, 'run_command', { command: 'sleep 5', timeout_seconds: 0.2 })).toMatch(
      /COMMAND_TIMEOUT/,
    )
  })

  it('deny operators and commands by structure', async () => {
    const commands = { deniedOperators: ['>', '>>', '|'], deny: ['curl'] }
    const workspace = await open({ policy: { preset: 'autonomous', commands } })
    for (const command of ['echo x > a', 'echo x >> a', 'ls | cat', 'curl x', 'env curl x']) {
      expect(await answer(workspace, 'run_command', { command }), command).toMatch(/COMMAND_DENIED/)
    }
    expect(await answer(workspace, 'run_command', { command: 'echo "a > b | curl"' })).toBe('a > b | curl\n')
  })

  it('start, check and stop commands in the background, which end with the run', async () => {
    const workspace = await open()
    const command_id = await answer(workspace, 'start_command', { command: 'echo begun; sleep 30' })
    expect(await answer(workspace, 'check_command', { command_id })).toMatch(/^\[running\]/)
    expect(await answer(workspace.run(), 'check_command', { command_id })).toMatch(/^ERROR NOT_FOUND/)
    expect(await answer(workspace, 'stop_command', { command_id })).toMatch(/^\[ended/)
    await workspace.close()
  })
})
