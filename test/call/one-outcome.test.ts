import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { verifyAudit } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { isRefusal } from '../../src/errors.ts'
import { createWorkspace, defineTool, type Tool, type ToolContext, ToolError } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'

const limits = { hookTimeoutMs: 20 }

/** How a function of an author fails. */
const failures = {
  'throws an error': () => {
    throw new Error('in /home/me')
  },
  'throws a ToolError': () => {
    throw new ToolError('NOT_FOUND', 'Nothing there')
  },
  'throws a ToolError with an unknown code': () => {
    throw new ToolError('NOPE' as never, 'Nothing there')
  },
  'throws a text': () => {
    throw 'text'
  },
  'throws undefined': () => {
    throw undefined
  },
  'throws a proxy': () => {
    throw new Proxy(
      {},
      {
        get: () => {
          throw new Error('in /home/me')
        },
        getPrototypeOf: () => null,
      },
    )
  },
  rejects: () => Promise.reject(new Error('in /home/me')),
  'returns a symbol': () => Symbol('odd'),
  'never answers': () => new Promise(() => {}),
} as const
type Failure = keyof typeof failures

/** Places where code of the embedding program runs during a call. */
const places = [
  ...['plan', 'commandLine', 'draft', 'shown', 'fullOutput', 'result', 'output', 'onResult'],
  ...['preToolCall', 'postToolResponse', 'approve', 'listener', 'onProgress'],
] as const
type Place = (typeof places)[number]
type Faults = Partial<Record<Place, Failure>>

/** Without an answer, a call waits for its draft and its approval, which come before any change. */
const unlimited: readonly Place[] = ['draft', 'approve']
const cases = places.flatMap((place) =>
  (Object.keys(failures) as Failure[])
    .filter((failure) => failure !== 'never answers' || !unlimited.includes(place))
    .map((failure) => [place, failure] as const),
)

const bytes = new TextEncoder().encode('changed\n')

/** Calls an own tool that changes a file, with failing functions at some places. */
async function callWith(faults: Faults) {
  const at =
    <T>(place: Place, otherwise: () => T) =>
    (): T => {
      const failure = faults[place]
      return failure === undefined ? otherwise() : (failures[failure]() as T)
    }
  const backend = memory({ 'a.txt': 'one\n' })
  const own = defineTool({
    ...{ name: 'own', title: 'Own', description: 'Changes a file.', mutates: true, idempotent: false },
    ...{ permission: 'file:write:replace' as const },
    input: z.strictObject({}),
    output: z.object({ lines: z.number().transform((lines) => at('output', () => lines)()) }),
    plan: at('plan', () => [{ permission: 'file:write:replace' as const, path: 'a.txt' }]),
    ...('commandLine' in faults ? { commandLine: at('commandLine', () => 'true') } : {}),
    draft: async (_input: object, context: ToolContext) => {
      context.progress(1, 'steps')
      return at('draft', () => ({
        summary: 'changed',
        changes: [{ path: 'a.txt' as Path, expect: 'any', to: { type: 'file', bytes } }],
        shown: at('shown', () => []),
        fullOutput: { extension: 'txt', text: at('fullOutput', () => 'all') },
        result: at('result', () => ({ lines: 1 })),
        onResult: at('onResult', () => undefined),
      }))()
    },
  } as never) as Tool
  const workspace = await createWorkspace({
    ...{ backend, extraTools: [own], shell: bash(), limits },
    policy: 'approve' in faults ? 'supervised' : 'autonomous',
    approve: at('approve', () => 'allow' as const),
    hooks: {
      preToolCall: at('preToolCall', () => undefined),
      postToolResponse: at('postToolResponse', () => undefined),
    },
  })
  workspace.subscribe(at('listener', () => undefined))
  const result = await workspace.callTool('own', {}, { onProgress: at('onProgress', () => undefined) })
  const text = async () => new TextDecoder().decode((await backend.read('a.txt' as Path)).bytes)
  return { workspace, result, text, isChanged: (await text()) === 'changed\n' }
}

let committed = 0

async function checkRecords(faults: Faults): Promise<void> {
  const { workspace, result, text, isChanged } = await callWith(faults)
  const records = workspace.auditRecords()
  const about = JSON.stringify(faults)
  const phases = records.map(({ phase }) => phase).join()
  expect(phases, about).toMatch(isChanged || result.ok ? /^intent,outcome$/ : /^(refused|intent,outcome)$/)
  const last = records.at(-1)
  expect(last?.code, about).toBe(result.ok ? undefined : result.code)
  expect(last?.pathsWritten, about).toEqual(isChanged ? ['a.txt'] : [])
  if (isChanged && !result.ok) {
    expect(last?.step, about).toBe('response')
    expect(String(result.hint), about).toMatch(/stands?; only its result/)
  }
  const report = await workspace.report()
  const isDenied = !isChanged && isRefusal({ code: last?.code })
  const expected = { refused: isDenied ? 1 : 0, failed: isChanged || isDenied ? 0 : 1 }
  expect(report.calls, about).toEqual({
    ...{ carriedOut: isChanged ? 1 : 0, refused: expected.refused, waited: 0, failed: expected.failed, unfinished: [] },
  })
  expect(
    report.written.map(({ path }) => path),
    about,
  ).toEqual(isChanged ? ['a.txt'] : [])
  expect(await verifyAudit(records), about).toMatchObject({ ok: true })
  expect(JSON.stringify(records), about).not.toContain('/home')
  if (isChanged) {
    committed += 1
    await workspace.undo(last?.toolCallId ?? '')
    expect(await text(), about).toBe('one\n')
  }
  await workspace.close()
}

describe('a call whose author fails', () => {
  it.each(cases)('has one outcome if %s %s', async (place, failure) => {
    await checkRecords({ [place]: failure })
  })

  it('has one outcome for any combination of failures', async () => {
    const fault = fc.constantFrom(...cases)
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { minLength: 2, maxLength: 5 }), (faults) =>
        checkRecords(Object.fromEntries(faults)),
      ),
      { numRuns: 40 },
    )
  })

  it('is committed in at least half of the cases', () => {
    console.log(`calls with a failing author: ${cases.length}, committed: ${committed}`)
    expect(committed).toBeGreaterThan(60)
  })

  it('reports the changes of a call whose hook withholds the result', async () => {
    const { workspace, result } = await callWith({ postToolResponse: 'throws a ToolError' })
    expect(result).toMatchObject({ code: 'NOT_FOUND', hint: expect.stringContaining('effect of the call stands') })
    expect(await workspace.report()).toMatchObject({
      calls: { carriedOut: 1, refused: 0, failed: 0 },
      written: [{ path: 'a.txt' }],
    })
  })
})
