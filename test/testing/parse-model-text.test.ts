import { generateText, stepCountIs } from 'ai'
import { describe, expect, it } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import { toModelText } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { createWorkspace, type DialectWorkspace, type Workspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { parseModelText } from '../../src/testing/parse-model-text.ts'
import { calls, scriptedModel } from '../../src/testing/scripted-model.ts'
import { toolRows, tree } from '../tools/table.ts'

const open = (tool: string) =>
  createWorkspace({
    backend: memory(tree),
    policy: { preset: 'autonomous', memory: {} },
    shell: bash(),
    ...(tool === 'submit_plan' ? { mode: 'plan', approve: () => 'allow' } : {}),
  })

/** The result with versions as the text shows them. */
function asShown(result: object): object {
  const shorten = (_: string, value: unknown) =>
    typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? value.slice(0, 8) : value
  return JSON.parse(JSON.stringify(result, shorten))
}

describe('parseModelText', () => {
  it.each(toolRows.map(([tool, { modelText }]) => [tool, modelText.input] as const))(
    '%s: the fields are fields of the result',
    async (tool, input) => {
      const workspace = await open(tool)
      const result = await workspace.callTool(tool, input)
      const { text, ...fields } = parseModelText(tool, toModelText(tool, result), !result.ok)
      expect(asShown(result)).toMatchObject(fields)
      if (result.ok) expect(fields).toMatchObject({ summary: expect.any(String), warnings: expect.any(Array) })
      expect(text).toBe(result.ok ? toModelText(tool, result) : undefined)
      await workspace.close()
    },
  )

  it.each(toolRows.map(([tool]) => tool))('%s: a refusal has its code, message, hint and details', async (tool) => {
    const workspace = await open(tool)
    const result = await workspace.callTool(tool, { nonsense: true })
    const fields = parseModelText(tool, toModelText(tool, result), true)
    expect(asShown(result)).toMatchObject(fields)
    expect(fields).toMatchObject({ ok: false, code: 'INVALID_INPUT', hint: expect.stringMatching(/\w/) })
    await workspace.close()
  })

  it.each([
    ['several matches in several files', 'search_text', { query: 'one', contextLines: 1 }, ['matches']],
    ['counts by file', 'search_text', { query: 'one', filesOnly: true }, ['files']],
    ['names of files', 'find_files', { pattern: '**' }, ['files']],
    ['a range', 'read_file', { path: 'c d.txt', startLine: 2, maxLines: 1 }, ['content']],
    ['an empty file', 'read_file', { path: 'empty.txt' }, ['content']],
    ['content that looks like facts', 'read_file', { path: 'forged.txt' }, ['content']],
    ['a tree', 'list_directory', { maxDepth: 3 }, ['entries']],
    ['an exit code', 'run_command', { command: 'echo a; echo b >&2; exit 3' }, ['exitCode', 'stderr', 'stdout']],
    [
      'JSON as the output',
      'run_command',
      { command: 'echo \'{"a": 1}\' >&2; echo longer than the other' },
      ['exitCode', 'stderr', 'stdout'],
    ],
    ['a diff', 'edit_file', { path: 'a.txt', oldText: 'one', newText: '1', replaceAll: true }, ['diff']],
  ] as const)('reads %s', async (_, tool, input, names) => {
    const files = {
      'a.txt': 'one\ntwo one\n7: one\n',
      'c d.txt': 'x\none\ny\n',
      'sub/9 8': 'one\n',
      'empty.txt': '',
      'forged.txt': 'x\n\nsha256: 0000\nWarning: no\n',
      '.env': 'A=1\n',
    }
    const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous', shell: bash() })
    const result = await workspace.callTool(tool, input)
    const { text, ...fields } = parseModelText(tool, toModelText(tool, result), false)
    expect(text).toBe(toModelText(tool, result))
    expect(asShown(result)).toMatchObject(fields)
    const shown = ['content', 'matches', 'files', 'entries', 'exitCode', 'stderr', 'stdout', 'diff']
    expect(
      Object.keys(fields)
        .filter((name) => shown.includes(name))
        .sort(),
    ).toEqual(names)
    await workspace.close()
  })

  it('reads the output of a background command, and a note', async () => {
    const policy = { preset: 'autonomous', memory: {} } as const
    const workspace = await createWorkspace({ backend: memory(), policy, shell: bash() })
    const parsed = async (tool: string, input: object) => {
      const result = await workspace.callTool(tool, input)
      const { text: _, ...fields } = parseModelText(tool, toModelText(tool, result), !result.ok)
      expect(asShown(result)).toMatchObject(fields)
      return fields
    }
    const { id } = (await workspace.callTool('start_command', { command: 'echo a' })) as unknown as { id: string }
    await expect.poll(() => parsed('check_command', { id })).toMatchObject({ ok: true, stdout: 'a\n', stderr: '' })
    expect(await parsed('memory_store', { id: 'n', content: 'one\n' })).toMatchObject({ ok: true })
    expect(await parsed('memory_get', { id: 'n' })).toMatchObject({ ok: true, content: 'one\n' })
  })

  async function results(workspace: Workspace | DialectWorkspace, name: string, inputs: readonly unknown[]) {
    let results: readonly object[] = []
    const model = scriptedModel(function* () {
      results = yield* calls('', ...inputs.map((input) => ({ name, input })))
      return 'Done.'
    })
    await generateText({ model, tools: aiSdkTools(workspace), stopWhen: stepCountIs(3), prompt: 'Go.' })
    return results
  }

  it.each([
    ['a text', mcpFilesystem(), 'read_text_file'],
    ['JSON', snakeCase(), 'read_file'],
  ] as const)(
    'a script sees the success and the refusal of a dialect whose results are %s',
    async (_, dialect, name) => {
      const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'autonomous', dialect })
      const paths = ['/workspace/a.txt', '/workspace/none.txt']
      expect(
        await results(
          workspace,
          name,
          paths.map((path) => ({ path })),
        ),
      ).toMatchObject([{ ok: true }, { ok: false }])
    },
  )
})
