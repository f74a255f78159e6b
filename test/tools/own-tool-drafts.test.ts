import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Path, type Tool } from '../../src/index.ts'

const bytes = new TextEncoder().encode('changed\n')
const fail = () => {
  throw new RangeError('in /home/me/tool.js')
}
const reject = async () => fail()
const change = { path: 'a.txt', expect: 'any', to: { type: 'file', bytes } }
const draft = { summary: 'Changed', changes: [change], result: () => ({ lines: 1 }) }

/** Calls an own tool with this draft. */
async function callWith(returned: unknown, output: z.ZodObject = z.object({ lines: z.number() })) {
  const tool = {
    ...{ name: 'own', title: 'Own', description: 'Changes a.txt.', input: z.strictObject({}), output },
    ...{ permission: 'file:write:replace', mutates: true, idempotent: true },
    plan: () => ['file:write', 'file:delete'].map((permission) => ({ permission, path: 'a.txt' })),
    draft: async () => returned,
  } as unknown as Tool
  const backend = memory({ 'a.txt': 'one\n' })
  const events: unknown[] = []
  const workspace = await createWorkspace({ backend, policy: 'autonomous', extraTools: [tool] })
  workspace.subscribe((event) => events.push(event))
  const result = await workspace.callTool('own', {})
  const text = new TextDecoder().decode((await backend.read('a.txt' as Path)).bytes)
  return { workspace, result, text, events }
}

describe('an own tool that throws after its commit', () => {
  const shownVersion = { path: 'a.txt', sha256: '0'.repeat(64), lines: 'all' }
  const failing: Readonly<Record<string, readonly [parts: object, step: string]>> = {
    'shown throws': [{ shown: fail }, 'shown'],
    'shown rejects': [{ shown: reject }, 'shown'],
    'shown returns nothing': [{ shown: () => undefined }, 'shown'],
    'shown returns an object': [{ shown: () => shownVersion }, 'shown'],
    'shown returns a version without lines': [{ shown: () => [{ path: 'a.txt', sha256: '' }] }, 'shown'],
    'shown returns a version with an unknown field': [{ shown: () => [{ ...shownVersion, line: 1 }] }, 'shown'],
    'shown returns a range without end': [{ shown: () => [{ ...shownVersion, lines: { start: 1 } }] }, 'shown'],
    'shown returns a getter that throws': [
      { shown: () => [Object.defineProperty({ ...shownVersion }, 'path', { get: fail, enumerable: true })] },
      'shown',
    ],
    'result throws': [{ result: fail }, 'result'],
    'result rejects': [{ result: reject }, 'result'],
    'result returns nothing': [{ result: () => undefined }, 'result'],
    'onResult throws': [{ onResult: fail }, 'onResult'],
  }
  it.each(Object.entries(failing))('%s: the changes are recorded and announced', async (_name, [parts, step]) => {
    const { workspace, result, text, events } = await callWith({ ...draft, ...parts })
    expect(result).toMatchObject({
      ...{ ok: false, code: 'BACKEND_ERROR', step },
      hint: expect.stringContaining('The changes of the call stand'),
    })
    expect(JSON.stringify(result)).not.toContain('/home')
    expect(text).toBe('changed\n')
    expect(workspace.auditRecords().filter(({ phase }) => phase === 'outcome')[0]).toMatchObject({
      pathsWritten: ['a.txt'],
    })
    expect((await workspace.report()).written.map(({ path }) => path)).toEqual(['a.txt'])
    expect(events).toContainEqual(expect.objectContaining({ type: 'changed', paths: ['a.txt'] }))
    expect(await workspace.undo(workspace.auditRecords()[0]?.toolCallId ?? '')).toMatchObject({ ok: true })
  })

  const outputs: Readonly<Record<string, unknown>> = {
    'text throws': { extension: 'txt', text: fail },
    'text rejects': { extension: 'txt', text: reject },
    'text returns bytes': { extension: 'txt', text: () => bytes },
  }
  it.each(Object.entries(outputs))('%s: the failure names fullOutput', async (_name, fullOutput) => {
    const { result } = await callWith({ ...draft, changes: [], fullOutput })
    expect(result).toMatchObject({ code: 'BACKEND_ERROR', step: 'fullOutput' })
    expect(await callWith({ ...draft, fullOutput })).toMatchObject({ result: { ok: true } })
  })
})

describe('the draft of an own tool', () => {
  const file = { type: 'file', bytes }
  const withChange = (parts: object) => ({ ...draft, changes: [{ ...change, ...parts }] })
  const without = (field: string) => {
    const { [field as 'path']: _omitted, ...rest } = change
    return { ...draft, changes: [rest] }
  }
  const misspelled = ['change', 'warning', 'dryrun', 'fullOutputs', 'show', 'copyFrom', 'target', 'diffs', 'plans']
  const flags = ['yes', 1, 0, 'true', null, {}, []]
  const wrong: Readonly<Record<string, readonly [draft: unknown, cause: RegExp]>> = {
    ...Object.fromEntries(
      misspelled.map((field) => [`field ${field}`, [{ ...draft, [field]: draft.changes }, new RegExp(`"${field}"`)]]),
    ),
    ...Object.fromEntries(
      flags.map((dryRun) => [
        `dryRun ${JSON.stringify(dryRun)}`,
        [{ ...draft, dryRun }, /"dryRun" must be true or false/],
      ]),
    ),
    ...Object.fromEntries(
      ['changes', 'accesses', 'reads', 'refusals', 'copiedFrom', 'diff', 'fullOutput', 'shown', 'result'].map(
        (field) => [`${field} that is a number`, [{ ...draft, [field]: 1 }, new RegExp(`"${field}" must be`)]],
      ),
    ),
    'changes that are an object': [{ ...draft, changes: {} }, /"changes" must be an array/],
    'changes that are null': [{ ...draft, changes: null }, /"changes" must be an array/],
    'reads that are a string': [{ ...draft, reads: 'a.txt' }, /"reads" must be a list of paths/],
    'reads of numbers': [{ ...draft, reads: [1] }, /"reads" of the draft must be a list of paths/],
    'fullOutput that is a string': [{ ...draft, fullOutput: 'x' }, /"fullOutput" must be an object/],
    'fullOutput without extension': [{ ...draft, fullOutput: { text: () => '' } }, /"extension" is missing/],
    'a change that is null': [{ ...draft, changes: [null] }, /change 0 of the draft is not an object/],
    'no path': [without('path'), /change 0 of the draft: "path" is missing/],
    'no expect': [without('expect'), /"expect" is missing; it must be "any", "absent", \{ sha256 \} or \{ tag \}/],
    'no to': [without('to'), /"to" is missing; it must be null to delete/],
    'a path as requested': [withChange({ path: './a.txt' }), /"path" must be a path of the accesses/],
    ...Object.fromEntries(
      [null, 'anything', 1, {}, { sha: 'x' }, { sha256: 1 }, { tag: 1 }, { sha256: 'x', tag: 'x' }, []].map(
        (expected) => [
          `expect ${JSON.stringify(expected)}`,
          [withChange({ expect: expected }), /"expect" must be "any", "absent"/],
        ],
      ),
    ),
    ...Object.fromEntries(
      ['x', 1, [], true].map((to) => [`to ${JSON.stringify(to)}`, [withChange({ to }), /"to" must be null to delete/]]),
    ),
    'an unknown field': [withChange({ form: 'b.txt' }), /unknown field "form"; did you mean "from"/],
    'a state without type': [withChange({ to: { bytes } }), /"type" must be "file", "directory" or "link"/],
    'a state of another type': [withChange({ to: { ...file, type: 'flie' } }), /did you mean "file"/],
    'a state of an inherited type': [withChange({ to: { ...file, type: 'toString' } }), /"type" must be/],
    'content for bytes': [
      withChange({ to: { type: 'file', content: 'x' } }),
      /"content" must be absent: the content is in "bytes"/,
    ],
    'a file without bytes': [withChange({ to: { type: 'file' } }), /"bytes" is missing; it must be a Uint8Array/],
    'bytes that are a string': [withChange({ to: { type: 'file', bytes: 'x' } }), /"bytes" must be a Uint8Array/],
    'a mode that is a string': [withChange({ to: { ...file, mode: '644' } }), /"mode" must be permission bits/],
    'a link without target': [withChange({ to: { type: 'link' } }), /"target" is missing/],
    'a directory with bytes': [withChange({ to: { type: 'directory', bytes } }), /unknown field "bytes"/],
  }
  it.each(Object.entries(wrong))(
    '%s: nothing is written, and the cause names the field',
    async (_name, [returned, cause]) => {
      const { result, text } = await callWith(returned)
      expect(result).toMatchObject({
        code: 'BACKEND_ERROR',
        step: 'draft',
        message: expect.stringContaining('own failed'),
      })
      expect(String(result.cause)).toMatch(cause)
      expect(text).toBe('one\n')
    },
  )

  it('is committed as it was checked', async () => {
    let reads = 0
    const changes = Object.defineProperty({ ...draft }, 'changes', {
      enumerable: true,
      get: () => (reads++ === 0 ? [change] : [{ ...change, path: '../b.txt' }]),
    })
    expect(await callWith(changes)).toMatchObject({ result: { ok: true }, text: 'changed\n' })
    expect(reads).toBe(1)
  })

  it('may be an instance of a class', async () => {
    class Draft {
      readonly summary = 'Changed'
      readonly changes = [change]
      readonly #lines = 3
      result() {
        return { lines: this.#lines }
      }
    }
    expect(await callWith(new Draft())).toMatchObject({ result: { ok: true, lines: 3 }, text: 'changed\n' })
  })
})
