import { expect } from 'vitest'
import type * as z from 'zod/mini'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { safetyFieldsOf } from '../../src/dialects/runtime/safety-fields.ts'
import type { Dialect, DialectResult } from '../../src/dialects/runtime/types.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { type Case, cases, files, refusals, values } from './safety-calls.ts'

interface Run {
  readonly result: DialectResult
  /** The inputs of the workspace's calls. */
  readonly inputs: readonly Readonly<Record<string, unknown>>[]
  readonly changed: readonly string[]
}

/** Opens a workspace in a dialect, after the calls that must run before a case. */
async function open(dialect: Dialect, { tool, input, mode, before = [] }: Case) {
  const inputs: Readonly<Record<string, unknown>>[] = []
  const workspace = await createWorkspace({
    ...{
      backend: memory({ ...files }),
      dialect,
      shell: bash(),
      policy: { preset: 'autonomous', memory: {} },
      clock: () => 0,
    },
    ...(mode === undefined ? {} : { mode, approve: () => 'allow' as const }),
    hooks: { preToolCall: (call) => void inputs.push(call.input) },
  })
  for (const earlier of before) expect((await workspace.call(earlier.tool, earlier.input)).isError).toBe(false)
  return {
    close: () => workspace.close(),
    /** Makes the call of the case, with additional fields. */
    async run(more: object = {}): Promise<Run> {
      inputs.length = 0
      const records = workspace.auditRecords().length
      const result = await workspace.call(tool, { ...input, ...more })
      const later = workspace.auditRecords().slice(records)
      const changed = later.filter(({ phase }) => phase === 'outcome').flatMap(({ pathsWritten }) => pathsWritten)
      return { result, inputs: [...inputs], changed }
    },
  }
}

/** Makes the call of a case in a new workspace, with additional fields. */
export async function run(dialect: Dialect, one: Case, more?: object): Promise<Run> {
  const workspace = await open(dialect, one)
  const result = await workspace.run(more)
  await workspace.close()
  return result
}

export const openedDialects = Object.entries(dialects).map(([name, open]) => ({
  name,
  dialect: open(),
  cases: cases[name] ?? [],
}))

export const snake = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const isRefused = ({ result }: Run) => result.failure?.code === 'INVALID_INPUT'

/** The safety fields of the workspace's tools that a tool of a dialect uses. */
function fieldsOf(dialect: Dialect, name: string): readonly string[] {
  const tool = dialect.tools.find((one) => one.name === name)
  const { narrows = [...(tool?.uses ?? []), ...(tool?.mayUse ?? [])] } = tool ?? {}
  return [...new Set(narrows.flatMap((native) => safetyFieldsOf(native)))]
}

type Opened = (typeof openedDialects)[number]

/** Values of wrong types, out of range, over every limit, and padded. */
const oddValues: readonly unknown[] = [
  ...[null, true, false, [], [3], ['x'], ['x '], {}, { a: 1 }, 0, -1, 1.5, 2, 1e9, 2 ** 53, 1e300, Number.NaN],
  ...['', ' ', 'x', '1', ' 1', '1 ', 'x/** ', '0x2', '1e3', '-1', '1.5'],
]

/** Values that a tool has anyway: false, null and 0 are the default of their fields, as is a list without entries. */
const isUsual = (value: unknown) => [null, false, 0].includes(value as never) || JSON.stringify(value) === '[]'

/** Whether a value of a field leaves a call as it is because it asks for no more: every line, the one line, or names that no file has. */
function asksForNothing(field: string, value: unknown): boolean {
  // These are so without being asked for, in the calls of the table.
  if (/^(content_search|is_regex|respect_git_ignore|allow_multiple)$/.test(field)) return value === true
  if (field === 'file_filtering_options') return JSON.stringify(value) === '{}'
  if (typeof value === 'number' || field === 'tail') {
    return (
      /^(max_?|end_|limit|tail|head|expected_)/i.test(field) &&
      (Number(value) >= 1e9 || [1, 2].includes(Math.abs(Number(value))))
    )
  }
  if (/^(exclude|ignore)/.test(field)) return !/^\s|\s$/.test(String([value].flat()[0]))
  return false
}

/**
 * Counts the values of fields that were refused, and those that had an effect. Returns those that did nothing: neither the
 * calls of the tool nor the answer differ. `every` takes each n-th case.
 */
export async function silentValues({ dialect, cases }: Opened, every = 1) {
  const count = { refused: 0, effective: 0, lists: 0, silent: [] as string[], wrongHints: [] as string[] }
  let index = 0
  for (const one of cases) {
    const tool = dialect.tools.find(({ name }) => name === one.tool) as Dialect['tools'][number]
    const plain = await run(dialect, one)
    const fields = new Set([
      ...Object.keys(tool.input.shape),
      ...fieldsOf(dialect, tool.name),
      ...Object.keys(one.input),
    ])
    for (const field of fields) {
      for (const value of oddValues) {
        index += 1
        if (index % every !== 0 || JSON.stringify(one.input[field]) === JSON.stringify(value)) continue
        const attempt = await run(dialect, one, { [field]: value })
        const label = `${tool.name} ${JSON.stringify({ ...one.input, [field]: value })}`
        if (attempt.result.failure !== undefined) {
          count.refused += 1
          const [, listed] = /Fields: ([^.]+)\./.exec(textOf(attempt)) ?? []
          const own = Object.keys(tool.input.shape).join(', ')
          count.lists += Number(listed !== undefined)
          if (listed !== undefined && listed !== own) count.wrongHints.push(`${label}: ${listed}`)
        } else if (textOf(attempt) !== textOf(plain)) count.effective += 1
        else if (JSON.stringify(attempt.inputs) !== JSON.stringify(plain.inputs)) count.effective += 1
        else if (isUsual(value) || asksForNothing(field, value) || isDefault(tool, plain, field, value)) continue
        else count.silent.push(label)
      }
    }
  }
  return count
}

function textOf({ result: { output, structuredContent } }: Run): string {
  return JSON.stringify([output, structuredContent])
}

/** Whether a tool has a value anyway: by its schema, or in the calls that it makes. */
function isDefault({ input }: Dialect['tools'][number], { inputs }: Run, field: string, value: unknown): boolean {
  const schema = input.shape[field] as z.ZodMiniType | undefined
  const parsed = schema?.safeParse(undefined).data
  const camel = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const isPassed = inputs.some((one) => one[camel] === value)
  return parsed === value || isPassed || (value === true && /^(recursive|hashes)$/.test(field))
}

/** Counts the cases in which a safety field had its effect, and those in which it was refused before any effect. */
export async function checkSafetyFields(
  { dialect, cases }: Opened,
  every = 1,
): Promise<{ effective: number; refused: number }> {
  let index = 0
  const count = { effective: 0, refused: 0 }
  for (const one of cases) {
    const plain = await run(dialect, one)
    for (const field of fieldsOf(dialect, one.tool)) {
      for (const value of values[field] ?? []) {
        for (const spelling of new Set([field, snake(field)])) {
          index += 1
          if (index % every !== 0) continue
          const attempt = await run(dialect, one, { [spelling]: value })
          count[isRefused(attempt) ? 'refused' : 'effective'] += 1
          checkEffect(
            `${one.tool} ${JSON.stringify({ ...one.input, [spelling]: value })}`,
            plain,
            attempt,
            field,
            value,
          )
        }
      }
    }
  }
  return count
}

/** Counts the cases in which an unknown field was refused by its name. `every` takes each n-th case. */
export async function checkUnknownFields({ name, dialect, cases }: Opened, every = 1): Promise<number> {
  const natives = builtinTools.flatMap(({ input }) => Object.keys(input.shape))
  const odd = ['foo', 'dryrun', 'DRY_RUN', '', '__proto__', 'constructor', 'toString', 'expected-sha256', '_path']
  let index = 0
  let count = 0
  for (const tool of dialect.tools) {
    const one = cases.find((entry) => entry.tool === tool.name) as Case
    const camel = (field: string) => field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const own = [...Object.keys(tool.input.shape), ...Object.keys(one.input)].map(camel)
    const aliases = Object.entries(dialect.fields ?? {}).flatMap(([field, alias]) =>
      own.includes(camel(alias)) ? [field] : [],
    )
    const accepted = new Set([...own, ...fieldsOf(dialect, tool.name), ...aliases, ...(formerFields[name] ?? [])])
    const fields = new Set([...natives, ...natives.map(snake), ...odd].filter((field) => !accepted.has(camel(field))))
    const workspace = await open(dialect, one)
    for (const field of fields) {
      index += 1
      if (index % every !== 0) continue
      const more = JSON.parse(`{${JSON.stringify(field)}:true}`)
      const attempt = await workspace.run(more)
      const label = `${tool.name} ${JSON.stringify(more)}`
      expect([label, attempt.result.failure?.code, attempt.changed]).toEqual([label, 'INVALID_INPUT', []])
      expect(JSON.stringify(attempt.result.output), label).toContain(field)
      count += 1
    }
    await workspace.close()
  }
  return count
}

/** Checks that a field was refused, refused the change, or reached the workspace's tool or the answer. */
function checkEffect(label: string, plain: Run, attempt: Run, field: string, value: unknown): void {
  const { result, changed, inputs } = attempt
  const { code } = result.failure ?? {}
  if (isRefused(attempt)) {
    expect([label, changed]).toEqual([label, []])
    expect(JSON.stringify(result.output), label).toMatch(new RegExp(`${field}|${snake(field)}|offset`))
    return
  }
  const needsParent = field === 'createParents' && label.includes('new/')
  const isTree = field === 'maxEntries' && label.startsWith('directory_tree')
  const expectedCode =
    value === 'REPLACE_EXISTING' || needsParent ? 'NOT_FOUND' : isTree ? 'LIMIT_EXCEEDED' : refusals[field]
  expect([label, code]).toEqual([label, expectedCode])
  if (expectedCode !== undefined || field === 'dryRun') expect([label, changed]).toEqual([label, []])
  const reached = inputs.some((input) => JSON.stringify(input[field]) === JSON.stringify(value))
  expect(reached || JSON.stringify(result.output) !== JSON.stringify(plain.result.output), label).toBe(true)
}

/** Former fields, which a dialect accepts but does not list. */
const formerFields: Readonly<Record<string, readonly string[]>> = {
  'python-harness': ['processId', 'filePattern', 'timeout'],
  'patch-and-diff': ['depth', 'endLine', 'glob', 'maxResults', 'regex'],
  gemini: ['path', 'include', 'paths', 'directory', 'offset', 'limit', 'absolutePath'],
}
