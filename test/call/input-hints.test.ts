import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { parseInput, unknownTool } from '../../src/call/parse-input.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import type { ToolError } from '../../src/errors.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Tool } from '../../src/tools/define-tool.ts'
import { builtinTools } from '../../src/tools/index.ts'

const refusal = (run: () => unknown): ToolError => {
  try {
    run()
  } catch (error) {
    return error as ToolError
  }
  throw new Error('It did not throw')
}
const hintOf = (error: ToolError) => String(error.details.hint)
/** Swaps two letters, or doubles the last one where they are the same. */
const misspell = (name: string) =>
  name.at(-2) === name.at(-3) ? name + name.at(-1) : `${name.slice(0, -3)}${name.at(-2)}${name.at(-3)}${name.at(-1)}`

const tools: readonly Pick<Tool, 'name' | 'input'>[] = builtinTools

describe.each(tools.map((tool) => [tool.name, tool] as const))('the hint for an input of %s', (_, tool) => {
  const fields = Object.keys(tool.input.shape)

  it('says to leave out a field that is similar to none', () => {
    const error = refusal(() => parseInput(tool, { zzqqzzqqzzqq: 1 }))
    const hint = hintOf(error)
    const isFirst = error.details.field === 'zzqqzzqqzzqq'
    expect(hint).toBe(
      `${isFirst ? 'Leave out' : 'Correct'} "${error.details.field}" and call again. Fields: ${fields.join(', ')}.`,
    )
  })

  it.each(fields.filter((field) => field.length > 4))('says to correct a misspelled %s', (field) => {
    const error = refusal(() => parseInput(tool, { [misspell(field)]: 'x' }))
    expect(error.message).toContain(`did you mean ${JSON.stringify(field)}?`)
    expect(hintOf(error)).toContain('Correct "')
  })
})

describe('the hint for an invalid input', () => {
  const edit = tools.find(({ name }) => name === 'edit_file') as Pick<Tool, 'name' | 'input'>

  it('suggests the field that ends with the name', () => {
    for (const field of ['file_path', 'filePath']) {
      const error = refusal(() =>
        parseInput({ name: 'x', input: z.strictObject({ [field]: z.string() }) }, { path: 'a' }),
      )
      expect(error.message).toContain(`did you mean "${field}"?`)
    }
  })

  it.each([
    ['read_file', { target: 'a' }, 'path'],
    ['write_file', { path: 'a', text: 'x' }, 'content'],
    ['run_command', { script: 'ls' }, 'command'],
    ['search_text', { pattern: 'x' }, 'query'],
    ['move_file', { path: 'a', destination: 'b' }, 'to'],
    ['apply_patch', { diff: 'x' }, 'patch'],
    ['read_file', { strtLine: 2 }, 'startLine'],
    ['list_directory', { maxDeph: 2 }, 'maxDepth'],
  ])('suggests for %s %j the only missing field, or one with a similar name', (name, input, field) => {
    const tool = tools.find((one) => one.name === name) as Pick<Tool, 'name' | 'input'>
    expect(refusal(() => parseInput(tool, input)).message).toContain(`did you mean "${field}"?`)
  })

  it.each([
    ['read_file', { offset: 3 }],
    ['write_file', { path: 'a', content: 'x', file_path: 'a' }],
    ['search_text', { query: 'x', excludeHidden: true }],
    ['run_command', { command: 'ls', env: 'x' }],
  ])('suggests no field for %s %j', (name, input) => {
    const tool = tools.find((one) => one.name === name) as Pick<Tool, 'name' | 'input'>
    expect(refusal(() => parseInput(tool, input)).message).not.toContain('did you mean')
  })

  it('lists the fields of the nested object', () => {
    const error = refusal(() => parseInput(edit, { path: 'a', edits: [{ oldText: 'a', newText: 'b', zzqqzzqq: 1 }] }))
    expect(hintOf(error)).toBe(
      'Leave out "edits.0.zzqqzzqq" and call again. Fields of "edits.0": oldText, newText, replaceAll.',
    )
  })

  it('names each of several unknown fields, with its own suggestion', () => {
    const error = refusal(() => parseInput(edit, { path: 'a', oldText: 'a', newText: 'b', zzqqzzqq: 1, replaceAl: 1 }))
    expect(error.message).toBe(
      'Invalid input for edit_file: zzqqzzqq is unknown; replaceAl is unknown; did you mean "replaceAll"?',
    )
    expect(error.details.issues).toHaveLength(2)
  })

  it('says that a tool has no fields', async () => {
    const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: mcpFilesystem() })
    const { output } = await workspace.call('list_allowed_directories', { zzqq: 1 })
    expect(output).toContain('Leave out "zzqq" and call again. There are no fields.')
  })
})

describe('the hint for an unknown tool', () => {
  const sets = Object.entries(dialects).map(([name, open]) => [name, open().tools.map((tool) => tool.name)] as const)

  it.each([...sets, ['the workspace', builtinTools.map(({ name }) => name)] as const])(
    'names the nearest tool of %s',
    (_, names) => {
      for (const name of names.filter((long) => long.length > 4)) {
        expect(hintOf(unknownTool(misspell(name), names))).toContain(`Did you mean "${name}"?`)
      }
    },
  )

  it('names no tool that does something else than the tool of this name in another system', () => {
    const usesOf = new Map<string, Map<string, readonly string[]>>([
      ['the workspace', new Map(builtinTools.map(({ name }) => [name, [name]]))],
      ...Object.entries(dialects).map(
        ([name, open]) => [name, new Map(open().tools.map(({ name, uses }) => [name, uses]))] as const,
      ),
    ])
    // These search names, contents or both; and anthropic has one tool for all that is done with notes.
    const exceptions = /search_files|memory/
    let count = 0
    for (const own of usesOf.values()) {
      for (const [name, uses] of [...own].filter(([name]) => !exceptions.test(name))) {
        for (const tools of [...usesOf.values()].filter((tools) => !tools.has(name))) {
          const [, suggestion] = /^Did you mean "(.+?)"/.exec(hintOf(unknownTool(name, [...tools.keys()]))) ?? []
          if (suggestion === undefined || exceptions.test(suggestion)) continue
          count += 1
          expect(tools.get(suggestion), `${suggestion} for ${name}`).toEqual(expect.arrayContaining([uses[0]]))
        }
      }
    }
    expect(count).toBeGreaterThan(200)
  })

  it('ignores the words that all names begin with', () => {
    const names = dialects.mastra?.().tools.map(({ name }) => name) ?? []
    for (const other of ['ast_edit', 'index', 'lsp_inspect']) {
      expect(hintOf(unknownTool(`mastra_workspace_${other}`, names))).toMatch(/^Use one of:/)
    }
    expect(hintOf(unknownTool('read_file', names))).toContain('Did you mean "mastra_workspace_read_file"?')
  })
})
