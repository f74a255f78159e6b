import { memory } from '../../src/backends/memory/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { createWorkspace } from '../../src/index.ts'
import { defaultLimits, type Limits } from '../../src/limits.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { type Case, cases, files } from './safety-calls.ts'

export const limitNames = Object.keys(defaultLimits) as (keyof Limits)[]

/** The limits that an input may raise, up to a hard one. */
export const softLimits = limitNames.filter((name) => Object.hasOwn(defaultLimits, `${name}Hard`))

/** Files that reach the limits: a long one, and many small ones. */
const tree: Readonly<Record<string, string>> = {
  ...files,
  'a.txt': `one\n${Array.from({ length: 1500 }, (_, index) => `two ${index} ${'x'.repeat(10)}\n`).join('')}`,
  ...Object.fromEntries(Array.from({ length: 320 }, (_, index) => [`many/f${index}.txt`, 'two\n'])),
}

/** The calls of the table that leave the limits to the workspace. For a limit on time: commands that take some. */
function callsOf(dialect: string, takesTime: boolean): readonly Case[] {
  const listed = (cases[dialect] ?? []).filter(({ input }) => !('tail' in input))
  if (!takesTime) return listed
  return listed.flatMap((one) => {
    const json = JSON.stringify(one.input)
    const slow = json.replace('"echo hi"', '"sleep 0.2"').replace('["echo","hi"]', '["sleep","0.2"]')
    return slow === json ? [] : [{ ...one, input: JSON.parse(slow) as Case['input'] }]
  })
}

interface NativeCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The text of a result, without what differs between two equal calls. */
const textOf = (result: unknown) =>
  JSON.stringify(result, (key, value) =>
    /^(callIds?|durationMs|artifactUri|outputUri|id)$/.test(key) ? undefined : value,
  )

const optionsFor = ({ mode }: Case, limits: Partial<Limits>) =>
  ({
    ...{ backend: memory({ ...tree }), policy: { preset: 'autonomous' as const, memory: {} }, shell: bash() },
    ...{ clock: () => 0, limits },
    ...(mode === undefined ? {} : { mode, approve: () => 'allow' as const }),
  }) as const

interface Outcome {
  /** The answer, and the results of the workspace's tools. */
  readonly text: string
  readonly calls: readonly NativeCall[]
  readonly results: readonly string[]
}

/** Makes a call of a dialect in a new workspace, after those that must run before. */
async function inDialect(dialect: Dialect, one: Case, limits: Partial<Limits>): Promise<Outcome> {
  const calls: NativeCall[] = []
  const results: string[] = []
  const workspace = await createWorkspace({
    ...optionsFor(one, limits),
    dialect,
    hooks: {
      preToolCall: ({ tool, input }) => void calls.push({ tool, input }),
      postToolResponse: ({ result }) => void results.push(textOf(result)),
    },
  })
  for (const { tool, input } of one.before ?? []) await workspace.call(tool, input)
  calls.length = 0
  results.length = 0
  const answer = await workspace.call(one.tool, one.input)
  await workspace.close()
  return { text: textOf([results, answer]), calls, results }
}

/** Input fields of the workspace's tools whose default is a limit. */
const limitFields = ['maxLines', 'maxEntries', 'maxResults', 'maxMatches', 'maxFileBytes', 'maxBytes', 'timeoutMs']
const ownResults = new Map<string, Promise<string>>()
const ownWorkspaces = new Map<string, ReturnType<typeof openOwn>>()
const openOwn = (one: Case, limits: Partial<Limits>) => createWorkspace(optionsFor(one, limits))
const changes = new Set<string>(builtinTools.filter(({ mutates }) => mutates).map(({ name }) => name))

/** Makes a call of a dialect in the workspace's own tools, without the limits that its caller did not ask for. */
function inOwnTools({ tool, input }: NativeCall, one: Case, limits: Partial<Limits>): Promise<string> {
  const requested = Object.values(one.input)
  const fields = Object.entries(input).filter(
    ([name, value]) => !limitFields.includes(name) || requested.includes(value),
  )
  const plain = Object.fromEntries(fields)
  const key = JSON.stringify([tool, plain, limits, one.mode])
  const result = ownResults.get(key) ?? callOwn(tool, plain, one, limits)
  ownResults.set(key, result)
  return result
}

async function callOwn(tool: string, input: object, one: Case, limits: Partial<Limits>): Promise<string> {
  // A workspace with a limit for a run or a minute would count the calls before.
  const isCounting = Object.keys(limits).some((name) => /Per(Run|Minute)/.test(name))
  const key = changes.has(tool) || isCounting ? '' : JSON.stringify([limits, one.mode])
  const opened = ownWorkspaces.get(key) ?? openOwn(one, limits)
  if (key !== '') ownWorkspaces.set(key, opened)
  const workspace = await opened
  const result = textOf(await workspace.callTool(tool, input))
  if (key === '') await workspace.close()
  return result
}

/** The calls of a dialect that search, with a storage that takes longer than the limit. Returns those that the limit leaves unchanged. */
export async function ignoredSearchTimeouts(name: string, dialect: Dialect) {
  const ignored: string[] = []
  let effective = 0
  for (const one of cases[name] ?? []) {
    const { calls } = await inDialect(dialect, one, {})
    if (!calls.some(({ tool }) => tool === 'search_text')) continue
    const [plain, limited] = await Promise.all(
      [600_000, 50].map(async (searchTimeoutMs) => {
        const limits = { searchTimeoutMs, searchTimeoutMsHard: 600_000 }
        const workspace = await createWorkspace({ ...optionsFor(one, limits), backend: slowStorage(), dialect })
        for (const { tool, input } of one.before ?? []) await workspace.call(tool, input)
        const text = textOf(await workspace.call(one.tool, one.input))
        await workspace.close()
        return text
      }),
    )
    if (plain === limited) ignored.push(`${one.tool} ${JSON.stringify(one.input)}`)
    else effective += 1
  }
  return { effective, ignored }
}

/** The files of the calls, and the notes of `gemini`, in a storage whose reads for searches take 60 ms. */
function slowStorage(): Backend {
  const storage = memory({ ...tree, 'GEMINI.md': '## Gemini Added Memories\n' })
  return {
    ...storage,
    async scan(...args: Parameters<typeof storage.scan>) {
      await new Promise((resolve) => setTimeout(resolve, 60))
      return storage.scan(...args)
    },
  }
}

/** A low value of a limit, and a high one with the hard limit that it needs. */
function changesOf(name: keyof Limits): readonly Partial<Limits>[] {
  const low = /Ms(Hard)?$/.test(name) ? 50 : /Bytes/.test(name) ? 20 : 2
  const high = defaultLimits[name] * 3
  const hard = `${name}Hard`
  const raised = { [name]: high, ...(Object.hasOwn(defaultLimits, hard) ? { [hard]: high } : {}) }
  return [{ [name]: low }, ...(Number.isSafeInteger(high) ? [raised] : [])]
}

/**
 * Sets each limit in a workspace with a dialect. Returns the calls whose result does not change, although the limit changes
 * a result of the workspace's own tools, and not to what the dialect shows anyway. A sample is one call of each tool that a
 * limit applies to, with the lower value of the limit.
 */
export async function ignoredLimits(
  name: string,
  dialect: Dialect,
  limitNames: readonly (keyof Limits)[],
  { sample = false } = {},
): Promise<{ readonly effective: number; readonly ignored: readonly string[] }> {
  const ignored: string[] = []
  let effective = 0
  for (const takesTime of [false, true]) {
    const changes = limitNames
      .filter((limit) => /Ms(Hard)?$/.test(limit) === takesTime)
      .flatMap((limit) => (sample ? changesOf(limit).slice(0, 1) : changesOf(limit)))
    const sampled = new Set<string>()
    for (const one of callsOf(name, takesTime)) {
      if (sample && sampled.has(one.tool)) continue
      const plain = await inDialect(dialect, one, {})
      for (const limits of changes) {
        let isExpected = false
        for (const [index, call] of plain.calls.entries()) {
          const limited = await inOwnTools(call, one, limits)
          isExpected ||= limited !== plain.results[index] && limited !== (await inOwnTools(call, one, {}))
        }
        if (!isExpected) continue
        sampled.add(one.tool)
        const { text } = await inDialect(dialect, one, limits)
        if (text === plain.text) ignored.push(`${one.tool} ${JSON.stringify(one.input)} ${JSON.stringify(limits)}`)
        else effective += 1
      }
    }
  }
  return { effective, ignored }
}
