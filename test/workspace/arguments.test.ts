import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { Volume } from 'memfs'
import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import * as acp from '../../src/adapters/acp/index.ts'
import * as aiSdk from '../../src/adapters/ai-sdk/index.ts'
import * as deepagents from '../../src/adapters/deepagents/index.ts'
import * as jsonSchema from '../../src/adapters/json-schema/index.ts'
import * as justBash from '../../src/adapters/just-bash/index.ts'
import * as langchain from '../../src/adapters/langchain/index.ts'
import * as mastra from '../../src/adapters/mastra/index.ts'
import * as mcp from '../../src/adapters/mcp/index.ts'
import * as mcpHttp from '../../src/adapters/mcp-http/index.ts'
import * as mcpRoots from '../../src/adapters/mcp-roots/index.ts'
import * as openAiAgents from '../../src/adapters/openai-agents/index.ts'
import * as webmcp from '../../src/adapters/webmcp/index.ts'
import * as audit from '../../src/audit/index.ts'
import * as jsonl from '../../src/audit/jsonl-sink.ts'
import * as directoryHandle from '../../src/backends/directory-handle/index.ts'
import * as durableObject from '../../src/backends/durable-object/index.ts'
import * as indexedDb from '../../src/backends/indexeddb/index.ts'
import * as memfs from '../../src/backends/memfs/index.ts'
import * as memory from '../../src/backends/memory/index.ts'
import * as node from '../../src/backends/node/index.ts'
import * as objectStore from '../../src/backends/object-store/index.ts'
import * as opfs from '../../src/backends/opfs/index.ts'
import * as overlay from '../../src/backends/overlay/index.ts'
import * as sql from '../../src/backends/sql/index.ts'
import * as dialectKit from '../../src/dialects/define.ts'
import { exec } from '../../src/dialects/exec/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import * as git from '../../src/git/index.ts'
import * as root from '../../src/index.ts'
import * as parking from '../../src/policy/directory-parking.ts'
import * as policy from '../../src/policy/index.ts'
import * as shellKit from '../../src/shells/author.ts'
import * as bash from '../../src/shells/bash/index.ts'
import * as nodeShell from '../../src/shells/node/index.ts'
import * as webcontainer from '../../src/shells/webcontainer/index.ts'
import * as backendKit from '../../src/storage/kit.ts'
import * as fixtures from '../../src/testing/fixtures.ts'
import * as testing from '../../src/testing/index.ts'
import * as scriptedModel from '../../src/testing/scripted-model.ts'
import * as toolKit from '../../src/tools/author.ts'
import * as ui from '../../src/ui/index.ts'
import * as execWorkspace from '../../src/workspace/exec-workspace.ts'
import * as replay from '../../src/workspace/replay.ts'
import { nonexistent } from '../nonexistent.ts'

const directory = mkdtempSync(join(tmpdir(), 'wardspace-arguments-'))
const backend = memory.memory({ 'a.txt': 'a\n' })
const workspace = await root.createWorkspace({ backend, policy: 'autonomous' })
const withDialect = await root.createWorkspace({ backend, policy: 'autonomous', dialect: exec(), shell: bash.bash() })
const own = root.defineTool({
  ...{ name: 'own', title: 'Own', description: 'x', permission: 'file:read', mutates: false, idempotent: true },
  ...{ input: z.strictObject({}), output: z.object({}), plan: () => [] },
  draft: async () => ({ summary: 'x', result: () => ({}) }),
} as never)

/** Values that callers confuse or forget, by name. */
const samples = {
  nothing: undefined,
  null: null,
  object: {},
  array: [],
  'a list of null': [null],
  'an object with an unknown field': { unknownField: 1 },
  // Some functions write files below it.
  text: join(directory, 'no-such-name'),
  number: 1.5,
  'negative number': -1,
  boolean: true,
  function: () => undefined,
  symbol: Symbol('x'),
  date: new Date(0),
  workspace,
  tools: workspace.tools,
  tool: own,
  backend,
} as const
type Sample = keyof typeof samples

/** A parameter: a right value, and the samples that are right as well. */
interface Parameter {
  readonly right: unknown
  readonly also: readonly Sample[]
}

const param = (right: unknown, ...also: Sample[]): Parameter => ({ right, also })
const any = param(1, ...(Object.keys(samples) as Sample[]))
/** Options are optional, and all their fields are, too. */
const options = (right: object = {}): Parameter => param(right, 'nothing', 'object')
const anyText = param('a', 'text')
const path = anyText
const dialectOptions = options()
const callback = param(() => undefined, 'function')
const source = param(workspace, 'workspace')
const list = param(workspace.tools, 'tools', 'array')
const anyBackend = param(backend, 'backend')
const changes = param([], 'array')
const files = param({ 'a.txt': 'a' }, 'object')
const numbers = ['number', 'negative number'] as const
const matching = { contextLines: 0, maxMatches: 1, snippetUnits: 9 }
const query = { query: 'a', mode: 'literal', caseSensitive: true } as const
const state = param(null, 'null')
const line = { type: 'workspace', version: 1 }
const bytes = param(new Uint8Array())
const range = param({ startLine: 1, maxLines: 1 })
const iterable = param([], 'array')
const handle = { kind: 'directory', queryPermission: async () => 'granted' }
const bucket = { get: () => {}, put: () => {}, delete: () => {}, list: () => {} }
const unlisted = {
  ...bucket,
  list: () => {
    throw new Error('No list')
  },
}
const objects: readonly Sample[] = [
  ...(['object', 'array', 'a list of null', 'an object with an unknown field', 'date'] as const),
  ...(['workspace', 'tools', 'tool', 'backend'] as const),
]
const anyObject = param({}, ...objects)

type FunctionNames<M> = { [K in keyof M]: M[K] extends (...args: never[]) => unknown ? K : never }[keyof M]

interface Row {
  readonly name: string
  readonly act: (...args: unknown[]) => unknown
  readonly parameters: readonly Parameter[]
}

/** The functions of a subpath with their parameters. Does not compile unless it has a row for each. */
function rowsOf<M extends object>(
  subpath: string,
  exports: M,
  table: { readonly [K in FunctionNames<M>]: readonly Parameter[] },
): readonly Row[] {
  return Object.entries<readonly Parameter[]>(table).map(([name, parameters]) => ({
    name: `${subpath} ${name}`,
    act: (...args) => (exports as Record<string, (...args: unknown[]) => unknown>)[name]?.(...args),
    parameters,
  }))
}

const skipped = [] as readonly Parameter[]

const rows: readonly Row[] = [
  ...rowsOf('wardspace', root, {
    createWorkspace: [param({ backend, policy: 'autonomous' })],
    defineTool: [any],
    mounts: [param({ '': backend })],
    parsePath: [anyText],
    readOnly: [anyBackend],
  } as never),
  ...rowsOf('audit', audit, {
    callbackSink: [callback],
    memorySink: skipped,
    reportMarkdown: [param(await workspace.report()), param(workspace.verifyAudit(), 'nothing')],
    reportRuns: [iterable],
    shaMap: [iterable],
    spanSink: [param({ startSpan: () => {} })],
    verifyAudit: [param([], 'array', 'a list of null', 'tools'), options()],
  }),
  ...rowsOf('evidence/jsonl-sink', jsonl, {
    jsonlSink: [param(`${nonexistent}/a.jsonl`, 'text')],
    readAuditFile: [param(`${nonexistent}/a.jsonl`, 'text')],
    verifyAuditFile: [param(`${nonexistent}/a.jsonl`, 'text'), options()],
  } as never),
  ...rowsOf('evidence/directory-parking', parking, { directoryParking: [param(join(directory, 'parked'), 'text')] }),
  ...rowsOf('policy', policy, {
    lintPolicy: [param('autonomous', 'object'), options()],
  } as never),
  ...rowsOf('replay', replay, {
    parseRecording: [param('')],
    replay: [param([line, { type: 'run', run: {} }]), param({ backend })],
  }),
  ...rowsOf('backend', backendKit, {
    ancestorsOf: [path],
    applyOrder: [changes],
    canonical: [anyBackend, path, options()],
    canonicalSync: [callback, path, any],
    checkChangeSet: [changes, param({ at: () => undefined, names: () => [] })],
    childOf: [path, path],
    createSerialQueue: skipped,
    createSha256: skipped,
    display: [path],
    hashBytes: [changes],
    isWithin: [path, path],
    linkTarget: [path, path],
    loadStoredTree: [changes, callback, callback],
    nameOf: [path],
    parentOf: [path],
    parsePath: [path],
    planStoredCommit: [
      changes,
      param({ tree: { at: () => {}, names: () => [] }, hashes: new Map(), tag: () => 't', content: () => 1, at: 0 }),
    ],
    quote: [path],
    rangeOf: [path, param(undefined, 'nothing', ...objects), param({ size: 1, tag: 't' }, ...objects), callback],
    sameState: [state, state, param({ modes: true })],
    sameVersion: [state, state],
    sha256: [bytes],
    sha256Async: [bytes],
    stateAt: [anyBackend, path],
    storageError: [anyText, path, any],
    throwIfAborted: [param(undefined, 'nothing')],
    validateChanges: [changes],
    versionAt: [anyBackend, path],
    versionOf: [state],
    wrongType: [anyText, path, callback],
    wrongTypeAt: [anyText, path, callback],
    yieldToEventLoop: skipped,
  } as never),
  ...rowsOf('backends/memory', memory, { memory: [param({}, 'object', 'nothing'), options()] } as never),
  ...rowsOf('backends/memfs', memfs, { memfs: [param(new Volume()), options()] }),
  ...rowsOf('backends/node', node, { nodeBackend: [param(nonexistent, 'text'), options()] } as never),
  ...rowsOf('backends/overlay', overlay, {
    isOverlay: [anyObject],
    overlay: [anyBackend, param(undefined, 'nothing', 'backend'), options()],
  } as never),
  ...rowsOf('backends/opfs', opfs, { opfs: [options()] } as never),
  ...rowsOf('backends/directory-handle', directoryHandle, {
    askPermission: [param(handle)],
    directoryHandle: [param(handle), options()],
    permissionOf: [param(handle)],
  } as never),
  ...rowsOf('backends/durable-object', durableObject, { durableObject: [param({}), options()] } as never),
  ...rowsOf('backends/object-store', objectStore, {
    objectStore: [param(bucket), options()],
    r2: [param(bucket)],
    s3: [param({})],
    sweep: [param(unlisted), options()],
  } as never),
  ...rowsOf('backends/sql', sql, {
    postgres: [param({ query: () => {} })],
    sqlDatabase: [param(sql.sqlite(new Database(':memory:'))), options()],
    sqlite: [param({ exec: () => {}, prepare: () => {} })],
  } as never),
  ...rowsOf('backends/indexeddb', indexedDb, { indexedDb: [param('a', 'text'), options()] } as never),
  ...rowsOf('tool', toolKit, {
    compileGlob: [anyText, options()],
    compileQuery: [param(query)],
    defineTool: [any],
    diffLines: [anyText, anyText],
    findMatches: [param(toolKit.compileQuery(query)), bytes, param(matching)],
    mergeLines: [anyText, anyText, anyText, param({ ours: 'ours', theirs: 'theirs' })],
    redact: [anyText],
  }),
  ...rowsOf('dialect', dialectKit, {
    call: [path, any],
    callHidden: [path, any],
    callNarrowed: [path, any],
    callTool: [path, any],
    compileGlob: [anyText, options()],
    compileQuery: [param(query)],
    createPathMapping: [options()],
    defineDialectTool: [anyObject],
    fieldsOf: [any],
    findEntries: [path, anyText, param([], 'array')],
    findMatches: [param(toolKit.compileQuery(query)), bytes, param(matching)],
    formatCommandOutput: [param({ stdout: '', stderr: '' })],
    formatNearestPassage: [anyObject],
    isDialectResult: [any],
    lastShownVersion: [path],
    listAll: [path],
    listTree: [path, callback],
    narrowInput: [path, any],
    newLinesOf: [anyText],
    numberLines: [param([], 'array'), param(1, 'negative number')],
    readBetween: [path],
    readLines: [path, range],
    readPart: [path, range],
    readWhole: [path],
    refuseUnused: [anyText, param({}, ...objects)],
    renamedFields: [any, param({}, ...objects)],
    splitLines: [anyText],
    strictGlob: [anyText],
    toDialectError: [
      param({ pathMapping: dialectKit.createPathMapping() }),
      anyText,
      param({ ok: false, message: '', code: 'NOT_FOUND', hint: '' }),
    ],
    tryCall: [path, any],
    trySteps: [param([][Symbol.iterator]())],
  } as never),
  ...Object.entries(dialects).flatMap(([name, dialect]) =>
    rowsOf(`dialects/${name}`, { dialect }, { dialect: [dialectOptions] } as never),
  ),
  ...rowsOf('dialects/exec-workspace', execWorkspace, {
    execWorkspace: [param({ shell: bash.bash() }, 'nothing', 'object')],
    joinTools: [param(withDialect, 'workspace'), param(workspace, 'workspace')],
  } as never),
  ...rowsOf('shell', shellKit, {
    analyzeCommand: [anyText, param({}, 'object'), options()],
    applyChanges: [param({ stat: () => {}, write: () => {}, remove: () => {} }), changes],
    createLineAnalyzer: [options()],
    createLineProcess: [anyText, callback],
    createOutputTail: [param(1), param(undefined, 'nothing', 'function')],
    createRunningCommands: skipped,
  } as never),
  ...rowsOf('shells/bash', bash, { bash: [options()] } as never),
  ...rowsOf('shells/node', nodeShell, { nodeShell: [param({ root: nonexistent })] } as never),
  ...rowsOf('shells/webcontainer', webcontainer, { webcontainer: [options()] } as never),
  ...rowsOf('testing', testing, {
    backendContract: [param({ name: 'x', create: () => ({ backend }) })],
    countedIds: [param('id-', 'nothing', 'text')],
    faulty: [anyBackend, param([], 'nothing', 'array', 'object'), options()],
    readOnlyContract: [param({ name: 'x', create: () => ({ backend }) })],
    registerContract: [anyText, param([], 'array'), param({ describe: () => {}, it: () => {} })],
    shellContract: [param({ name: 'x', create: () => ({ shell: bash.bash() }) })],
    testClock: [param(0, 'nothing', ...numbers)],
    testWorkspace: [param({}, 'object', 'nothing'), options()],
  }),
  ...rowsOf('testing/fixtures', fixtures, {
    recordFixture: [param(join(directory, 'a.jsonl'), 'text'), files, callback, options({ record: 'always' })],
    replayFixture: [param(nonexistent, 'text'), files, options()],
  }),
  ...rowsOf('testing/scripted-model', scriptedModel, {
    call: [anyText, anyText, any],
    calls: [anyText, param({ name: 'x', input: {} })],
    say: [anyText],
    scriptedModel: [callback, options()],
  } as never),
  ...rowsOf('git', git, {
    git: [options()],
    openRepository: [param({ backend, mayRead: () => true, change: () => {} }), options()],
  } as never),
  ...rowsOf('mcp', mcp, { createMcpServer: [source, options()] } as never),
  ...rowsOf('mcp-roots', mcpRoots, { placeClientRoots: [param([], 'array'), param(undefined, 'nothing', 'array')] }),
  ...rowsOf('mcp-http', mcpHttp, { mcpHandler: [param({ open: () => {} })] } as never),
  ...rowsOf('ai-sdk', aiSdk, { aiSdkSandbox: [source, options()], aiSdkTools: [source, options()] } as never),
  ...rowsOf('json-schema', jsonSchema, {
    anthropicTools: [source, options()],
    geminiTools: [source, options()],
    llamaIndexTools: [source, options()],
    modelTools: [list],
    nativeTools: [list, param('openai')],
    openAiChatTools: [source, options()],
    openAiTools: [source, options()],
    toJsonSchema: [list],
    toModelText: [anyText, param({ ok: false, code: 'NOT_FOUND', message: '', hint: '' })],
  }),
  ...rowsOf('langchain', langchain, { langchainTools: [source, options()] } as never),
  ...rowsOf('mastra', mastra, {
    mastraFilesystem: [source, options({ FileNotFoundError: Error })],
    mastraSandbox: [source, options()],
    mastraTools: [source, options()],
  }),
  ...rowsOf('deepagents', deepagents, {
    deepagentsBackend: [source, options()],
    deepagentsSandbox: [source, options()],
  }),
  ...rowsOf('openai-agents', openAiAgents, { openAiEditor: [source, options()], openAiShell: [source, options()] }),
  ...rowsOf('acp', acp, { acpClient: [source, options({ RequestError: Error, permission: () => {} })] } as never),
  ...rowsOf('just-bash', justBash, { bashToolSandbox: [source, options()], justBashFs: [source, options()] }),
  ...rowsOf('webmcp', webmcp, { hasWebTools: skipped, registerWebTools: [source, options()] } as never),
  ...rowsOf('ui', ui, {
    createApprovals: [options()],
    createChanges: [param({ workspace })],
    createConversation: [param({ respond: async () => {} })],
    createEditor: [param({ workspace })],
    createFiles: [param({ workspace })],
    createHistory: [source],
    createPolicyEditor: [param({ policy: 'readOnly', onApply: () => {} })],
    createTerminal: [param({ workspace })],
    createTimeline: [param([], 'nothing', 'array', 'tools')],
    createTrackedCall: [callback, param({ timeline: ui.createTimeline() })],
    trackCalls: [source, param({ timeline: ui.createTimeline() })],
  } as never),
  ...rowsOf('workspace', workspace, { subscribe: [callback] } as never),
]

/** Messages that JavaScript, Node or zod write, which name no argument. */
const raw =
  /Cannot (read prop|set|destructure|convert|access)|Cannot use 'in'|is not a function|is not iterable|is not a constructor|must be of type|instance of Buffer|called on|incompatible receiver|Reflect\.|undefined \(|Right-hand side|Illegal|is not defined|invalid_type/

/** Calls a function, and the generator that it may return. */
async function outcomeOf({ act }: Row, args: readonly unknown[]): Promise<'accepted' | 'refused' | string> {
  try {
    const result = (await act(...args)) as { next?: () => unknown; close?: () => unknown } | undefined
    if (typeof result?.next === 'function') result.next()
    return 'accepted'
  } catch (error) {
    const { name, message } = error as Error
    if (!(error instanceof TypeError || name === 'ToolError' || error instanceof Error) || raw.test(message)) {
      return `raw: ${message}`
    }
    return 'refused'
  }
}

afterAll(async () => {
  await workspace.close()
  await withDialect.close()
  rmSync(directory, { recursive: true, force: true })
})

let cases = 0
const accepted: string[] = []
const rawMessages: string[] = []

describe('the arguments of exported functions', () => {
  it.each(rows.filter(({ parameters }) => parameters.length > 0))('of $name are checked', async (row) => {
    const { name, parameters } = row
    const right = parameters.map((parameter) => parameter.right)
    const wrong: string[] = []
    for (const [at, { also }] of parameters.entries()) {
      for (const [sample, value] of Object.entries(samples)) {
        cases += 1
        const outcome = await outcomeOf(row, right.with(at, value))
        const label = `${name}, argument ${at + 1}: ${sample}`
        if (outcome.startsWith('raw')) rawMessages.push(`${label} ${outcome}`)
        else if (outcome === 'accepted' && !also.includes(sample as Sample)) accepted.push(label)
        else continue
        wrong.push(`${label}: ${outcome}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('are those of every function', () => {
    console.log(`wrong arguments: ${cases}, accepted: ${accepted.length}, raw messages: ${rawMessages.length}`)
    expect(cases).toBeGreaterThan(3000)
  })
})
