import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { deepagents } from '../../src/dialects/deepagents/index.ts'
import { gemini } from '../../src/dialects/gemini/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mastra } from '../../src/dialects/mastra/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { namedRoots } from '../../src/dialects/named-roots/index.ts'
import { patchAndDiff } from '../../src/dialects/patch-and-diff/index.ts'
import { pythonHarness } from '../../src/dialects/python-harness/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { quote } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'

const files = { 'a.py': 'x\n', 'd/b.txt': 'x\n', 'src/c.ts': 'x\n' }

const open = (dialect: ReturnType<typeof mastra>) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', shell: bash(), dialect })

describe('a glob in a dialect', () => {
  const fields = [
    [pythonHarness(), 'find_files', (glob: string) => ({ pattern: glob })],
    [pythonHarness(), 'search_files', (glob: string) => ({ pattern: 'x', include_glob: glob })],
    [snakeCase(), 'search_files', (glob: string) => ({ pattern: glob })],
    [snakeCase(), 'search_files', (glob: string) => ({ query: 'x', include_glob: glob })],
    [deepagents(), 'grep', (glob: string) => ({ pattern: 'x', path: '/', glob })],
    [gemini(), 'grep_search', (glob: string) => ({ pattern: 'x', include_pattern: glob })],
    [mastra(), 'mastra_workspace_list_files', (glob: string) => ({ pattern: glob })],
  ] as const
  const invalid = [
    '!*.py',
    '!d/*.py',
    '[a',
    '{a',
    '*.@(py|ts)',
    '~/x',
    '~/*.py',
    '$HOME/x',
    ['$', '{HOME}/*'].join(''),
    'a\\b',
  ]

  it.each(fields.map((field) => [field[0].name, ...field] as const))(
    'is refused as the caller wrote it: %s',
    async (_, dialect, tool, input) => {
      const workspace = await open(dialect)
      for (const glob of [...invalid, '', ' ']) {
        const { failure } = await workspace.call(tool, input(glob))
        expect([glob, failure?.code]).toEqual([glob, expect.stringMatching(/^INVALID_(PATTERN|INPUT)$/)])
        expect(failure?.message).not.toContain('**/')
        if (glob.trim() !== '') expect(failure?.message).toContain(`glob ${quote(glob)}`)
      }
    },
  )
})

describe.each(Object.entries(dialects))('a tool of %s', (name, create) => {
  const others = [null, undefined, 5, 'x', [], '{"path":"src"}', new Map([['path', 'src']]), new Date()]

  it('refuses an input that is not a plain object', async () => {
    const dialect = create()
    const workspace = await open(dialect)
    const listed = new Set(workspace.tools.map((tool) => tool.name))
    for (const tool of dialect.tools.filter(({ name }) => listed.has(name))) {
      for (const input of [...others, Object.create({ path: 'src' })]) {
        // The patch tool of codex also takes a patch as text.
        if (name === 'codex' && tool.name === 'apply_patch' && typeof input === 'string') continue
        const { failure } = await workspace.call(tool.name, input)
        expect([tool.name, input, failure?.code]).toEqual([tool.name, input, 'INVALID_INPUT'])
      }
    }
  })
})

describe('a number in a dialect', () => {
  const notNumbers = [[], [3], {}, true, false, '', ' ', '0x2', '1e3', '٣', 1.5]
  const fields = [
    [deepagents(), 'read_file', { file_path: '/a.py' }, ['offset', 'limit']],
    [deepagents(), 'grep', { pattern: 'x' }, ['max_count', 'maxMatches', 'timeoutMs']],
    [mastra(), 'mastra_workspace_execute_command', { command: 'ls' }, ['timeout', 'tail']],
    [mastra(), 'mastra_workspace_read_file', { path: 'a.py' }, ['offset', 'limit', 'startColumn']],
    [pythonHarness(), 'read_file', { path: 'a.py' }, ['offset', 'limit']],
  ] as const

  it.each(fields.map((field) => [field[0].name, ...field] as const))(
    'is a number or decimal text: %s %j',
    async (_, dialect, tool, input, names) => {
      const workspace = await open(dialect)
      for (const name of names) {
        for (const value of name === 'timeout' ? notNumbers.slice(0, -1) : notNumbers) {
          const { failure } = await workspace.call(tool, { ...input, [name]: value })
          expect([name, value, failure?.code]).toEqual([name, value, 'INVALID_INPUT'])
        }
      }
    },
  )

  it.each([{ offset: -5 }, { offset: null }, { limit: null }, { limit: 0 }])('is in its range: %j', async (fields) => {
    const { failure } = await (await open(deepagents())).call('read_file', { file_path: '/a.py', ...fields })
    expect(failure?.code).toBe('INVALID_INPUT')
  })
})

describe('a number over a limit', () => {
  const calls = [
    [deepagents(), 'glob', { pattern: '**/*.ts', maxResults: 1e9 }, 'maxResults 1000000000'],
    [deepagents(), 'grep', { pattern: 'x', max_count: 1e9 }, 'max_count 1000000000'],
    [deepagents(), 'grep', { pattern: 'x', maxFileBytes: 1e9 }, 'maxFileBytes 1000000000'],
    [deepagents(), 'execute', { command: 'ls', timeoutMs: 1e9 }, 'timeoutMs 1000000000'],
    [gemini(), 'grep_search', { pattern: 'x', context: 50 }, 'context 50'],
    [gemini(), 'run_shell_command', { command: 'ls', timeout_ms: 1e9 }, 'timeout_ms 1000000000'],
    [mastra(), 'mastra_workspace_execute_command', { command: 'ls', timeout: '5000' }, 'timeout 5000'],
    [mastra(), 'mastra_workspace_grep', { pattern: 'x', contextLines: 50 }, 'contextLines 50'],
    [mastra(), 'mastra_workspace_list_files', { maxDepth: 99 }, 'maxDepth 99'],
    [pythonHarness(), 'find_files', { pattern: '*', max_results: 1e9 }, 'max_results 1000000000'],
    [pythonHarness(), 'search_files', { pattern: 'x', max_results: 1e9 }, 'max_results 1000000000'],
    [pythonHarness(), 'run_command', { command: 'ls', timeout: 5000 }, 'timeout 5000'],
    [snakeCase(), 'search_files', { pattern: '*.py', max_results: 1e9 }, 'max_results 1000000000'],
    [snakeCase(), 'list_directory', { max_depth: 99 }, 'max_depth 99'],
    [snakeCase(), 'run_command', { command: 'ls', timeout_seconds: 5000 }, 'timeout_seconds 5000'],
  ] as const

  it.each(calls.map((one) => [one[0].name, ...one] as const))(
    'is reduced, and the answer says so: %s %j',
    async (_, dialect, tool, input, field) => {
      const { output, failure } = await (await open(dialect)).call(tool, input)
      expect(failure).toBeUndefined()
      expect(JSON.stringify(output)).toMatch(new RegExp(`${field} was reduced to the limit of \\d`))
    },
  )

  it.each([
    [mastra(), 'mastra_workspace_list_files', {}],
    [deepagents(), 'ls', {}],
    [pythonHarness(), 'run_command', { command: 'ls' }],
  ] as const)('is not mentioned if the tool chose it: %j', async (dialect, tool, input) => {
    const limits = { listEntriesHard: 1, listDepthHard: 1, commandTimeoutMsHard: 20_000 }
    const workspace = await createWorkspace({
      ...{ backend: memory(files), policy: 'autonomous', shell: bash(), dialect, limits },
    })
    expect(JSON.stringify((await workspace.call(tool, input)).output)).not.toContain('reduced')
  })
})

describe('an expected version of a file that does not exist', () => {
  const expectedSha256 = '0'.repeat(64)
  it.each([
    [patchAndDiff(), 'write_file', { path: 'n', content: 'x', expectedSha256 }],
    [mcpFilesystem(), 'write_file', { path: '/workspace/n', content: 'x', expectedSha256 }],
    [snakeCase(), 'write_file', { path: 'n', content: 'x', expected_sha256: expectedSha256 }],
    [pythonHarness(), 'write_file', { path: 'n', content: 'x', expected_hash: expectedSha256 }],
    [namedRoots(), 'append_file', { path: '/workspace/n', content: 'x', expectedSha256 }],
    [deepagents(), 'write_file', { file_path: '/n', content: 'x', expectedSha256 }],
  ] as const)('has a hint that can be followed: %j', async (dialect, tool, input) => {
    const { output } = await (await open(dialect)).call(tool, input)
    expect(JSON.stringify(output)).toContain('leave out the expected version to create the file')
  })
})

describe('a recursive listing', () => {
  it.each([
    [namedRoots(), { path: '/workspace', recursive: true }],
    [pythonHarness(), { recursive: true }],
  ] as const)('says where the limit of its depth ends it: %j', async (dialect, input) => {
    const answer = async (listDepthHard: number) => {
      const workspace = await createWorkspace({
        ...{ backend: memory(files), policy: 'autonomous', dialect, limits: { listDepthHard } },
      })
      return JSON.stringify((await workspace.call('list_directory', input)).output)
    }
    expect(await answer(1)).toContain('Directories below level 1 are not listed')
    expect(await answer(2)).not.toContain('level')
  })
})

describe('a glob that a tool of a dialect matches itself', () => {
  it.each([
    [mcpFilesystem(), 'search_files', { path: '/workspace', pattern: '*.ts ' }],
    [mcpFilesystem(), 'search_files', { path: '/workspace', pattern: '*', excludePatterns: ['x '] }],
    [mcpFilesystem(), 'directory_tree', { path: '/workspace', excludePatterns: ['*.ts '] }],
    [gemini(), 'list_directory', { dir_path: '.', ignore: ['*.ts '] }],
    [mastra(), 'mastra_workspace_list_files', { pattern: '*.ts ' }],
    [mastra(), 'mastra_workspace_list_files', { exclude: 'src ' }],
  ] as const)('is explained if it does not match what it seems to: %j', async (dialect, tool, input) => {
    const { output } = await (await open(dialect)).call(tool, input)
    expect(JSON.stringify(output)).toContain('a space at an end is a part of it')
  })
})

describe('gemini', () => {
  it.each([
    { old_string: '', expected_replacements: 3 },
    { old_string: '', allow_multiple: true },
    { old_string: 'x', allow_multiple: true, expected_replacements: 3 },
  ])('replaces as often as the call expects, or nothing: %j', async (fields) => {
    const input = { file_path: fields.old_string === '' ? 'n.txt' : 'a.py', new_string: 'y', ...fields }
    const { failure } = await (await open(gemini())).call('replace', input)
    expect(failure?.code).toMatch(/^INVALID_INPUT|EDIT_AMBIGUOUS$/)
  })

  it('says that context has no effect on names of files', async () => {
    const input = { pattern: 'x', names_only: true, context: 2 }
    const { output } = await (await open(gemini())).call('grep_search', input)
    expect(output).toContain('"context" has no effect with "names_only"')
  })
})

describe('two names of one field', () => {
  it.each([
    [patchAndDiff(), 'search_text', { query: 'x', regex: true, mode: 'literal' }],
    [patchAndDiff(), 'search_text', { query: 'x', max_results: 2, maxMatches: 1 }],
    [patchAndDiff(), 'search_text', { query: 'x', glob: '*.ts', includeGlob: '*.py' }],
    [patchAndDiff(), 'list_dir', { depth: 1, maxDepth: 2 }],
    [patchAndDiff(), 'read_file', { path: 'a.py', end_line: 2, maxLines: 1 }],
    [patchAndDiff(), 'read_file', { path: 'a.py', max_lines: 2, maxLines: 1 }],
    [deepagents(), 'read_file', { path: '/a.py', file_path: '/a.py' }],
    [gemini(), 'read_file', { file_path: 'a.py', offset: 1, start_line: 1 }],
    [gemini(), 'read_file', { file_path: 'a.py', limit: 1, end_line: 1 }],
    [gemini(), 'list_directory', { path: '.', dir_path: '.' }],
    [pythonHarness(), 'run_command', { command: 'ls', timeout: 1, timeout_seconds: 2 }],
    [pythonHarness(), 'search_files', { pattern: 'x', file_pattern: '*', include_glob: '*' }],
  ] as const)('are refused: %j', async (dialect, tool, input) => {
    const { failure } = await (await open(dialect)).call(tool, input)
    expect(failure).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('give one of them') })
  })
})

describe('deepagents', () => {
  const large = { ...files, 'large.txt': `needle\n${'x'.repeat(99)}\n`.repeat(50_000) }
  const answer = async (tool: string, input: object) => {
    const dialect = deepagents()
    const workspace = await createWorkspace({ backend: memory(large), policy: 'autonomous', dialect })
    return (await workspace.call(tool, input)).output
  }

  it('says that grep has left out a large file', async () => {
    expect(await answer('grep', { pattern: 'needle', path: '/large.txt' })).toMatch(
      /No matches found.*\n\(.*large\.txt/,
    )
    expect(await answer('grep', { pattern: 'needle', path: '/' })).toContain('large.txt')
  })

  it.each([
    ['glob', { pattern: '/src/*.ts', path: '/d' }, /"\/src\/\*\.ts" is not below "\/d"/],
    ['glob', { pattern: '/src/*.ts', path: '/src' }, /^\/src\/c\.ts$/],
    ['glob', { pattern: '/**/*.ts', path: '/src' }, /^\/src\/c\.ts$/],
    ['glob', { pattern: '/src/*.ts' }, /^\/src\/c\.ts$/],
    ['grep', { pattern: 'x', glob: '/src/*.ts', path: '/d' }, /is not below "\/d"/],
    ['grep', { pattern: 'x', glob: '/src/*.ts', path: '/src/' }, /c\.ts/],
  ] as const)('takes an absolute glob as a path from the root: %s %j', async (tool, input, expected) => {
    expect(await answer(tool, input)).toMatch(expected)
  })

  it('applies the glob of grep to a single file', async () => {
    expect(await answer('grep', { pattern: 'x', path: '/src/c.ts', glob: '*.ts' })).toContain('1: x')
    expect(await answer('grep', { pattern: 'x', path: '/src/c.ts', glob: '*.py' })).toContain('No file was searched')
  })
})

describe('the directory_tree of mcp-filesystem', () => {
  it.each([{ input: { maxDepth: 1 } }, { input: {}, limits: { listDepthHard: 1 } }])(
    'has no children where its depth ends: %j',
    async ({ input, limits = {} }) => {
      const dialect = mcpFilesystem()
      const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous', dialect, limits })
      const { output } = await workspace.call('directory_tree', { path: '.', ...input })
      const text = typeof output === 'string' ? output : JSON.stringify(output)
      expect(text).not.toContain('children')
      expect(text).toContain('src')
    },
  )
})

describe('mastra refuses a value without effect:', () => {
  it.each([
    ['list_files', { exclude: '' }],
    ['list_files', { exclude: 'src/**' }],
    ['list_files', { exclude: '**' }],
    ['list_files', { exclude: '*.py' }],
    ['list_files', { extension: '*.py' }],
    ['list_files', { extension: '' }],
    ['list_files', { extension: 'src/a.ts' }],
    ['list_files', { pattern: [] }],
    ['list_files', { dirsOnly: true, extension: '.ts' }],
    ['list_files', { dirsOnly: true, pattern: '*.ts' }],
    ['execute_command', { command: 'ls', background: true, tail: 5 }],
  ])('%s %j', async (tool, input) => {
    const { failure } = await (await open(mastra())).call(`mastra_workspace_${tool}`, input)
    expect(failure).toMatchObject({ code: 'INVALID_INPUT', field: Object.keys(input).at(-1) })
  })

  it.each([
    ['list_files', { exclude: 'src' }],
    ['list_files', { extension: '.ts' }],
    ['list_files', { pattern: ['*.py'] }],
    ['execute_command', { command: 'ls', background: true, tail: 0 }],
    ['execute_command', { command: 'ls', background: true, tail: null }],
  ])('but not %s %j', async (tool, input) => {
    expect(await (await open(mastra())).call(`mastra_workspace_${tool}`, input)).not.toHaveProperty('failure')
  })
})
