import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { deepagents } from '../../src/dialects/deepagents/index.ts'
import { gemini } from '../../src/dialects/gemini/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mastra } from '../../src/dialects/mastra/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
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
