import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toJsonSchema } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { createWorkspace, type Path } from '../../src/index.ts'
import { cases } from './mcp-filesystem-cases.ts'
import { compareCase } from './mcp-filesystem-compare.ts'
import type { Recorded } from './reference-server.ts'

const recorded: Recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/mcp-filesystem.json'), 'utf8'))

const open = (files: Readonly<Record<string, string>>, more: object = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', dialect: mcpFilesystem(), ...more })

describe('the tools of the MCP reference filesystem server', () => {
  it('have the same names, schemas and annotations', async () => {
    const { tools } = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: mcpFilesystem() })
    const schemas = new Map(toJsonSchema(tools).map((tool) => [tool.name, tool]))
    const ours = tools.map(({ name, title, annotations }) => {
      const { inputSchema, outputSchema } = schemas.get(name) ?? {}
      return { name, title, annotations, inputSchema, outputSchema }
    })
    const theirs = recorded.tools.map(({ name, title, annotations, inputSchema, outputSchema }) => {
      return { name, title, annotations, inputSchema, outputSchema }
    })
    const byName = (a: { name: unknown }, b: { name: unknown }) => (String(a.name) < String(b.name) ? -1 : 1)
    expect(plainSchemas(ours).sort(byName)).toEqual(plainSchemas(theirs).sort(byName))
  })

  it('does not count lines as seen that were only counted', async () => {
    const workspace = await open({ 'a.txt': 'a\nb\nc\n' })
    expect((await workspace.call('read_text_file', { path: 'a.txt', tail: 3 })).output).toBe('b\nc\n')
    const blind = await workspace.call('write_file', { path: 'a.txt', content: 'x' })
    expect(blind.failure?.code).toBe('WRITE_CONFLICT')
    await workspace.call('read_text_file', { path: 'a.txt', head: 1 })
    expect(await workspace.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ isError: false })
  })

  it('reads the end of a file that is too large to load', async () => {
    const workspace = await open({ 'a.txt': 'line\n'.repeat(300) }, { limits: { textFileBytes: 1000 } })
    expect((await workspace.call('read_text_file', { path: 'a.txt', tail: 3 })).output).toBe('line\nline\n')
  })

  it('reads only as many files together as fit into an answer', async () => {
    const half = 'x'.repeat(65_535)
    const workspace = await open({ a: half, b: `${half}\n`, c: half, d: 'small\n' })
    const { output } = await workspace.call('read_multiple_files', { paths: ['a', 'b', 'c', 'd'] })
    expect(String(output)).toHaveLength(
      65_535 * 3 +
        'a:\n\n\n---\nb:\n\n\n\n---\nc:\n\n\n---\n'.length +
        'd: Error - the answer is full; read it by itself'.length,
    )
    expect(output).toContain('d: Error - the answer is full; read it by itself')
    for (const [path, code] of Object.entries({ b: undefined, d: 'WRITE_CONFLICT' })) {
      const result = await workspace.call('write_file', { path, content: 'x' })
      expect(result.failure?.code).toBe(code)
    }
  })

  it('does not count a file as seen that was read and then too large to be shown with the others', async () => {
    const workspace = await open({ large: `${'x'.repeat(60)}\n`.repeat(1500), a: 'A' })
    const { output } = await workspace.call('read_multiple_files', { paths: ['large', 'a'] })
    expect(output).toContain('large: Error - FILE_TOO_LARGE')
    expect((await workspace.call('write_file', { path: 'large', content: 'x' })).failure?.code).toBe('WRITE_CONFLICT')
    expect((await workspace.call('write_file', { path: 'a', content: 'x' })).isError).toBe(false)
  })

  it('shows large trees up to their limit', async () => {
    const wide = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`wide/${i}.txt`, 'x']))
    const deep = 'd/'.repeat(20)
    const workspace = await open({ ...wide, [`${deep}end.md`]: 'x', 'docs/a.md': 'x' })
    const refused = await workspace.call('directory_tree', { path: '/workspace' })
    expect(refused.output).toContain(
      'LIMIT_EXCEEDED: "/workspace/wide" contains 501 entries, more than one listing can return',
    )
    const tree = await workspace.call('directory_tree', { path: '/workspace', excludePatterns: ['wide'] })
    expect(JSON.parse(String(tree.output)).map(({ name }: { name: string }) => name)).toEqual(['d', 'docs'])
    expect(String(tree.output).match(/"name": "d"/g)).toHaveLength(20)
    expect(tree.output).toContain('"end.md"')
    await workspace.call('create_directory', { path: '/workspace/empty' })
    expect((await workspace.call('directory_tree', { path: '/workspace/empty' })).output).toBe('[]')
    const listed = await workspace.call('list_directory', { path: '/workspace/wide' })
    expect(listed.output).toMatch(/\n\(1 of 501 entries are not shown\)$/)
    const matches = await workspace.call('search_files', { path: '/workspace', pattern: '**/*.txt' })
    expect(matches.output).toMatch(/\n\(There are more: use a narrower pattern or path\.\)$/)
  })

  it('bounds a tree of many directories', async () => {
    const files = Array.from({ length: 5100 }, (_, i) => [`${i % 12}/${i}`, ''])
    const workspace = await open(Object.fromEntries(files))
    const { output } = await workspace.call('directory_tree', { path: '/workspace' })
    expect(output).toContain('contains over 5000 entries, more than one listing can return')
  })

  it('leaves out ignored files if there are too many matches with them', async () => {
    const many = Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`node_modules/${i}.md`, 'x']))
    const workspace = await open({ ...many, 'docs/a.md': 'x', 'docs/deep/b.md': 'x' })
    const { output } = await workspace.call('search_files', { path: '/workspace', pattern: '**/*.md' })
    expect(output).toBe(
      '/workspace/docs/a.md\n/workspace/docs/deep/b.md\n(Ignored files are left out: with them there are too many.)',
    )
  })

  it('follows links inside the root, and describes their targets', async () => {
    const backend = memory({ 'real/deep/a.md': 'A\n', 'real/b.txt': 'B\n' })
    const link = { path: 'lnk' as Path, expect: 'absent', to: { type: 'link', target: 'real' } } as const
    await backend.commit([link], { durability: 'durable' })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', dialect: mcpFilesystem() })
    const ask = async (tool: string, input: object) => (await workspace.call(tool, input)).output
    expect(await ask('search_files', { path: '/workspace/lnk', pattern: '**', excludePatterns: ['b*'] })).toBe(
      '/workspace/real/deep\n/workspace/real/deep/a.md',
    )
    expect(await ask('directory_tree', { path: '/workspace/lnk', excludePatterns: ['deep/a.md'] })).toBe(
      JSON.stringify(
        [
          { name: 'b.txt', type: 'file' },
          { name: 'deep', type: 'directory', children: [] },
        ],
        null,
        2,
      ),
    )
    expect(await ask('get_file_info', { path: '/workspace/lnk' })).toContain('isDirectory: true')
    expect(await ask('list_directory', { path: '/workspace' })).toBe('[FILE] lnk\n[DIR] real')
  })

  it('shows sizes in units, and refuses invalid line counts', async () => {
    const workspace = await open({ a: 'x'.repeat(2048), b: 'x'.repeat(5) })
    const { output } = await workspace.call('list_directory_with_sizes', { path: '/workspace', sortBy: 'size' })
    expect(output).toMatch(/2\.00 KB\n.* 5 B\n\nTotal: 2 files, 0 directories\nCombined size: 2\.00 KB$/)
    for (const head of [-1, 1.5]) {
      const refused = await workspace.call('read_text_file', { path: 'b', head })
      expect(refused.failure).toMatchObject({ code: 'INVALID_INPUT', field: 'head' })
    }
  })

  it('shows the nearest passage if an edit has no match', async () => {
    const workspace = await open({ 'a.ts': 'const answer = 41\n' })
    const edits = [{ oldText: 'const answer = 42', newText: '' }]
    expect((await workspace.call('edit_file', { path: 'a.ts', edits })).output).toContain('Nearest: {"line":1')
  })

  it.each(cases)('$name', async (one) => compareCase(one, recorded))
})

/** Removes keywords that differ between versions of JSON Schema without a difference in meaning. */
function plainSchemas<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (key, part) => {
    if (key === '$schema' || (key === 'additionalProperties' && part === false)) return undefined
    return part
  })
}
