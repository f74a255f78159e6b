import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { fileReadWrite } from '../../src/dialects/file-read-write/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { defineTool } from '../../src/tools/define-tool.ts'
import { builtinTools } from '../../src/tools/index.ts'

const open = (policy: object, more: object = {}) =>
  createWorkspace({ backend: memory(), policy: { preset: 'autonomous', ...policy } as PolicyInput, ...more })
const rule = (fields: object) => ({ rules: [{ name: 'x', action: 'deny', ...fields }] })

const ownTool = defineTool({
  name: 'count_words',
  title: 'Count words',
  description: 'Counts words.',
  input: z.strictObject({ language: z.string() }),
  output: z.object({}),
  permission: 'file:read',
  mutates: false,
  idempotent: true,
  plan: () => [],
  draft: async () => ({ summary: 'Counted', result: () => ({}) }),
})

describe('a policy that names an unknown tool or argument', () => {
  it.each([
    [rule({ tools: ['raed_file'] }), 'Unknown tool "raed_file" in rule "x"', 'did you mean "read_file"?'],
    [rule({ tools: ['read_file', 'Read_File'] }), 'Unknown tool "Read_File"', 'rules[0].tools[1]'],
    [rule({ tools: ['raed_*'] }), 'Unknown tool "raed_*"', 'rules[0].tools[0]'],
    [rule({ tools: [' read_file'] }), 'Unknown tool " read_file"', 'did you mean "read_file"?'],
    [rule({ tools: ['file_write'] }), 'Unknown tool "file_write"', 'did you mean "write_file"?'],
    [rule({ tools: ['raed_*'] }), 'did you mean "read_*"?'],
    [{ tools: { shell: 'deny' } }, 'did you mean "run_command"?'],
    [{ tools: { LS: 'deny' } }, 'did you mean "list_directory"?'],
    [{ tools: { file: 'allow' } }, 'Unknown tool "file" in tools', 'an object with "enabled" and "allowed_paths"'],
    [{ tools: { nonexistent: 'deny' } }, 'Unknown tool "nonexistent" in tools', 'the tools are list_directory'],
    [{ tools: { delete_fil: 'deny' } }, 'Unknown tool "delete_fil"', 'did you mean "delete_file"?'],
    [{ tools: { 'write_*': 'deny' } }, 'Unknown tool "write_*"', 'tools.write_*'],
    [{ tools: { 'memory_*': 'deny' } }, 'only rules take patterns', 'use a rule with tools: ["memory_*"]'],
    [
      { limits: { toolCallsPerMinute: { serach_text: 3 } } },
      'Unknown tool "serach_text"',
      'did you mean "search_text"?',
    ],
    [rule({ args: { pth: ['a'] } }), 'Unknown argument "pth" in rule "x"', 'did you mean "path"?'],
    [rule({ tools: ['read_file'], args: { content: ['*'] } }), 'Unknown argument "content"', 'of read_file are path'],
    [
      rule({ tools: ['write_file', 'run_command'], args: { command: ['rm *'] } }),
      'rules[0].args.command',
      'of write_file',
    ],
    [rule({ tools: ['*_file', 'run_command'], args: { content: ['*'] } }), 'rules[0].args.content', 'of run_command'],
    [rule({ args: { start_line: ['1'] } }), 'Unknown argument "start_line"', 'did you mean "startLine"?'],
    [rule({ tools: ['git_checkout'], args: { path: ['a'] } }), 'Unknown argument "path"', 'there are none'],
  ])('%j is refused with the name and the nearest known one', async (policy, ...texts) => {
    const error = await open(policy).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TypeError)
    for (const text of texts) expect((error as TypeError).message).toContain(text)
  })
})

describe('the list of tools for an unknown name', () => {
  const listFor = async (more: object): Promise<readonly string[]> => {
    const error = await open({ tools: { nonexistent: 'deny' } }, more).catch((error: unknown) => error)
    return /the tools are (.*)$/.exec((error as TypeError).message)?.[1]?.split(', ') ?? []
  }

  it('has each tool of the workspace once, and no operation', async () => {
    const extraTools = [ownTool]
    expect(await listFor({ extraTools })).toEqual([...builtinTools, ...extraTools].map(({ name }) => name))
  })

  it('has each tool of the dialect once', async () => {
    for (const create of Object.values(dialects)) {
      const dialect = create()
      expect(await listFor({ dialect })).toEqual(dialect.tools.map(({ name }) => name))
    }
  })
})

describe('a policy', () => {
  it('may name every built-in tool, also one that the workspace does not have', async () => {
    const tools = builtinTools.map(({ name }) => name)
    await open(
      { ...rule({ tools }), tools: Object.fromEntries(tools.map((name) => [name, 'deny'])) },
      { tools: 'minimal' },
    )
  })

  it('may name the operations of a workspace, own tools and their arguments, and globs that match one', async () => {
    await open(
      rule({
        tools: ['undo', 'rollback', 'commit', 'git_checkout', 'git_push', 'git_add', 'policy', 'report', '*_file'],
      }),
    )
    await open(rule({ tools: ['count_words'], args: { language: ['de'] } }), { extraTools: [ownTool] })
    await expect(open(rule({ tools: ['count_words'] }))).rejects.toThrow('Unknown tool "count_words"')
    await expect(open(rule({ args: { language: ['de'] } }))).rejects.toThrow('Unknown argument "language"')
  })

  it('may name the tools of the dialect in use, with the arguments of their calls', async () => {
    const dialect = fileReadWrite()
    await open({ tools: { file_write: 'ask' }, ...rule({ tools: ['file_read'], args: { path: ['a'] } }) }, { dialect })
    await expect(open(rule({ tools: ['file_wirte'] }), { dialect })).rejects.toThrow('did you mean "file_write"?')
  })

  it('is checked in a fork as in its origin', async () => {
    const workspace = await open({ tools: { file_write: 'ask' } }, { dialect: fileReadWrite() })
    await expect(workspace.fork()).resolves.toBeDefined()
  })

  it('is required, and the error names the presets', async () => {
    for (const policy of [undefined, null]) {
      await expect(createWorkspace({ backend: memory(), policy } as never)).rejects.toThrow(
        new TypeError(
          'A policy is required: one of the presets "readOnly", "supervised", "autonomous", or a policy object',
        ),
      )
    }
  })
})
