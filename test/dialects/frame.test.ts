import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import {
  call,
  callHidden,
  callTool,
  createPathMapping,
  defineDialectTool,
  lastShownVersion,
  readWhole,
  tryCall,
  trySteps,
} from '../../src/dialects/define.ts'
import { dialects } from '../../src/dialects/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { type Backend, createWorkspace, type DialectRun } from '../../src/index.ts'
import { defineTool } from '../../src/tools/author.ts'
import { parseRecording, replay } from '../../src/workspace/replay.ts'

const plainInput = z.object({ path: z.string() })

/** A dialect with a tool that throws, which the built-in ones do not have. */
function shouting(roots: Record<string, string> = { '/w': '' }): Dialect {
  return {
    name: 'shouting',
    description: 'For tests',
    pathMapping: createPathMapping(roots),
    hints: { WRITE_CONFLICT: 'CAT IT FIRST' },
    tools: [
      defineDialectTool({
        name: 'CAT',
        description: 'Show',
        input: plainInput,
        uses: ['read_file'],
        *steps({ path }, pathMapping) {
          return { output: (yield* readWhole(pathMapping.inward(path))).content.toUpperCase() }
        },
      }),
      defineDialectTool({
        name: 'PUT',
        description: 'Write',
        input: z.object({ path: z.string(), text: z.string() }),
        uses: ['write_file'],
        *steps({ path, text }, pathMapping) {
          const { bytesWritten } = yield* call('write_file', { path: pathMapping.inward(path), content: text })
          return { output: { bytesWritten } }
        },
      }),
      defineDialectTool({
        name: 'LOOK',
        description: 'Whether something is there',
        input: plainInput,
        uses: ['file_info'],
        *steps({ path }, pathMapping) {
          const info = yield* tryCall('file_info', { path: pathMapping.inward(path) })
          return { output: info.ok ? info.type : info.code, isError: !info.ok }
        },
      }),
      defineDialectTool({
        name: 'BREAK',
        description: 'Fails',
        input: plainInput,
        uses: ['read_file'],
        *steps({ path }, pathMapping) {
          yield* call('read_file', { path: pathMapping.inward(path) })
          throw new Error('/secret/physical/path')
        },
      }),
    ],
    formatError: ({ code, message, hint }) => ({ output: `${code}! ${message}! ${hint}!` }),
  }
}

async function open(files: Record<string, string> = { 'a.txt': 'one\n' }, more: object = {}) {
  return createWorkspace({ backend: memory(files), policy: 'autonomous', dialect: shouting(), ...more })
}

describe('a workspace in a dialect', () => {
  it('has the tools of the dialect, and returns results in its form', async () => {
    const workspace = await open()
    expect(workspace.tools.map(({ name, mutates, dialect }) => [name, mutates, dialect])).toEqual([
      ['CAT', false, 'shouting'],
      ['PUT', true, 'shouting'],
      ['LOOK', false, 'shouting'],
      ['BREAK', false, 'shouting'],
    ])
    expect(await workspace.call('CAT', { path: '/w/a.txt' })).toMatchObject({
      isError: false,
      output: 'ONE\n',
      content: [{ type: 'text', text: 'ONE\n' }],
      warnings: [],
    })
    expect(await workspace.call('LOOK', { path: '/w/none' })).toMatchObject({ isError: true, output: 'NOT_FOUND' })
    expect(await workspace.call('LOOK', { path: '/w' })).toMatchObject({ isError: false, output: 'directory' })
  })

  it('has no other tools, and lists its tools in the error', async () => {
    const workspace = await open()
    const result = await workspace.call('delete_file', { path: 'a.txt' })
    expect(result).toMatchObject({ isError: true, failure: { code: 'UNKNOWN_TOOL' } })
    expect(result.output).toContain('Use one of: CAT, PUT, LOOK, BREAK.')
    expect(await workspace.own.call('file_info', { path: 'a.txt' })).toMatchObject({ ok: true })
  })

  it('records every step as a call of the run with the dialect tool, and every refusal once', async () => {
    const workspace = await open()
    await workspace.call('CAT', { path: '/w/a.txt' })
    await workspace.call('CAT', { path: 7 })
    await workspace.call('CAT', { path: '/w/../a.txt' })
    await workspace.call('BREAK', { path: '/w/a.txt' })
    const recorded = workspace
      .auditRecords()
      .filter(({ phase }) => phase !== 'intent')
      .map(({ toolName, via, code }) => [toolName, via, code])
    expect(recorded).toEqual([
      ['read_file', 'shouting.CAT', undefined],
      ['CAT', 'shouting.CAT', 'INVALID_INPUT'],
      ['read_file', 'shouting.CAT', 'PATH_REJECTED'],
      ['read_file', 'shouting.BREAK', undefined],
      ['BREAK', 'shouting.BREAK', 'BACKEND_ERROR'],
    ])
    expect(workspace.verifyAudit()).toMatchObject({ ok: true })
  })

  it('counts only the content of the answer as shown, not the results of its calls', async () => {
    const workspace = await open()
    await workspace.call('CAT', { path: '/w/a.txt' })
    const read = await workspace.own.call('read_file', { path: 'a.txt', ifChanged: true })
    expect(read).toMatchObject({ content: 'one\n' })
  })

  it('returns an error without details if the dialect throws', async () => {
    const result = await (await open()).call('BREAK', { path: '/w/a.txt' })
    expect(result).toMatchObject({ isError: true, failure: { code: 'BACKEND_ERROR' } })
    expect(JSON.stringify(result)).not.toContain('/secret')
  })

  it('protects files that the run has not seen, with a hint of the dialect', async () => {
    const workspace = await open()
    const blind = await workspace.call('PUT', { path: '/w/a.txt', text: 'new\n' })
    expect(blind.output).toBe(
      'WRITE_CONFLICT! Cannot change "/w/a.txt": it was never read as a whole in this version by this run! CAT IT FIRST!',
    )
    await workspace.call('CAT', { path: '/w/a.txt' })
    const result = await workspace.call('PUT', { path: '/w/a.txt', text: 'new\n' })
    expect(result).toMatchObject({ isError: false, output: { bytesWritten: 4 } })
    expect(result.content).toEqual([{ type: 'text', text: '{"bytesWritten":4}' }])
    const [callId = ''] = result.callIds
    expect(await workspace.undo(callId)).toMatchObject({ ok: true })
    expect(await workspace.files.read('a.txt')).toMatchObject({ content: 'one\n' })
    // Another run has not seen it.
    expect((await workspace.run().call('PUT', { path: '/w/a.txt', text: 'x' })).failure?.code).toBe('WRITE_CONFLICT')
  })

  it('reads whole files in several calls, up to 64 KiB', async () => {
    const lines = Array.from({ length: 2500 }, (_, i) => `line ${i}\n`).join('')
    const workspace = await open({ long: lines, large: 'x'.repeat(70_000), wide: `${'é\n'.repeat(30_000)}` })
    const { output, callIds } = await workspace.call('CAT', { path: '/w/long' })
    expect(output).toBe(lines.toUpperCase())
    expect(callIds).toHaveLength(3)
    expect((await workspace.call('PUT', { path: '/w/long', text: 'short\n' })).isError).toBe(false)
    for (const path of ['/w/large', '/w/wide']) {
      const refused = await workspace.call('CAT', { path })
      expect(refused.output).toContain(`FILE_TOO_LARGE! "${path}" is too large to be shown at once`)
    }
  })

  it('refuses to read a file that changes during the read', async () => {
    const files = memory({ long: 'x\n'.repeat(1500) })
    let reads = 0
    const changing: Backend = {
      ...files,
      capabilities: { ...files.capabilities, authority: 'shared' },
      async read(...request) {
        reads += 1
        if (reads === 2) await other.call('append_file', { path: 'long', content: 'y\n' })
        return files.read(...request)
      },
    }
    const other = await createWorkspace({ backend: files, policy: 'autonomous' })
    const workspace = await open({}, { backend: changing })
    expect((await workspace.call('CAT', { path: '/w/long' })).output).toContain('changed while it was read')
  })

  it('serves only the tools whose workspace tools are registered', async () => {
    const workspace = await open({ 'a.txt': 'one\n' }, { readOnly: true })
    expect(workspace.tools.map(({ name }) => name)).toEqual(['CAT', 'LOOK', 'BREAK'])
    const refused = await workspace.call('PUT', { path: '/w/b.txt', text: 'x' })
    expect(refused.failure).toMatchObject({
      code: 'READ_ONLY',
      message: 'PUT changes files, and this workspace is read-only',
    })
    const few = await open({}, { tools: ['read_file'] })
    expect((await few.call('LOOK', { path: '/w' })).failure?.message).toBe("LOOK is not in this workspace's tool set")
  })

  it('cancels, forks and opens runs like any workspace', async () => {
    const workspace = await open()
    const ended = await workspace.call('CAT', { path: '/w/a.txt' }, { signal: AbortSignal.abort() })
    expect(ended.failure?.code).toBe('ABORTED')
    const fork = await workspace.fork()
    await fork.call('PUT', { path: '/w/new.txt', text: 'x' })
    expect((await workspace.call('LOOK', { path: '/w/new.txt' })).isError).toBe(true)
    expect((await fork.run({ actor: 'other' }).call('LOOK', { path: '/w/new.txt' })).output).toBe('file')
  })

  it('is repeated from a recording, in the same dialect', async () => {
    const lines: string[] = []
    const files = { 'a.txt': 'one\n' }
    const workspace = await open(files, { record: (line: string) => void lines.push(line) })
    await workspace.call('CAT', { path: '/w/a.txt' })
    await workspace.call('CAT', { path: null })
    await workspace.call('PUT', { path: '/w/a.txt', text: 'two\n' })
    await workspace.call('CAT', { path: '/w/a.txt' }, { signal: AbortSignal.abort() })
    await workspace.files.read('a.txt')
    await workspace.close()
    const recording = parseRecording(lines.join('\n'))
    const dialect = shouting()
    expect(await replay(recording, { backend: memory(files), dialect })).toEqual({ ok: true, steps: 5 })
    expect(await replay(recording, { backend: memory({ 'a.txt': 'other\n' }), dialect })).toMatchObject({ ok: false })
    await expect(replay(recording, { backend: memory(files) })).rejects.toThrow('had the dialect "shouting"')
    const plain = recording.map((entry) => (entry.type === 'workspace' ? { ...entry, dialect: undefined } : entry))
    await expect(replay(plain as unknown as typeof recording, { backend: memory(files), dialect })).rejects.toThrow(
      'had no dialect',
    )
  })

  it('resumes a call that waits for an approval', async () => {
    const policy = { preset: 'supervised' as const }
    const workspace = await open({}, { policy })
    const waits = await workspace.call('PUT', { path: '/w/b.txt', text: 'x' })
    expect(waits).toMatchObject({ isError: true, failure: { code: 'APPROVAL_REQUIRED' } })
    expect(await workspace.resume(String(waits.failure?.approvalId), 'allow')).toMatchObject({ ok: true })
    expect((await workspace.call('LOOK', { path: '/w/b.txt' })).output).toBe('file')
  })

  it('rejects a stale guard that requires hashes', async () => {
    await expect(open({}, { staleGuard: 'shown' })).rejects.toThrow('names no versions')
  })
})

describe('content that steps read', () => {
  /** Reads two files in a part, the second hidden, and then a third, which can be missing. */
  const both: Dialect = {
    ...shouting(),
    tools: [
      defineDialectTool({
        name: 'BOTH',
        description: 'Both',
        input: z.object({ second: z.string() }),
        uses: ['read_file', 'write_file'],
        *steps({ second }) {
          const outer = yield* trySteps(
            (function* () {
              const first = yield* trySteps(readWhole('a.txt'))
              yield* callHidden('read_file', { path: 'b.txt' })
              const version = yield* lastShownVersion('a.txt')
              yield* call('read_file', { path: second })
              return { first, version }
            })(),
          )
          return { output: outer.ok }
        },
      }),
      ...shouting().tools,
    ],
  }
  const files = { 'a.txt': 'one\n', 'b.txt': 'two\n' }
  const writes = async (second: string, path: string) => {
    const workspace = await open(files, { dialect: both })
    const { output } = await workspace.call('BOTH', { second })
    return [output, (await workspace.call('PUT', { path: `/w/${path}`, text: 'new\n' })).failure?.code]
  }

  it('counts as seen once it is in the answer', async () => {
    expect(await writes('b.txt', 'a.txt')).toEqual([true, undefined])
    expect(await writes('b.txt', 'b.txt')).toEqual([true, undefined])
  })

  it('does not count as seen if it was hidden, or its part failed', async () => {
    expect(await writes('a.txt', 'b.txt')).toEqual([true, 'WRITE_CONFLICT'])
    expect(await writes('none.txt', 'a.txt')).toEqual([false, 'WRITE_CONFLICT'])
  })

  it('does not hide an exception that is not a ToolError', async () => {
    const broken = defineDialectTool({
      name: 'BROKEN',
      description: 'Fails',
      input: z.object({}),
      uses: [],
      *steps() {
        yield* trySteps(
          // biome-ignore lint/correctness/useYield: the steps throw before their first call
          (function* (): Generator<never, never> {
            throw new RangeError('broken')
          })(),
        )
        return { output: '' }
      },
    })
    const workspace = await open(files, { dialect: { ...both, tools: [broken] } })
    expect((await workspace.call('BROKEN', {})).failure?.code).toBe('BACKEND_ERROR')
  })
})

describe('an error in a dialect', () => {
  it.each(['from', 'a', 'old_text'])('quotes the name %s of a field in a sentence, and not as a path', async (name) => {
    const swap = defineDialectTool({
      name: 'SWAP',
      description: 'Replace',
      input: z.object({ path: z.string() }),
      uses: ['edit_file'],
      *steps({ path }, pathMapping) {
        yield* call('edit_file', { path: pathMapping.inward(path), oldText: 'none', newText: 'two' })
        return { output: '' }
      },
    })
    const dialect = { ...shouting(), tools: [swap], fields: { oldText: name } }
    const workspace = await open({ [name]: 'one\n' }, { dialect })
    const { output } = await workspace.call('SWAP', { path: `/w/${name}` })
    expect(output).toContain(`Cannot edit "/w/${name}": "${name}" does not occur!`)
  })

  it('ends a message with one mark', async () => {
    for (const [name, create] of Object.entries(dialects)) {
      const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: create() })
      for (const tool of workspace.tools) {
        for (const field of Object.keys(tool.inputSchema.shape)) {
          const { output } = await workspace.callTool(tool.name, { [`${field}x`]: 1 })
          expect(JSON.stringify(output), `${name}.${tool.name}`).not.toMatch(/[?!.]\. /)
        }
      }
    }
  })
})

describe('the state of a dialect', () => {
  const counting: Dialect<{ calls: number }> = {
    ...shouting(),
    createState: () => ({ calls: 0 }),
    tools: [
      defineDialectTool({
        name: 'COUNT',
        description: 'Counts its calls',
        input: z.object({}),
        uses: [],
        // biome-ignore lint/correctness/useYield: the answer needs no call
        *steps(_input, _pathMapping, state: { calls: number }) {
          state.calls += 1
          return { output: state.calls }
        },
      }),
    ],
  }
  const count = async (run: Pick<DialectRun, 'call'>) => (await run.call('COUNT', {})).output

  it('is shared by all calls of a run', async () => {
    const workspace = await open({}, { dialect: counting })
    expect([await count(workspace), await count(workspace)]).toEqual([1, 2])
  })

  it('starts anew in another run and in a fork', async () => {
    const workspace = await open({}, { dialect: counting })
    await count(workspace)
    const fork = await workspace.fork()
    expect([await count(workspace.run()), await count(fork), await count(fork.run())]).toEqual([1, 1, 1])
    expect(await count(workspace)).toBe(2)
  })
})

describe('a dialect over own tools of the workspace', () => {
  const greet = defineTool({
    name: 'greet',
    title: 'Greet',
    description: 'Greets',
    input: z.object({ who: z.string() }),
    output: z.object({ greeting: z.string() }),
    permission: 'file:read',
    mutates: false,
    idempotent: true,
    plan: () => [],
    draft: async ({ who }) => ({ result: () => ({ greeting: `Hello ${who}` }), summary: 'Greeted' }),
  })
  const dialect: Dialect = {
    ...shouting(),
    tools: [
      defineDialectTool({
        name: 'GREET',
        description: 'Greets',
        input: z.object({ who: z.string() }),
        uses: ['greet'],
        *steps({ who }) {
          return { output: (yield* callTool('greet', { who })).greeting }
        },
      }),
      ...shouting().tools,
    ],
  }

  it('calls them by name, with audit and errors like any call', async () => {
    const workspace = await open({}, { dialect, extraTools: [greet] })
    expect(await workspace.call('GREET', { who: 'Ann' })).toMatchObject({ isError: false, output: 'Hello Ann' })
    expect(workspace.auditRecords().at(-1)).toMatchObject({ toolName: 'greet', via: 'shouting.GREET' })
    expect((await workspace.call('GREET', { who: 7 })).failure).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('does not list a tool whose own tool is missing', async () => {
    const workspace = await open({}, { dialect })
    expect(workspace.tools.map(({ name }) => name)).not.toContain('GREET')
    expect((await workspace.call('GREET', { who: 'Ann' })).failure).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })
})

describe('the author of a dialect', () => {
  const broken = (parts: object): Dialect => ({
    ...shouting(),
    tools: [{ ...(shouting().tools[0] as Dialect['tools'][number]), ...parts }],
  })

  it.each([
    [{ uses: ['raed_file'] }, '"uses" names the unknown tool "raed_file"; did you mean "read_file"?'],
    [{ uses: ['read_file'], mayUse: ['wirte_file'] }, '"mayUse" names the unknown tool "wirte_file"; did you mean'],
    [{ uses: undefined }, '"uses" is missing; it must be a list of tool names'],
    [{ uses: 'read_file' }, '"uses" must be a list of tool names'],
    [{ uses: ['read_file'], narrows: ['raed_file'] }, '"narrows" names the unknown tool "raed_file"; did you mean'],
    [{ uses: ['read_file'], mayUse: ['raed'] }, '"mayUse" names the unknown tool "raed"; did you mean "read_file"?'],
    [{ uses: ['wirte'] }, '"uses" names the unknown tool "wirte"; did you mean "write_file"?'],
    [{ uses: ['red'] }, '"uses" names the unknown tool "red"; did you mean "read_file"?'],
    [{ mayUses: [] }, 'has an unknown field "mayUses"; did you mean "mayUse"?'],
    [{ annotations: { readOnlyhint: true } }, 'has an unknown field "readOnlyhint"; did you mean "readOnlyHint"?'],
    [{ annotations: { readOnlyHint: 'yes' } }, '"readOnlyHint" must be true or false'],
    [
      { annotations: { readOnlyHint: true }, mayUse: ['write_file'] },
      '"readOnlyHint" is true, but it uses write_file, which changes files',
    ],
  ])('gets a TypeError for %j', async (parts, message) => {
    const created = open({}, { dialect: broken(parts) })
    await expect(created).rejects.toThrow(TypeError)
    await expect(open({}, { dialect: broken(parts) })).rejects.toThrow(message)
  })

  it.each([
    [{ format: 1 }, 'The dialect "shouting" has an unknown field "format"'],
    [{ formatErorr: () => ({ output: '' }) }, 'unknown field "formatErorr"; did you mean "formatError"?'],
    [{ hint: {} }, 'unknown field "hint"; did you mean "hints"?'],
    [{ versions: 'yes' }, '"versions" must be true or false'],
    [{ hints: { WRITE_CONFLIT: 'Read.' } }, 'unknown field "WRITE_CONFLIT"; did you mean "WRITE_CONFLICT"?'],
    [{ hints: { write_conflict: 'Read.' } }, 'unknown field "write_conflict"; did you mean "WRITE_CONFLICT"?'],
    [{ hints: { WRITE_CONFLICT: 7 } }, '"WRITE_CONFLICT" must be a string'],
    [{ fields: { oldTxt: 'old' } }, 'unknown field "oldTxt"; did you mean "oldText"?'],
    [{ fields: { old_text: 'old' } }, 'unknown field "old_text"; did you mean "oldText"?'],
    [{ fields: { nothingLikeThat: 'old' } }, 'unknown field "nothingLikeThat"'],
    [{ fields: { oldText: true } }, '"oldText" must be a string'],
    [{ tools: [...shouting().tools, ...shouting().tools] }, 'Two tools of the dialect "shouting" have the name "CAT"'],
    [{ tools: shouting().tools.map((tool) => ({ ...tool, formerNames: ['SHOW'] })) }, 'have the name "SHOW"'],
    [{ tools: shouting().tools.map((tool) => ({ ...tool, formerNames: ['CAT'] })) }, 'have the name "CAT"'],
    [{ pathMapping: undefined }, '"pathMapping"'],
    [{ pathMapping: { '/work': '' } }, 'createPathMapping()'],
    [{ formatError: undefined }, '"formatError"'],
    [{ tools: undefined }, '"tools"'],
  ])('gets a TypeError for a dialect with %j', async (parts, message) => {
    const created = open({}, { dialect: { ...shouting(), ...parts } as Dialect })
    await expect(created).rejects.toThrow(TypeError)
    await expect(open({}, { dialect: { ...shouting(), ...parts } as Dialect })).rejects.toThrow(message)
  })

  it('can name tools and fields of another workspace', async () => {
    for (const name of ['greet', 'send', 'translate']) {
      for (const field of ['uses', 'mayUse']) {
        const dialect = { ...broken({ [field]: [name] }), fields: { recipient: 'to' } }
        await expect(open({}, { dialect })).resolves.toBeDefined()
      }
    }
  })

  it('gets an answer if formatError throws for every input', async () => {
    const fault = new Error('/secret/physical/path')
    const formats = [
      () => {
        throw fault
      },
      () => undefined as never,
      () => ({ output: 1n }),
    ]
    for (const formatError of formats) {
      const workspace = await open({ 'a.txt': 'a' }, { dialect: { ...shouting(), formatError } })
      for (const [name, input] of [
        ['CAT', { path: '/w/none.txt' }],
        ['CAT', { pth: 1 }],
        ['BREAK', { path: '/w/a.txt' }],
        ['NONE', {}],
      ] as const) {
        const { isError, output, failure } = await workspace.call(name, input)
        expect(isError).toBe(true)
        expect(output).toBe(`Error ${failure?.code}: ${failure?.message}\n${failure?.hint}`)
        expect(failure?.cause).toBeInstanceOf(Error)
        expect(JSON.stringify([output, failure])).not.toContain('physical')
      }
    }
  })

  it.each([
    [[], 'read_file'],
    [['file_info'], 'read_file'],
  ])('with uses: %j cannot call %s', async (uses, tool) => {
    const workspace = await open({ 'a.txt': 'a' }, { dialect: broken({ uses }) })
    const { isError, failure } = await workspace.call('CAT', { path: '/w/a.txt' })
    expect(isError).toBe(true)
    expect(failure?.message).toBe('The dialect failed in its tool CAT (TypeError)')
    expect(String(failure?.cause)).toContain(`calls "${tool}", which neither its "uses" nor its "mayUse" name`)
  })

  it('finds the exception of a tool in the cause, and nothing of it in the text', async () => {
    const workspace = await open({ 'a.txt': 'a' }, { dialect: shouting() })
    const { output, failure } = await workspace.call('BREAK', { path: '/w/a.txt' })
    expect(failure?.message).toBe('The dialect failed in its tool BREAK (Error)')
    expect(failure?.cause).toMatchObject({ message: '/secret/physical/path' })
    expect(JSON.stringify([output, failure])).not.toContain('physical')
  })
})

describe('virtual roots', () => {
  it('map only prefixes', () => {
    const place = createPathMapping({ '/workspace': '', '/data': 'stores/data' })
    expect(place.roots).toEqual(['/workspace', '/data'])
    const inward: Record<string, string> = {
      '/workspace': '.',
      '/workspace/': '.',
      '/workspace//src/a.ts': 'src/a.ts',
      '/workspace/../etc': '../etc',
      '/workspaces/a': '/workspaces/a',
      '/data': 'stores/data',
      '/data/': 'stores/data',
      '/data/x/../y': 'stores/data/y',
      '/data/../../src': '../../src',
      '/data/..': '..',
      '/etc/passwd': '/etc/passwd',
      'src/a.ts': 'src/a.ts',
      '~/a': '~/a',
    }
    for (const [input, expected] of Object.entries(inward)) expect(place.inward(input), input).toBe(expected)
    expect(['.', '', 'src', 'stores', 'stores/data', 'stores/data/x'].map(place.outward)).toEqual([
      '/workspace',
      '/workspace',
      '/workspace/src',
      '/workspace/stores',
      '/data',
      '/data/x',
    ])
    expect(place.outward('artifact://run/a.diff')).toBe('artifact://run/a.diff')
    expect(createPathMapping().outward('')).toBe('.')
    expect(createPathMapping({ '/data': 'data' }).outward('src')).toBe('src')
    expect(createPathMapping({ '/': '' }).inward('/src/a')).toBe('src/a')
    expect(createPathMapping({ '/': '' }).outward('src/a')).toBe('/src/a')
  })

  it.each([
    [{ '/w/': '' }, 'write "/w"'],
    [{ '/w//x': '' }, 'write "/w/x"'],
    [{ '/w/./x': '' }, 'write "/w/x"'],
    [{ '/w/../x': '' }, 'write "/x"'],
    [{ '/w': '/src' }, 'write "src", relative to its root'],
    [{ '/w ': '' }, 'without a space at its end'],
    [{ '/*': '' }, 'a name without *'],
  ])('say what to write: %j', (roots, message) => {
    expect(() => createPathMapping(roots as unknown as Record<string, string>)).toThrow(message)
  })

  it('must be absolute, and name a directory of the workspace', () => {
    for (const roots of [{ workspace: '' }, { '/w/': '' }, { '/w/../x': '' }, { '/..': '' }]) {
      expect(() => createPathMapping(roots as unknown as Record<string, string>)).toThrow('is not an absolute path')
    }
    for (const directory of ['..', '/etc', 'a\\b']) {
      expect(() => createPathMapping({ '/w': directory })).toThrow('does not name a directory of the workspace')
    }
  })
})
