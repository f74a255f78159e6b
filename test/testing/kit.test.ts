import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { ToolError } from '../../src/errors.ts'
import { readOnly } from '../../src/storage/read-only.ts'
import { recordFixture, replayFixture } from '../../src/testing/fixtures.ts'
import { countedIds, faulty, type TestWorkspace, testClock, testWorkspace } from '../../src/testing/index.ts'
import { calls, say, scriptedModel } from '../../src/testing/scripted-model.ts'
import { matchers } from '../../src/testing/vitest.ts'

expect.extend(matchers)

const sample = { 'src/app.ts': 'export const answer = 41\n', '.env': 'KEY=1\n', 'l.ts': { link: 'src/app.ts' } }
const edit = { path: 'src/app.ts', oldText: '41', newText: '42' }

/** Returns the message of a failed assertion. */
async function messageOf(assertion: () => unknown): Promise<string> {
  try {
    await assertion()
  } catch (error) {
    // Without colours.
    return String((error as Error).message).replaceAll(new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g'), '')
  }
  throw new Error('The assertion passed')
}

describe('a test clock', () => {
  it('advances only on request, and wakes waiters in the order of their times', async () => {
    const clock = testClock(1000)
    const woken: string[] = []
    const wait = async (name: string, ...times: number[]) => {
      for (const ms of times) {
        await clock.wait(ms)
        woken.push(`${name} ${clock()}`)
      }
    }
    void wait('b', 20)
    void wait('a', 10, 10, 10)
    void wait('late', 31)
    expect(clock()).toBe(1000)
    await clock.advance(30)
    expect(woken).toEqual(['a 1010', 'b 1020', 'a 1020', 'a 1030'])
    expect(clock()).toBe(1030)
    await clock.advance(0)
    await clock.advance(1)
    expect(woken.at(-1)).toBe('late 1031')
    await expect(clock.advance(-1)).rejects.toThrow(TypeError)
  })

  it('starts at the same time as every other test clock', () => {
    expect(testClock()()).toBe(Date.UTC(2024, 0, 1))
    const ids = countedIds('run-')
    expect([ids(), ids()]).toEqual(['run-1', 'run-2'])
  })
})

describe('a test workspace', () => {
  async function story(): Promise<string> {
    const workspace = await testWorkspace(sample, { approve: () => 'allow' })
    const values: unknown[] = []
    values.push(await workspace.call('read_file', { path: 'src/app.ts' }))
    values.push(await workspace.call('edit_file', edit))
    await workspace.clock.advance(1500)
    values.push(await workspace.call('read_file', { path: '.env' }))
    values.push(await workspace.run().call('list_directory', {}))
    values.push(await workspace.call('diff_workspace', {}), await workspace.diff(), workspace.auditRecords())
    values.push(await workspace.report(), workspace.id)
    return JSON.stringify(values)
  }

  it('has byte-identical results and audit records in every run', async () => {
    const first = await story()
    expect(await story()).toBe(first)
    expect(first).toContain('2024-01-01T00:00:01.500Z')
    expect(first).toContain('"id-1"')
  })

  it('can be inspected without records, including paths that the policy hides', async () => {
    const workspace = await testWorkspace(sample, { policy: { preset: 'readOnly', deniedPaths: ['src/**'] } })
    await workspace.backend.commit(
      [
        { path: 'src/app.ts' as never, expect: 'any', to: null },
        { path: '.env' as never, expect: 'any', to: null },
      ],
      { durability: 'relaxed' },
    )
    expect(await workspace.diff()).toMatch(/--- a\/\.env[\s\S]*--- a\/src\/app\.ts/)
    await expect(workspace).not.toHaveFile('src/app.ts')
    expect(workspace.auditRecords()).toEqual([])
    await expect(workspace.call('delete_file', { path: 'l.ts' })).toRefuse('READ_ONLY')
  })

  it('has an empty tree by default, and accepts the options of any workspace', async () => {
    const clock = testClock(5)
    const workspace = await testWorkspace(undefined, { clock, tools: 'minimal', ids: () => 'mine' })
    expect([workspace.id, workspace.clock(), workspace.tools.length]).toEqual(['mine', 5, 6])
    await expect(workspace).toHaveDiff('')
    await workspace.close()
  })

  it('has the requested faults in calls, and none in inspection', async () => {
    const workspace = await testWorkspace(sample, {
      seed: 3,
      faults: [
        { on: 'commit', error: 'NO_SPACE' },
        { on: 'read', latencyMs: 40 },
      ],
    })
    await expect(workspace.call('write_file', { path: 'new', content: 'x' })).toRefuse('NO_SPACE', { path: 'new' })
    await expect(workspace).toHaveFile('src/app.ts', 'export const answer = 41\n')
    let done = false
    const reading = workspace.call('read_file', { path: 'src/app.ts' }).then(() => {
      done = true
    })
    await workspace.clock.advance(39)
    expect(done).toBe(false)
    await workspace.clock.advance(1000)
    await reading
  })
})

describe('the matchers', () => {
  it('refuse an unknown code and wrong arguments, also with not', async () => {
    const workspace = await testWorkspace(sample)
    const refusal = await workspace.call('read_file', { path: 'absent' })
    const odd = (value: unknown) => value as never
    expect(() => expect(refusal).not.toRefuse(odd('NOT_FUOND'))).toThrow('did you mean "NOT_FOUND"?')
    for (const value of [null, 1, {}, []]) {
      expect(() => expect(refusal).not.toRefuse(odd(value))).toThrow(TypeError)
      await expect(expect(workspace).not.toHaveDiff(odd(value))).rejects.toThrow(TypeError)
      await expect(expect(workspace).not.toHaveFile(odd(value))).rejects.toThrow(TypeError)
      await expect(expect(workspace).not.toHaveFile('a.txt', odd(value))).rejects.toThrow(TypeError)
    }
  })
})

describe('toHaveFile', () => {
  it('compares the text of a file, also through a link and on a backend', async () => {
    const workspace = await testWorkspace(sample)
    await expect(workspace).toHaveFile('src/app.ts')
    await expect(workspace).toHaveFile('l.ts', /answer = \d+/g)
    await expect(workspace.backend).toHaveFile('src/app.ts', 'export const answer = 41\n')
    await expect(workspace).toHaveFile('src/app.ts', expect.stringContaining('41'))
    await expect(workspace).not.toHaveFile('src/app.ts', 'other')
    await expect(workspace).not.toHaveFile('src/app.ts', /other/)
    await expect(workspace).not.toHaveFile('src')
    await expect(workspace).not.toHaveFile('src/app.ts/below')
    await expect(memory({ bin: new Uint8Array([255]) })).toHaveFile('bin')
    await expect(memory({ bin: new Uint8Array([255]) })).not.toHaveFile('bin', '')
    await expect(memory({ bom: '\ufeffx' })).not.toHaveFile('bom', 'x')
  })

  it('describes the actual entry at the path', async () => {
    const many = memory(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i % 2}/f${i}`, 'x'])))
    expect({
      other: await messageOf(() => expect(memory(sample)).toHaveFile('src/app.ts', 'export const answer = 42\n')),
      pattern: await messageOf(() => expect(memory(sample)).toHaveFile('src/app.ts', /42/)),
      none: await messageOf(() => expect(memory(sample)).toHaveFile('src/ap.ts')),
      empty: await messageOf(() => expect(memory()).toHaveFile('a')),
      directory: await messageOf(() => expect(memory(sample)).toHaveFile('src')),
      inTheWay: await messageOf(() => expect(memory({ a: '' })).toHaveFile('a/b')),
      many: await messageOf(() => expect(many).toHaveFile('a')),
      binary: await messageOf(() => expect(memory({ a: new Uint8Array([255]) })).toHaveFile('a', 'x')),
      not: await messageOf(() => expect(memory({ a: 'x' })).not.toHaveFile('a')),
      notBinary: await messageOf(() => expect(memory({ a: new Uint8Array([255]) })).not.toHaveFile('a')),
      notEqual: await messageOf(() => expect(memory({ a: 'x' })).not.toHaveFile('a', 'x')),
      notPattern: await messageOf(() => expect(memory({ a: 'x' })).not.toHaveFile('a', /x/)),
    }).toMatchInlineSnapshot(`
      {
        "binary": "The file "a" is not text",
        "directory": "Expected a file "src", but there is a directory.
      There are ".env", "l.ts", "src/app.ts"",
        "empty": "Expected a file "a", but there is nothing.
      There are no files.",
        "inTheWay": "Expected a file "a/b", but there is a file in the way.
      There are "a"",
        "many": "Expected a file "a", but there is nothing.
      There are "0/f0", "0/f10", "0/f12", "0/f14", "0/f16", "0/f18", "0/f2", "0/f20", "0/f22", "0/f24", "0/f26", "0/f28", "0/f4", "0/f6", "0/f8", "1/f1", "1/f11", "1/f13", "1/f15", "1/f17", "…"",
        "none": "Expected a file "src/ap.ts", but there is nothing.
      There are ".env", "l.ts", "src/app.ts"",
        "not": "Expected no file "a", but it is there: "x"",
        "notBinary": "Expected no file "a", but it is there: bytes that are not text",
        "notEqual": "Expected the file "a" to differ from "x"",
        "notPattern": "Expected the file "a" not to match /x/:
      "x"",
        "other": "The file "src/app.ts" is not as expected
      - Expected
      + Received

      - export const answer = 42
      + export const answer = 41
      ",
        "pattern": "Expected the file "src/app.ts" to match /42/:
      "export const answer = 41
      "",
      }
    `)
  })

  it('rejects for backend errors, invalid subjects and invalid paths, also with `not`', async () => {
    const broken = faulty(memory(sample), { error: 'BACKEND_ERROR' })
    await expect(expect(broken).not.toHaveFile('a')).rejects.toThrow('a fault was injected')
    await expect(expect(undefined).not.toHaveFile('a')).rejects.toThrow(TypeError)
    await expect(expect({}).not.toHaveFile('a')).rejects.toThrow(TypeError)
    await expect(expect(memory()).not.toHaveFile('../a')).rejects.toThrow(ToolError)
  })
})

describe('toHaveDiff', () => {
  const diff =
    'diff --git a/src/app.ts b/src/app.ts\n--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1 +1 @@\n-export const answer = 41\n+export const answer = 42\n'

  it('compares the diff since the workspace was opened', async () => {
    const workspace = await testWorkspace(sample)
    await expect(workspace).toHaveDiff('')
    await workspace.call('edit_file', { ...edit, expectedSha256: (await workspace.files.read('src/app.ts')).sha256 })
    await expect(workspace).toHaveDiff(diff)
    await expect(workspace).toHaveDiff(/^\+export const answer = 42$/m)
    await expect(workspace).not.toHaveDiff('')
    expect(await messageOf(() => expect(workspace).toHaveDiff(''))).toContain('+ +export const answer = 42')
    expect(await messageOf(() => expect(workspace).not.toHaveDiff(diff))).toContain('to differ from')
  })

  it('throws for anything but a test workspace', async () => {
    for (const wrong of [memory(), undefined]) {
      await expect(expect(wrong).not.toHaveDiff('')).rejects.toThrow('needs a workspace of testWorkspace()')
    }
  })
})

describe('toRefuse', () => {
  it('accepts a result, a promise of one, and an error of a backend', async () => {
    const workspace = await testWorkspace(sample)
    const refused = await workspace.call('read_file', { path: '../x' })
    expect(refused).toRefuse()
    expect(refused).toRefuse('PATH_REJECTED')
    expect(refused).toRefuse('PATH_REJECTED', { message: expect.stringContaining('above') })
    expect(refused).not.toRefuse('NOT_FOUND')
    expect(refused).not.toRefuse('PATH_REJECTED', { path: 'other' })
    expect(await workspace.call('list_directory', {})).not.toRefuse()
    await expect(workspace.call('read_file', { path: '.env' })).toRefuse('POLICY_DENIED_SECRET')
    await expect(readOnly(memory()).commit([], { durability: 'relaxed' })).toRefuse('READ_ONLY')
    const alike = Object.assign(new Error('of another copy'), { name: 'ToolError', code: 'NO_SPACE', details: {} })
    await expect(Promise.reject(alike)).toRefuse('NO_SPACE', { message: 'of another copy' })
  })

  it('describes the actual result', async () => {
    const workspace = await testWorkspace(sample)
    const refused = await workspace.call('read_file', { path: 'src/ap.ts' })
    const done = await workspace.call('list_directory', {})
    expect({
      other: await messageOf(() => expect(refused).toRefuse('IS_DIRECTORY', { path: 'src/ap.ts' })),
      through: await messageOf(() => expect(done).toRefuse('NOT_FOUND')),
      not: await messageOf(() => expect(refused).not.toRefuse()),
    }).toMatchInlineSnapshot(`
      {
        "not": "Expected no refusal with any code, but it was refused with NOT_FOUND: "src/ap.ts" does not exist",
        "other": "Expected a refusal with IS_DIRECTORY, but it was refused with NOT_FOUND: "src/ap.ts" does not exist
      - Expected
      + Received

        {
      -   "code": "IS_DIRECTORY",
      +   "code": "NOT_FOUND",
          "path": "src/ap.ts",
        }",
        "through": "Expected a refusal with NOT_FOUND, but the call went through: Listed .: 2 entries",
      }
    `)
  })

  it('throws for a value that is not a result, and rethrows other errors', async () => {
    for (const wrong of [undefined, null, 'x', {}, { ok: 1 }]) {
      expect(() => expect(wrong).not.toRefuse()).toThrow('needs the result of a call')
    }
    await expect(expect(Promise.resolve(5)).not.toRefuse()).rejects.toThrow('needs the result of a call')
    await expect(expect(Promise.reject(new RangeError('mine'))).not.toRefuse()).rejects.toThrow('mine')
    await expect(expect(Promise.reject(null)).not.toRefuse()).rejects.toBeNull()
  })
})

describe('a fixture', () => {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-fixtures-'))
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  afterEach(() => vi.unstubAllEnvs())
  const files = { 'a.txt': 'one\n' }
  const run = async (workspace: TestWorkspace) => {
    const { sha256 } = await workspace.files.read('a.txt')
    await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two', expectedSha256: sha256 })
    workspace.checkpoint('here')
    await workspace.call('delete_file', { path: '../a.txt' })
  }

  it('is recorded the first time, replayed later, and the same for the same run', async () => {
    vi.stubEnv('CI', '')
    const file = join(home, 'deep/er/mend.jsonl')
    let runs = 0
    const counted = async (workspace: TestWorkspace) => {
      runs += 1
      await run(workspace)
    }
    expect(await recordFixture(file, files, counted)).toEqual({ recorded: true, steps: 4 })
    const text = readFileSync(file, 'utf8')
    expect(await recordFixture(file, files, counted)).toEqual({ recorded: false, steps: 4 })
    expect(runs).toBe(1)
    expect(await recordFixture(file, files, counted, { record: 'always' })).toEqual({ recorded: true, steps: 4 })
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(await replayFixture(file, files, { hooks: {} })).toEqual({ recorded: false, steps: 4 })
  })

  it('reports the first step with a different result', async () => {
    const file = join(home, 'differs.jsonl')
    await recordFixture(file, files, run, { record: 'always' })
    const error = await replayFixture(file, { 'a.txt': 'other one\n' }).catch((error: Error) => error.message)
    expect(error).toBe(
      [
        `Fixture "${file}": step 1, read_file {"path":"a.txt","maxLines":1000} has a different result in content`,
        '- recorded: "one\\n"',
        '+ replayed: "other one\\n"',
      ].join('\n'),
    )
  })

  it('reports a step without a name, and one that contains a secret', async () => {
    const file = join(home, 'secret.jsonl')
    const token = `ghp_${'a1B2'.repeat(9)}`
    const leaking = (workspace: TestWorkspace) => workspace.call('write_file', { path: 'b', content: token })
    await recordFixture(file, files, leaking, { record: 'always' })
    expect(readFileSync(file, 'utf8')).not.toContain(token)
    await expect(replayFixture(file, files)).rejects.toThrow(/step 1, write_file .* contains a secret/)
    await recordFixture(file, files, async (workspace) => workspace.checkpoint('x'), { record: 'always' })
    writeFileSync(file, readFileSync(file, 'utf8').replace('"result":{', '"result":{"odd":1,'))
    await expect(replayFixture(file, files)).rejects.toThrow(/step 1, checkpoint .* in odd\n- recorded: 1\n/)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"result":\{.*?\},"at"/, '"result":5,"at"'))
    await expect(replayFixture(file, files)).rejects.toThrow(/step 1, checkpoint {.*} has a different result\n/)
  })

  it('is not recorded in CI, and not written by a run that fails', async () => {
    const file = join(home, 'none.jsonl')
    vi.stubEnv('CI', 'true')
    await expect(recordFixture(file, files, run)).rejects.toThrow(`Fixture "${file}" does not exist`)
    const failing = () => Promise.reject(new Error('the run failed'))
    await expect(recordFixture(file, files, failing, { record: 'missing' })).rejects.toThrow('the run failed')
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, '{}\n')
    await expect(recordFixture(file, files, run)).rejects.toThrow(TypeError)
  })
})

describe('a scripted model', () => {
  type Prompt = Parameters<ReturnType<typeof scriptedModel>['doGenerate']>[0]['prompt']
  type Message = Prompt[number]
  const user = (text: string): Message => ({
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'file', data: '', mediaType: 'image/png' },
    ],
  })
  const toolCalls = (...ids: string[]): Message => ({
    role: 'assistant',
    content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'read_file', input: {} })),
  })
  const reply = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] })
  const toolResult = (toolCallId: string, output: unknown): Message => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName: 'read_file', output: output as never }],
  })
  const model = scriptedModel(function* (request) {
    const results = yield* calls(
      '',
      { name: 'read_file', input: { path: 'a' } },
      { name: 'read_file', input: { path: 'b' } },
    )
    const next = yield* say(`${request}: ${JSON.stringify(results)}`)
    return `then ${next}`
  })
  const words = async (...prompt: Prompt) => {
    const { content } = await model.doGenerate({ prompt })
    return content.map((part) => (part.type === 'text' ? part.text : part.type === 'tool-call' ? part.toolName : '?'))
  }

  it('continues when the next message is not the expected one', () => {
    const asking = calls('', { name: 'read_file', input: { path: 'a' } })
    asking.next()
    expect(asking.next({ request: 'never mind' })).toMatchObject({ done: true, value: [{ code: 'ABORTED' }] })
    const saying = say('hello')
    saying.next()
    expect(saying.next({ results: [] })).toEqual({ done: true, value: '' })
  })

  it('returns no message before the first request', async () => {
    expect(await words()).toEqual([])
    expect(await words({ role: 'system', content: 'x' }, reply('hello'))).toEqual([])
  })

  it('continues from the results in the conversation, in any form of an interface', async () => {
    const question = user('go')
    expect(await words(question)).toEqual(['read_file', 'read_file'])
    // It was interrupted before the first call, so it starts again.
    expect(await words(question, reply('...'))).toEqual(['read_file', 'read_file'])
    const interrupted =
      '{"ok":false,"code":"ABORTED","message":"The call has no result","hint":"Check what it changed."}'
    const failed = (message: string, code = 'BACKEND_ERROR', hint = '') =>
      JSON.stringify({ ok: false, code, message, hint })
    const success = (summary: string, content: string) => {
      const text = content === '' ? summary : `${summary}\n\n${content}`
      return JSON.stringify({ ok: true, summary, warnings: [], content, text })
    }
    for (const [output, text] of [
      [{ type: 'json', value: { ok: true } }, '{"ok":true}'],
      [{ type: 'text', value: '{"ok":true,"n":1}' }, '{"ok":true,"n":1}'],
      [{ type: 'error-text', value: 'it broke' }, failed('it broke')],
      [{ type: 'text', value: 'NOT_FOUND: No n.txt\nLook.' }, failed('No n.txt', 'NOT_FOUND', 'Look.')],
      [{ type: 'text', value: '7' }, success('7', '')],
      [{ type: 'text', value: 'Read it\n\n7' }, success('Read it', '7')],
      [{ type: 'content', value: [{ type: 'text', text: 'Read it\n\n7' }] }, success('Read it', '7')],
      [{ type: 'execution-denied', reason: 'no' }, failed('no', 'APPROVAL_DENIED')],
      [{ type: 'content', value: [] }, '{"type":"content","value":[]}'],
    ] as const) {
      expect(await words(question, toolCalls('x', 'y'), toolResult('z', output), toolResult('x', output))).toEqual([
        `go: [${text},${interrupted}]`,
      ])
    }
  })

  it('takes the next message as the answer, and a later request as a new start', async () => {
    const [messages, first] = [user('go'), reply('go: []')]
    expect(await words(messages, toolCalls('x'), first, user('on'))).toEqual(['then on'])
    expect(await words(messages, toolCalls('x'), first, user('on'), reply('then on'), user('again'))).toEqual([
      'read_file',
      'read_file',
    ])
    // If the user continues before a call has a result, the call stays without one.
    expect(await words(messages, user('hurry'))).toEqual(['read_file', 'read_file'])
  })

  it('streams texts and calls, and stops when the stream is cancelled', async () => {
    const { stream } = await model.doStream({ prompt: [user('go')] })
    const types: string[] = []
    for await (const { type } of stream) types.push(type)
    const each = ['tool-input-start', 'tool-input-delta', 'tool-input-end', 'tool-call']
    expect(types).toEqual(['stream-start', ...each, ...each, 'finish'])
    let release = () => {}
    const waiting = new Promise<void>((resolve) => {
      release = resolve
    })
    let saying = (_: string) => {}
    const firstWord = new Promise<string>((resolve) => {
      saying = resolve
    })
    const speaking = scriptedModel(
      function* () {
        yield* say('one two')
        return ''
      },
      {
        wait(delta) {
          saying(delta)
          return waiting
        },
      },
    )
    const reader = (await speaking.doStream({ prompt: [user('go')] })).stream.getReader()
    expect((await reader.read()).value).toMatchObject({ type: 'stream-start' })
    expect((await reader.read()).value).toMatchObject({ type: 'text-start' })
    const pending = reader.read()
    expect(await firstWord).toBe('one')
    await reader.cancel()
    release()
    expect(await pending).toEqual({ done: true, value: undefined })
  })
})
