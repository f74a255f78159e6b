import { expect } from 'vitest'
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
