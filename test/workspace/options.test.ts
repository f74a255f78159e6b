import fc from 'fast-check'
import Database from 'libsql'
import { Volume } from 'memfs'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { type AcpOptions, acpClient } from '../../src/adapters/acp/index.ts'
import { type AiSdkOptions, aiSdkSandbox, aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import { deepagentsBackend, deepagentsSandbox } from '../../src/adapters/deepagents/index.ts'
import { createFs, type FsOptions } from '../../src/adapters/fs/index.ts'
import {
  type AnthropicOptions,
  anthropicTools,
  type GeminiOptions,
  geminiTools,
  llamaIndexTools,
  type OfferOptions,
  type OpenAiAgentOptions,
  type OpenAiOptions,
  openAiChatTools,
  openAiTools,
} from '../../src/adapters/json-schema/index.ts'
import { bashToolSandbox, justBashFs } from '../../src/adapters/just-bash/index.ts'
import { type LangChainOptions, langchainTools } from '../../src/adapters/langchain/index.ts'
import {
  type AgentToolOptions,
  type MastraFilesystemOptions,
  mastraFilesystem,
  mastraSandbox,
  mastraTools,
} from '../../src/adapters/mastra/index.ts'
import { createMcpServer, type McpServerOptions } from '../../src/adapters/mcp/index.ts'
import { type McpHandlerOptions, mcpHandler } from '../../src/adapters/mcp-http/index.ts'
import { openAiEditor, openAiShell } from '../../src/adapters/openai-agents/index.ts'
import type { SandboxOptions } from '../../src/adapters/sandbox/target.ts'
import { registerWebTools, type WebToolsOptions } from '../../src/adapters/webmcp/index.ts'
import { type VerifyOptions, verifyAudit } from '../../src/audit/index.ts'
import { type JsonlSinkOptions, jsonlSink, verifyAuditFile } from '../../src/audit/jsonl-sink.ts'
import { type DirectoryHandleOptions, directoryHandle } from '../../src/backends/directory-handle/index.ts'
import { type DurableObjectOptions, durableObject } from '../../src/backends/durable-object/index.ts'
import { type IndexedDbOptions, indexedDb } from '../../src/backends/indexeddb/index.ts'
import {
  type GithubOptions,
  github,
  type HttpIndexOptions,
  httpIndex,
  type LazyOptions,
  lazy,
  type ZipOptions,
  zip,
} from '../../src/backends/lazy/index.ts'
import { type MemfsOptions, memfs } from '../../src/backends/memfs/index.ts'
import { type MemoryOptions, memory } from '../../src/backends/memory/index.ts'
import { type NodeOptions, nodeBackend } from '../../src/backends/node/index.ts'
import {
  type ObjectStoreOptions,
  objectStore,
  type S3Options,
  type SweepOptions,
  s3,
  sweep,
} from '../../src/backends/object-store/index.ts'
import { type OpfsOptions, opfs } from '../../src/backends/opfs/index.ts'
import { type OverlayOptions, overlay } from '../../src/backends/overlay/index.ts'
import { type SqlDatabaseOptions, sqlDatabase, sqlite } from '../../src/backends/sql/index.ts'
import type { CallOptions } from '../../src/call/state/call.ts'
import { type JsonCheckOptions, json } from '../../src/checks/index.ts'
import { codex } from '../../src/dialects/codex/index.ts'
import { deepagents } from '../../src/dialects/deepagents/index.ts'
import {
  type CredentialsSource,
  git,
  openRepository,
  type Person,
  type RemoteOptions,
  type Repository,
} from '../../src/git/index.ts'
import {
  createWorkspace,
  type DialectWorkspaceOptions,
  type RunOptions,
  type UndoOptions,
  type Workspace,
} from '../../src/index.ts'
import { defaultLimits } from '../../src/limits.ts'
import { type LintOptions, lintPolicy } from '../../src/policy/index.ts'
import { type AnalyzeOptions, analyzeCommand, createLineAnalyzer } from '../../src/shells/author.ts'
import { type BashOptions, bash } from '../../src/shells/bash/index.ts'
import { type NodeShellOptions, nodeShell } from '../../src/shells/node/index.ts'
import type { LineAnalyzerOptions } from '../../src/shells/shared/line-judge.ts'
import { type WebContainerOptions, webcontainer } from '../../src/shells/webcontainer/index.ts'
import { type CanonicalOptions, canonical } from '../../src/storage/kit.ts'
import { type FixtureOptions, recordFixture } from '../../src/testing/fixtures.ts'
import { type FaultOptions, faulty, type TestWorkspaceOptions, testWorkspace } from '../../src/testing/index.ts'
import { type ScriptedModelOptions, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  compileGlob,
  compileQuery,
  findMatches,
  type GlobOptions,
  type MatchOptions,
  type QueryInput,
} from '../../src/tools/author.ts'
import * as ui from '../../src/ui/index.ts'
import { type CoreWorkspaceOptions, createWorkspace as createCore } from '../../src/workspace/core.ts'
import { type ExecWorkspaceOptions, execWorkspace } from '../../src/workspace/exec-workspace.ts'
import type { FileOptions, WorkspaceFiles } from '../../src/workspace/files.ts'
import { type ReplayOptions, replay } from '../../src/workspace/replay.ts'
import type { OperationOptions } from '../../src/workspace/types.ts'
import { times } from '../counts.ts'
import { nonexistent } from '../nonexistent.ts'

/** With `CI` in the environment, a missing fixture is an error before anything is recorded. */
async function recordWithoutCi(options: FixtureOptions): Promise<unknown> {
  vi.stubEnv('CI', '')
  try {
    return await recordFixture(`${nonexistent}/a`, {}, async () => {}, options)
  } finally {
    vi.unstubAllEnvs()
  }
}

/** Wrong values of every type. */
const samples: readonly unknown[] = [
  ...[null, true, false, '', 'x', 0, 1, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 10n, Symbol('s')],
  ...[{}, { a: 1 }, [], [null], [{}], [1], ['x'], () => undefined, new Map(), new Date(0)],
]

/** Whether a value is valid for an option. All other sample values must be refused. */
type Kind = (value: unknown) => boolean

const flag: Kind = (value) => typeof value === 'boolean'
const text: Kind = (value) => typeof value === 'string'
const callback: Kind = (value) => typeof value === 'function'
const positive: Kind = (value) => Number.isSafeInteger(value) && (value as number) > 0
const none: Kind = () => false
const texts: Kind = (value) => Array.isArray(value) && value.every(text)
/** An object whose fields are all optional. Includes instances of classes without own fields. */
const empty: Kind = (value) => Object.prototype.toString.call(value) === '[object Object]' && same(value, {})
const handlers: Kind = (value) => callback(value) || (Array.isArray(value) && value.every(callback))
const objects: Kind = (value) => Array.isArray(value) && value.length === 0
const textRecord: Kind = empty

function same(value: unknown, other: unknown): boolean {
  return typeof value !== 'bigint' && JSON.stringify(value) === JSON.stringify(other)
}

type Kinds<T> = { readonly [K in keyof T]-?: Kind | Kinds<unknown> }

interface Face {
  readonly name: string
  readonly kinds: Readonly<Record<string, Kind | object>>
  readonly open: (options: never) => unknown
}

/** A public function with its options. The table does not compile unless it has a row for each option. */
function face<T>(name: string, open: (options: T) => unknown, kinds: Kinds<T>): Face {
  return { name, kinds: kinds as Face['kinds'], open }
}

const limitKinds = Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, positive]))
const runKinds: Kinds<RunOptions> = {
  id: (value) => value === 'x',
  actor: text,
  task: { text, scope: (value: unknown) => same(value, []) || same(value, ['x']), risk: text },
  scopes: texts,
  taint: { label: none, callId: text, tool: text, path: text },
  plan: { text, paths: texts },
}
const workspaceKinds: Kinds<DialectWorkspaceOptions> = {
  backend: none,
  mounts: none,
  policy: empty,
  tools: none,
  extraTools: objects,
  readOnly: flag,
  mode: none,
  limits: limitKinds,
  approve: callback,
  parked: none,
  hooks: { preToolCall: handlers, postToolResponse: handlers },
  checks: objects,
  audit: objects,
  artifacts: none,
  staleGuard: none,
  git: none,
  shell: none,
  keepCwd: flag,
  record: callback,
  clock: callback,
  ids: callback,
  run: runKinds as Kinds<unknown>,
  history: none,
  dialect: none,
}
const patterns: Kind = (value) => text(value) || texts(value)
const offer: Kinds<OfferOptions> = { run: none, tools: none, approve: callback }
const media: Kind = (value) => flag(value) || same(value, [])
/** Who asks for approvals, and the media. */
const asked = { results: none, approvals: none, onPending: none, media }
const operationKinds: Kinds<OperationOptions> = { signal: none, approve: callback, step: text }
const callKinds: Kinds<CallOptions> = { ...operationKinds, media, onProgress: callback }
const fileKinds: Kinds<FileOptions> = { signal: none, approve: callback, step: text }
const { backend, mounts, shell, hooks, checks, git: gitKind, history, extraTools, dialect } = workspaceKinds
const { mounts: _, ...execKinds } = workspaceKinds

const workspace: Workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous' })
const repository: Repository =
  (await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', git: git() })).git ??
  expect.unreachable()
const { backend: ___, mounts: ____, ...testKinds } = workspaceKinds
const { clock: _____, ...fixtureKinds } = testKinds
const size: Kind = (value) => typeof value === 'number' && value >= 0
const matching = { contextLines: 0, maxMatches: 1, snippetUnits: 9 }
const anyQuery = compileQuery({ query: 'a', mode: 'literal', caseSensitive: true })
const store = { get: none, put: none, delete: none, list: none } as never
const line = { type: 'workspace', version: 1 } as never
const gitHost = { backend: memory(), mayRead: () => true, change: async () => {} } as never

/** Valid options, to which each case adds one. */
const base = { backend: memory(), policy: 'autonomous' } as const

/** The options of `wardspace/core`. Its tools are tried in core.test.ts. */
const { dialect: _dialect, tools: _tools, ...coreKinds } = workspaceKinds

const faces: readonly Face[] = [
  face<DialectWorkspaceOptions>(
    'createWorkspace()',
    (options) => createWorkspace({ ...base, ...options }),
    workspaceKinds,
  ),
  face<Omit<CoreWorkspaceOptions, 'tools'>>(
    'createWorkspace()',
    (options) => createCore({ ...base, ...options }),
    coreKinds,
  ),
  face<RunOptions>('run()', (options) => workspace.run(options), runKinds),
  face<RunOptions>('fork()', (options) => workspace.fork(options), runKinds),
  face<{ by?: string }>('approvePlan()', (options) => workspace.approvePlan(options), { by: text }),
  face<ExecWorkspaceOptions>('execWorkspace()', (options) => execWorkspace({ ...{ shell: bash() }, ...options }), {
    ...execKinds,
    files: textRecord,
  }),
  face<ReplayOptions>(
    'replay()',
    (options) => replay([line, { type: 'run' } as never], { backend: memory(), ...options }),
    {
      ...{ backend, mounts, shell, hooks, checks, git: gitKind, history, extraTools, dialect },
    },
  ),
  face<JsonCheckOptions>('json()', json, { name: text, files: patterns, timeoutMs: positive, jsonc: patterns }),
  face<MemoryOptions>('memory()', (options) => memory({}, options), { clock: callback }),
  face<MemfsOptions>('memfs()', (options) => memfs(new Volume(), options), { root: none }),
  face<NodeOptions>('nodeBackend()', (options) => nodeBackend(nonexistent, options), {
    ...{ stateDir: none, lockTimeoutMs: none, grounding: none },
  }),
  face<LazyOptions>('lazy()', (options) => lazy(zip(new Uint8Array(22)), options), {
    ...{ cacheBytes: positive, concurrency: positive, timeoutMs: positive, signal: none },
  }),
  face<GithubOptions>('github()', (options) => github('octocat/hello-world', options), {
    ...{ ref: (value: unknown) => value === 'x', token: (value: unknown) => value === 'x', api: none, fetch: callback },
  }),
  face<HttpIndexOptions>('httpIndex()', (options) => httpIndex('https://example.org/index.json', options), {
    fetch: callback,
  }),
  face<ZipOptions>('zip()', (options) => zip(new Uint8Array(22), options), { fetch: callback }),
  face<OpfsOptions>('opfs()', opfs, {
    ...{ name: text, layout: none, access: none, worker: callback, persist: flag },
    ...{ lockTimeoutMs: positive, maxBytes: positive, clock: callback, onChange: callback },
  }),
  face<DirectoryHandleOptions>('directoryHandle()', (options) => directoryHandle({} as never, options), {
    ...{ caseSensitive: none, lockTimeoutMs: none, onChange: none },
  }),
  face<DurableObjectOptions>('durableObject()', (options) => durableObject(durableStorage(), options), {
    clock: callback,
  }),
  face<ObjectStoreOptions>('objectStore()', (options) => objectStore(store, options), {
    prefix: (value) => value === 'x',
    clock: callback,
  }),
  face<SqlDatabaseOptions>('sqlDatabase()', (options) => sqlDatabase(sqlite(new Database(':memory:')), options), {
    prefix: (value) => value === 'x' || value === 'a',
    clock: callback,
  }),
  face<IndexedDbOptions>('indexedDb()', (options) => indexedDb('a', options), { factory: none, clock: callback }),
  face<S3Options>(
    's3()',
    (options) => s3({ ...{ endpoint: 'https://x', bucket: 'b', fetch: none as never }, ...options }),
    {
      ...{ endpoint: none, bucket: (value: unknown) => value === 'x', fetch: callback, timeoutMs: positive },
    },
  ),
  face<SweepOptions>('sweep()', (options) => sweep(store, options), { prefix: none, olderThanMs: none, clock: none }),
  face<OverlayOptions>('overlay()', (options) => overlay(memory(), undefined, options), { closesLower: flag }),
  face<BashOptions>('bash()', bash, {
    root: none,
    random: callback,
    env: textRecord,
    commands: textRecord,
    worker: (value) => value === false || callback(value),
  }),
  face<NodeShellOptions>(
    'nodeShell()',
    (options) => nodeShell({ ...{ root: nonexistent, sandbox: 'none' }, ...options } as NodeShellOptions),
    {
      ...{ root: none, stateDir: none, sandbox: none, readable: none, shell: none, env: none },
      ...{ graceMs: none, shadowBytes: none },
    },
  ),
  face<WebContainerOptions>('webcontainer()', webcontainer, {
    fallback: (value) => value === false,
    bootTimeoutMs: positive,
    apiKey: text,
    auth: { clientId: text, scope: text, editorOrigin: text },
    coep: none,
    workdirName: text,
    forwardPreviewErrors: flag,
    previewScript: text,
    env: textRecord,
    terminal: { cols: positive, rows: positive },
    graceMs: positive,
    maxBytes: positive,
    onPort: callback,
  }),
  face<JsonlSinkOptions>('jsonlSink()', (options) => jsonlSink(`${nonexistent}/a.jsonl`, options), {
    ...{ fsync: none, tornTail: none, rotateBytes: none },
  }),
  face<VerifyOptions>('verifyAudit()', (options) => verifyAudit([], options), {
    head: none,
    after: none,
  }),
  face<{ author?: { name: string; email: string } }>('git()', git, { author: { name: text, email: text } }),
  face<AnthropicOptions>('anthropicTools()', (options) => anthropicTools(workspace, options), { ...offer, media }),
  face<GeminiOptions>('geminiTools()', (options) => geminiTools(workspace, options), { ...offer, media }),
  face<LangChainOptions>('langchainTools()', (options) => langchainTools(workspace, options), {
    ...offer,
    media,
    interrupt: callback,
  }),
  face<OfferOptions>('llamaIndexTools()', (options) => llamaIndexTools(workspace, options), offer),
  face<OpenAiAgentOptions>('openAiTools()', (options) => openAiTools(workspace, options), {
    ...{ ...offer, media, strict: flag, approvals: none, onPending: none },
  }),
  face<OpenAiOptions>('openAiChatTools()', (options) => openAiChatTools(workspace, options), {
    ...offer,
    strict: flag,
  }),
  face<AiSdkOptions>('aiSdkTools()', (options) => aiSdkTools(workspace, options), { ...offer, ...asked }),
  face<AgentToolOptions>('mastraTools()', (options) => mastraTools(workspace, options), { ...offer, ...asked }),
  face<WebToolsOptions>('registerWebTools()', (options) => registerWebTools(workspace, options), {
    ...{ run: none, tools: none, approve: none, signal: none },
  }),
  face<McpServerOptions>('createMcpServer()', (options) => createMcpServer(workspace, options), {
    name: text,
    version: text,
    run: none,
    approvalTimeoutMs: positive,
    media,
    roots: { open: callback, timeoutMs: positive },
  }),
  face<McpHandlerOptions>('mcpHandler()', (options) => mcpHandler({ ...{ open: none as never }, ...options }), {
    ...{ token: none, allowedHosts: (value: unknown) => same(value, []) || same(value, ['x']) },
    ...{ allowedOrigins: (value: unknown) => same(value, []), open: callback, maxSessions: positive, idleMs: positive },
    ...{ maxBodyBytes: positive, maxEvents: positive, maxEventBytes: positive, onError: callback },
  }),
]

/** The options of the doors for frameworks. */
const doors: readonly Face[] = [
  face<FsOptions>('createFs()', (options) => createFs(workspace, options), { stream: none }),
  ...Object.entries({ aiSdkSandbox, bashToolSandbox, deepagentsSandbox, mastraSandbox, openAiEditor, openAiShell }).map(
    ([name, open]) =>
      face<SandboxOptions>(`${name}()`, (options) => open(workspace, options), { ...fileKinds, root: none }),
  ),
  ...Object.entries({ deepagentsBackend, justBashFs }).map(([name, open]) =>
    face<FileOptions>(`${name}()`, (options) => open(workspace, options), fileKinds),
  ),
  face<MastraFilesystemOptions>(
    'mastraFilesystem()',
    (options) => mastraFilesystem(workspace, { ...{ FileNotFoundError: Error }, ...options }),
    { ...fileKinds, root: none, FileNotFoundError: none },
  ),
  face<AcpOptions>('acpClient()', (options) => acpClient(workspace, options), {
    ...{ ...fileKinds, root: none, permission: callback, missingFile: none, RequestError: none },
  }),
]

type UiOptions<N extends keyof typeof ui, At extends number> = (typeof ui)[N] extends (...args: infer A) => unknown
  ? NonNullable<A[At]>
  : never
const timeline = ui.createTimeline()
const tracked: Kinds<ui.TrackOptions> = { timeline: none, approvals: none, actor: text, now: callback }

/** The options of the controllers. What they saved is read as data. */
const controllers: readonly Face[] = [
  face<UiOptions<'createApprovals', 0>>('createApprovals()', ui.createApprovals, { now: callback }),
  face<UiOptions<'createChanges', 0>>(
    'createChanges()',
    (options) => ui.createChanges({ ...{ workspace }, ...options }),
    {
      ...{ workspace: none, source: none, saved: () => true, onComments: callback, run: none },
    },
  ),
  face<UiOptions<'createConversation', 0>>(
    'createConversation()',
    (options) => ui.createConversation({ ...{ respond: async () => {} }, ...options }),
    { respond: callback, items: () => true, timeline: none },
  ),
  face<UiOptions<'createEditor', 0>>('createEditor()', (options) => ui.createEditor({ ...{ workspace }, ...options }), {
    ...{ workspace: none, run: none },
  }),
  face<UiOptions<'createFiles', 0>>('createFiles()', (options) => ui.createFiles({ ...{ workspace }, ...options }), {
    ...{ workspace: none, source: none, changeFiles: callback, onMove: callback, onRemove: callback },
    ...{ hasDraft: callback, run: none },
  }),
  face<UiOptions<'createMessageDraft', 1>>(
    'createMessageDraft()',
    (options) => ui.createMessageDraft(ui.createConversation({ respond: async () => {} }), options),
    { attach: callback, drafts: (value) => value instanceof Map },
  ),
  face<UiOptions<'createPolicyEditor', 0>>(
    'createPolicyEditor()',
    (options) => ui.createPolicyEditor({ ...{ policy: 'readOnly', onApply: () => {} }, ...options }),
    { policy: () => true, onApply: callback, text, openTrial: callback, paths: callback },
  ),
  face<UiOptions<'createTerminal', 0>>(
    'createTerminal()',
    (options) => ui.createTerminal({ ...{ workspace }, ...options }),
    {
      ...{ workspace: none, run: none, saved: () => true, root: text, timeline: none, stream: none, files: none },
      explainAbsent: callback,
      explainFailure: callback,
    },
  ),
  face<ui.TrackOptions>(
    'createTrackedCall()',
    (options) => ui.createTrackedCall((() => workspace) as never, { ...{ timeline }, ...options }),
    tracked,
  ),
  face<ui.TrackOptions>(
    'trackCalls()',
    (options) => ui.trackCalls(workspace, { ...{ timeline }, ...options }),
    tracked,
  ),
  face<UiOptions<'readAttachment', 1>>(
    'readAttachment()',
    (options) => ui.readAttachment(new File(['x'], 'a.txt'), options),
    { images: flag, documents: flag },
  ),
]

/** The type of an options parameter of a repository method. Methods check options before they read the repository. */
type OptionsOf<M extends keyof Repository, At extends number> = NonNullable<Parameters<Repository[M]>[At]>
const person: Kinds<Person> = { name: text, email: text }
const remote: Kinds<RemoteOptions> = {
  ...{ corsProxy: text, headers: textRecord, onProgress: callback, signal: none, depth: positive },
  ...{ credentials: callback, onLeftOut: callback },
}

const furtherFaces: readonly Face[] = [
  face<{ author?: Person; credentials?: CredentialsSource }>(
    'openRepository()',
    (options) => openRepository(gitHost, options),
    {
      ...{ author: person, credentials: callback },
    },
  ),
  face<OptionsOf<'init', 0>>('init()', (options) => repository.init(options), { defaultBranch: text }),
  face<OptionsOf<'add', 1>>('add()', (options) => repository.add('a.txt', options), { tracked: flag }),
  face<OptionsOf<'commit', 0>>('commit()', (options) => repository.commit({ message: 'm', ...options }), {
    ...{ message: text, author: person, amend: flag },
  }),
  face<OptionsOf<'log', 0>>('log()', (options) => repository.log(options), { ref: text, depth: positive }),
  face<OptionsOf<'branch', 1>>('branch()', (options) => repository.branch('b', options), { at: text }),
  face<OptionsOf<'checkout', 1>>('checkout()', (options) => repository.checkout('b', options), {
    ...{ force: flag, sparse: texts },
  }),
  face<OptionsOf<'restore', 1>>('restore()', (options) => repository.restore(['a.txt'], options), {
    ...{ from: text, only: none, overlay: flag },
  }),
  face<OptionsOf<'fetch', 0>>('fetch()', (options) => repository.fetch(options), {
    ...{ ...remote, url: text, ref: text },
  }),
  face<OptionsOf<'pullRequest', 0>>(
    'pullRequest()',
    (options) => repository.pullRequest({ ...{ base: 'b' }, ...options }),
    {
      ...{ base: text, head: text },
    },
  ),
  face<OptionsOf<'formatPatch', 0>>(
    'formatPatch()',
    (options) => repository.formatPatch({ ...{ base: 'b' }, ...options }),
    {
      ...{ base: text, head: text },
    },
  ),
  face<OptionsOf<'push', 0>>('push()', (options) => repository.push(options), {
    ...{ remote: text, url: text, ref: text, remoteRef: text, delete: flag, setUpstream: flag, corsProxy: text },
    ...{ headers: textRecord, credentials: callback, signal: none, force: none },
  }),
  face<OptionsOf<'clone', 1>>('clone()', (options) => repository.clone('https://x', options), {
    ...{ ...remote, ref: text, sparse: texts },
  }),
  face<LintOptions>('lintPolicy()', (options) => lintPolicy('autonomous', options), {
    ...{ tools: objects, roots: textRecord },
  }),
  face<TestWorkspaceOptions>('testWorkspace()', (options) => testWorkspace({}, options), {
    ...{ ...testKinds, clock: none, faults: () => true, seed: Number.isSafeInteger as Kind },
  }),
  face<ScriptedModelOptions>('scriptedModel()', (options) => scriptedModel(function* () {} as never, options), {
    ...{ modelId: text, wait: callback },
  }),
  face<FaultOptions>('faulty()', (options) => faulty(memory(), [], options), {
    seed: Number.isSafeInteger as Kind,
    wait: callback,
  }),
  face<AnalyzeOptions>('analyzeCommand()', (options) => analyzeCommand('ls', {}, options), {
    ...{ cwd: text, root: text, shell: none, decide: callback, unknowns: none },
  }),
  face<LineAnalyzerOptions>('createLineAnalyzer()', createLineAnalyzer, {
    ...{ root: text, shell: none, confined: flag },
  }),
  face<GlobOptions>('compileGlob()', (options) => compileGlob('a', options), { caseInsensitive: flag }),
  face<QueryInput>(
    'compileQuery()',
    (options) => compileQuery({ ...{ query: 'a', mode: 'literal', caseSensitive: true }, ...options }),
    { query: text, mode: none, caseSensitive: flag },
  ),
  face<MatchOptions>(
    'findMatches()',
    (options) => findMatches(anyQuery, new Uint8Array(), { ...matching, ...options }),
    { contextLines: size, maxMatches: size, snippetUnits: size, deadline: callback, mayShow: callback },
  ),
  face<FixtureOptions>('recordFixture()', (options) => recordWithoutCi(options), {
    ...{ ...fixtureKinds, record: none },
  }),
  face<VerifyOptions>('verifyAuditFile()', (options) => verifyAuditFile(nonexistent, options), {
    ...{ head: none, after: none },
  }),
  face<CanonicalOptions>('canonical()', (options) => canonical(memory(), 'a' as never, options), {
    noFollow: flag,
  }),
  face<{ signal?: AbortSignal }>(
    'call()',
    (options) => anthropicTools(workspace).call({ id: '1', name: 'x', input: {} }, options),
    { signal: none },
  ),
]

/** Calls return a refusal for wrong options instead of throwing. */
const callFaces: readonly Face[] = [
  face<CallOptions>('call()', (options) => workspace.call('read_file', { path: 'a.txt' }, options), callKinds),
  face<CallOptions>('callTool()', (options) => workspace.callTool('read_file', { path: 'a.txt' }, options), callKinds),
  face<OperationOptions>('consult()', (options) => workspace.consult('policy', options), operationKinds),
  face<CallOptions>('resume()', (options) => workspace.resume('x', 'allow', options), callKinds),
  face<UndoOptions>('undo()', (options) => workspace.undo('x', options), { ...operationKinds, reason: text }),
  face<NonNullable<Parameters<Workspace['rollback']>[1]>>('rollback()', (options) => workspace.rollback('x', options), {
    ...{ ...operationKinds, reason: text, runId: text },
  }),
  face<NonNullable<Parameters<Workspace['commit']>[0]>>('commit()', (options) => workspace.commit(options), {
    ...{ ...operationKinds, reason: text, merge: flag, resolve: textRecord },
  }),
  face<NonNullable<Parameters<Workspace['merge']>[0]>>('merge()', (options) => workspace.merge(options), {
    ...{ ...operationKinds, reason: text, resolve: textRecord },
  }),
]

afterAll(() => workspace.close())

interface OptionCase {
  readonly path: readonly string[]
  readonly kind: Kind | Readonly<Record<string, Kind | object>>
}

/** Every option of a function, including those of nested objects. */
function optionsOf(kinds: Face['kinds'], above: readonly string[] = []): readonly OptionCase[] {
  return Object.entries(kinds).flatMap(([name, kind]) => {
    const path = [...above, name]
    const own: OptionCase = { path, kind: kind as OptionCase['kind'] }
    return typeof kind === 'function' ? [own] : [own, ...optionsOf(kind as Face['kinds'], path)]
  })
}

/** An object with one option at a path. */
function nested(path: readonly string[], value: unknown): Record<string, unknown> {
  const [name = '', ...rest] = path
  return { [name]: rest.length === 0 ? value : nested(rest, value) }
}

/** The name with one letter dropped, with one letter doubled, and in another letter case. */
function misspelled(name: string): readonly string[] {
  const middle = Math.floor(name.length / 2)
  return [
    name.length > 2 ? name.slice(0, middle) + name.slice(middle + 1) : `${name}s`,
    `${name.slice(0, middle)}${name[middle]}${name.slice(middle)}`,
    name.toLowerCase() === name ? name.toUpperCase() : name.toLowerCase(),
  ]
}

async function errorOf(open: () => unknown): Promise<unknown> {
  try {
    await open()
    return undefined
  } catch (error) {
    return error
  }
}

let cases = 0

const allFaces = [...faces, ...furtherFaces, ...doors, ...controllers]
/** The wrappers above that spread their options, and so always pass an object. */
const spreading =
  /createWorkspace|execWorkspace|replay|s3|nodeShell|mcpHandler|compileQuery|findMatches|^(commit|pullRequest|formatPatch)/
const spreadingControllers =
  /mastraFilesystem|create(?:Changes|Conversation|Editor|Files|PolicyEditor|Terminal|TrackedCall)|trackCalls/

describe.each(allFaces)('the options of $name', ({ name, kinds, open }) => {
  const tryOptions = (options: unknown) => errorOf(() => open(options as never))

  it('refuses a misspelled name at every depth, and suggests the right one', async () => {
    for (const { path } of optionsOf(kinds)) {
      for (const wrong of misspelled(path.at(-1) ?? '')) {
        const at = [...path.slice(0, -1), wrong]
        const error = await tryOptions(nested(at, undefined))
        cases += 1
        expect(error, at.join('.')).toBeInstanceOf(TypeError)
        expect((error as Error).message).toBe(
          `Option ${JSON.stringify(at.join('.'))} of ${name} is unknown; did you mean ${JSON.stringify(path.at(-1))}?`,
        )
      }
    }
  })

  it('refuses a wrong value of every type at every depth', async () => {
    for (const { path, kind } of optionsOf(kinds)) {
      for (const value of samples) {
        const isRight = typeof kind === 'function' ? kind(value) : empty(value)
        if (isRight) continue
        const error = await tryOptions(nested(path, value))
        cases += 1
        expect(
          error,
          `${path.join('.')}: ${String(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
        ).toBeInstanceOf(TypeError)
      }
    }
  })

  it('refuses options that are not an object', async () => {
    for (const options of samples.filter((sample) => !empty(sample))) {
      cases += 1
      if (spreading.test(name) || spreadingControllers.test(name)) continue
      expect(await tryOptions(options), String(typeof options)).toBeInstanceOf(TypeError)
    }
  })
})

describe.each(callFaces)('the options of $name', ({ name, kinds, open }) => {
  const tryOptions = (options: unknown) => open(options as never)

  it('refuse the call for a misspelled name, and suggest the right one', async () => {
    for (const { path } of optionsOf(kinds)) {
      for (const wrong of misspelled(path.at(-1) ?? '')) {
        cases += 1
        expect(await tryOptions({ [wrong]: undefined })).toMatchObject({
          code: 'INVALID_INPUT',
          message: `Option ${JSON.stringify(wrong)} of ${name.replace('Tool', '')} is unknown; did you mean ${JSON.stringify(path.at(-1))}?`,
        })
      }
    }
  })

  it('refuse the call for a wrong value, and for options that are not an object', async () => {
    for (const { path, kind } of optionsOf(kinds)) {
      for (const value of samples.filter((sample) => !(kind as Kind)(sample))) {
        cases += 1
        expect(await tryOptions(nested(path, value)), path.join('.')).toMatchObject({
          ok: false,
          code: 'INVALID_INPUT',
        })
      }
    }
    for (const value of samples.filter((sample) => !empty(sample))) {
      cases += 1
      expect(await tryOptions(value)).toMatchObject({ ok: false, code: 'INVALID_INPUT' })
    }
  })
})

describe('options', () => {
  it('were tried in more than 10,000 cases', () => {
    console.log(`wrong options tried: ${cases}`)
    expect(cases).toBeGreaterThan(10_000)
  })

  it('refuse a selection of no tools', async () => {
    const offering = allFaces.filter(({ kinds }) =>
      ['run', 'tools', 'approve'].every((name) => Object.hasOwn(kinds, name)),
    )
    expect(offering.length).toBeGreaterThan(8)
    for (const { name, open } of offering) {
      const offered = async () => open({ tools: [] } as never)
      await expect(offered(), name).rejects.toThrow(
        /must not be empty|has no tool \[\]; the tools are list_directory, /,
      )
    }
  })

  it('can be inherited or getters, and are read once', async () => {
    let reads = 0
    class Config {
      readonly backend = memory()
      get policy() {
        reads += 1
        return 'autonomous' as const
      }
    }
    const opened = await createWorkspace(Object.assign(new Config(), { readOnly: true }))
    expect(await opened.call('write_file', { path: 'a.txt', content: '' })).toMatchObject({ code: 'READ_ONLY' })
    expect(reads).toBe(1)
    const inherited = Object.create({ ...base, readOnly: true })
    expect(await (await createWorkspace(inherited)).call('write_file', { path: 'a.txt', content: '' })).toMatchObject({
      code: 'READ_ONLY',
    })
    await expect(createWorkspace(Object.create({ ...base, readonly: true }))).rejects.toThrow(
      'did you mean "readOnly"?',
    )
  })

  it('are refused if they are unknown and not enumerable, or symbols', async () => {
    const hidden = Object.defineProperty({ ...base }, 'readonly', { value: true, enumerable: false })
    await expect(createWorkspace(hidden)).rejects.toThrow('did you mean "readOnly"?')
    await expect(createWorkspace({ ...base, [Symbol('readOnly')]: true } as never)).rejects.toThrow(/is unknown/)
  })

  it('with the value undefined are absent', async () => {
    const opened = await createWorkspace({ ...base, readOnly: undefined, mode: undefined, approve: undefined } as never)
    expect(await opened.call('write_file', { path: 'a.txt', content: '' }, { step: undefined } as never)).toMatchObject(
      {
        ok: true,
      },
    )
  })

  it.each<[options: object, message: string | undefined]>([
    [{ limits: new Map([['readLines', 5]]) }, '"limits" of createWorkspace() must be an object, not a Map'],
    [{ run: new Date(0) }, '"run" of createWorkspace() must be an object, not a Date'],
    [{ mode: 'planning' }, '"mode" of createWorkspace() must be "act" or "plan"'],
    [{ staleGuard: 'Hash' }, '"staleGuard" of createWorkspace() must be "hash" or "shown"; did you mean "hash"?'],
    [{ shell: 'bash' }, '"shell" of createWorkspace() must be a shell such as bash(), not a string'],
    [{ shell: bash }, '"shell" of createWorkspace() must be a shell such as bash(), not a function'],
    [
      { dialect: 'mcp-filesystem' },
      '"dialect" of createWorkspace() must be a dialect such as mcpFilesystem(), not a string',
    ],
    [
      { audit: './a.jsonl' },
      '"audit" of createWorkspace() must be an audit sink such as jsonlSink(path), not a string',
    ],
    [{ parked: './dir' }, '"parked" of createWorkspace() must be a store such as directoryParking(path), not a string'],
    [
      { backend: './dir' },
      '"backend" of createWorkspace() must be a backend such as memory() or nodeBackend(path), not a string',
    ],
    [{ mounts: { '': memory() } }, 'createWorkspace takes either a backend or mounts: mount the backend at ""'],
    [{ backend: undefined, mounts: { '/data': memory() } }, 'mounts(): Path "/data" is absolute: write "data"'],
    ...['filesystem', 'files', 'fs', 'basePath'].map((name): [object, string] => [
      { [name]: {} },
      'did you mean "backend"?',
    ]),
    ...['id', 'name', 'taint'].map((name): [object, string] => [{ [name]: 'x' }, 'did you mean "run"?']),
    [{ env: {} }, 'is unknown; did you mean "shell"?'],
    [{ denylist: [] }, 'is unknown; pass policy: { commands: { deny: … } }'],
    [{ classification: {} }, 'is unknown; pass policy: { labels: … }'],
    [{ history: null }, 'The option history is not a result of workspace.history()'],
    [{ history: { version: 1, first: 0, entries: [null], checkpoints: [] } }, undefined],
  ])('say what they must be: %o', async (options, message) => {
    const error = await errorOf(() => createWorkspace({ ...base, ...options } as never))
    if (message !== undefined) expect((error as Error).message).toContain(message)
    else expect(String(error)).not.toContain('destructure')
  })

  it.each([
    [
      () => memory({ a: () => 'x' } as never),
      'Option "a" of memory() must be a text, bytes or an object, not a function',
    ],
    [
      () => memory({ src: { 'a.txt': 'x' } } as never),
      'Option "src.a.txt" of memory(), whose keys are whole paths, is unknown',
    ],
    [() => memory('./dir' as never), 'Option "files" of memory() must be an object such as { "src/app.ts": "text" }'],
    [() => nodeBackend({ root: '.' } as never), 'nodeBackend(): the root must be the path of a directory'],
    [() => deepagents({ permissions: [] } as never), 'a dialect has no other options'],
  ])('of a backend or dialect say what it takes instead of %s', (open, message) => {
    expect(open).toThrow(message)
  })

  it.each([
    [Number.NaN, 'NaN'],
    ['x', 'a string'],
    [new Date(0), 'a Date'],
    [1e20, '1000'],
    [undefined, 'undefined'],
  ])('refuse a clock that returns %s', async (time, shown) => {
    const workspace = await createWorkspace({ ...base, clock: (() => time) as never })
    const message = `"clock" of createWorkspace() must return milliseconds since 1970, not ${shown}`
    await expect(workspace.callTool('read_file', { path: 'a.txt' })).rejects.toThrow(message)
    expect(() => memory({}, { clock: (() => time) as never })).toThrow('must return milliseconds since 1970')
  })

  it('never appear in messages with a text that may be a secret', async () => {
    const secret = 'sk-live-0123456789'
    const error = await errorOf(() => webcontainer({ bootTimeoutMs: secret as never }))
    expect((error as Error).message).not.toContain(secret)
  })
})

/** A right call of each method of the files, without its options. */
const fileCalls: Readonly<Record<keyof WorkspaceFiles, readonly unknown[]>> = {
  ...{ read: ['a.txt'], list: ['.'], remove: ['a.txt', '0'.repeat(64)] },
  ...{ readBytes: ['a.txt'], readText: ['a.txt'], stat: ['a.txt'], exists: ['a.txt'], entries: ['.'], walk: ['.'] },
  ...{ readLink: ['a.txt'], realPath: ['a.txt'], makeDirectory: ['d'], delete: ['b.txt'], readable: ['a.txt'] },
  ...{ writable: ['b.txt'], batch: [async () => {}], watch: ['.'], write: ['b.txt', ''], append: ['b.txt', ''] },
  ...{ setMode: ['a.txt', 0o644], link: ['l', 'a.txt'], rename: ['b.txt', 'c.txt'], copy: ['a.txt', 'c.txt'] },
}
/** They have no options. */
const bare: readonly string[] = ['read', 'list', 'remove']

/** A batch refuses them. */
const missingInBatch: readonly string[] = [...bare, 'readable', 'writable', 'watch', 'batch']

describe.each(Object.entries(fileCalls))('files.%s', (name, args) => {
  const tryMethod = async (methods: object, ...given: readonly unknown[]) => {
    const result = await (methods as Record<string, (...all: unknown[]) => unknown>)[name]?.(...given)
    if (name === 'walk') for await (const _ of result as AsyncIterable<unknown>);
  }

  it('refuses surplus arguments, also in a batch', async () => {
    const surplus = bare.includes(name) ? [{ signal: AbortSignal.timeout(9) }] : [{}, {}]
    const message = new RegExp(`^files\\.${name}\\(\\) takes at most \\d arguments?, not \\d`)
    cases += 1
    const error = await errorOf(() => tryMethod(workspace.files, ...args, ...surplus))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toMatch(message)
    await workspace.files.batch(async (files) => {
      const isMissing = missingInBatch.includes(name)
      const given = isMissing ? args : [...args, ...surplus]
      const refusal = String(await errorOf(() => tryMethod(files, ...given)))
      expect(refusal).toContain(isMissing ? `A batch has no ${name}(): use ` : 'at most')
    })
  })

  if (bare.includes(name)) return
  it('refuses an unknown option, and suggests the right one', async () => {
    for (const option of Object.keys(fileKinds)) {
      for (const wrong of misspelled(option)) {
        cases += 1
        const error = await errorOf(() => tryMethod(workspace.files, ...args, { [wrong]: undefined }))
        expect((error as Error).message).toBe(
          `Option ${JSON.stringify(wrong)} of files.${name}() is unknown; did you mean ${JSON.stringify(option)}?`,
        )
      }
    }
  })
})

/** Values that throw or never end when they are inspected. */
function hostileValues(): readonly unknown[] {
  const cyclic: Record<string, unknown> = { path: 'a.txt' }
  cyclic.self = cyclic
  const fail = () => {
    throw new Error('/home/secret')
  }
  const throwing = new Proxy({}, { get: fail, ownKeys: fail, has: fail, getPrototypeOf: fail })
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const getter = Object.defineProperty({}, 'path', { get: fail, enumerable: true })
  const unprintable = Object.create(null)
  const inherited = Object.create({ path: 'a.txt' })
  return [...samples, undefined, cyclic, throwing, revoked.proxy, getter, unprintable, inherited, { path: Symbol('x') }]
}

const makers = {
  plain: {},
  recorded: { record: () => {} },
  dialect: { dialect: codex() },
  'recorded dialect': { record: () => {}, dialect: codex() },
  labelled: { policy: { preset: 'autonomous', labels: { sources: [{ label: 'restricted', paths: ['x'] }] } } },
}

describe.each(Object.entries(makers))('a call in a workspace that is %s', (_name, options) => {
  it('returns a result for any arguments', async () => {
    const opened = (await createWorkspace({
      ...{ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous' },
      ...options,
    } as never)) as unknown as Workspace
    const codes = new Set<unknown>()
    const answers = async (act: () => Promise<unknown>) => {
      const result = (await act()) as { ok?: boolean; isError?: boolean; code?: string; failure?: { code: string } }
      const code = result.code ?? result.failure?.code
      codes.add(code)
      expect(JSON.stringify(result)).not.toContain('/home/secret')
      return result
    }
    for (const odd of hostileValues()) {
      await answers(() => opened.call(odd as never, {} as never))
      await answers(() => opened.callTool(odd as never, odd, odd as never))
      await answers(() => opened.call('read_file', odd as never))
      await answers(() => opened.callTool('shell', odd as never))
      await answers(() => opened.call('read_file', { path: odd } as never))
      await answers(() => opened.call('read_file', { path: 'a.txt' }, odd as never))
      await answers(() => opened.call('read_file', { path: 'a.txt' }, { step: odd } as never))
      await answers(() => opened.undo(odd as never, odd as never))
      await answers(() => opened.rollback(odd as never))
      await answers(() => opened.commit(odd as never))
      await answers(() => opened.resume(odd as never, odd as never))
      await answers(() => opened.resume('x', odd as never))
      await answers(() => opened.consult(odd as never))
      await answers(() => opened.explain(odd as never, odd as never))
      await answers(() => opened.explain('read_file', odd as never))
    }
    expect([...codes].filter((code) => code === 'BACKEND_ERROR' || code === 'HOOK_FAILED')).toEqual([])
    await opened.close()
  })
})

describe('call', () => {
  it('refuses options that only the library may pass', async () => {
    for (const option of ['grant', 'via', 'dialectCall', 'isLaterStep', 'shows']) {
      const result = await workspace.callTool('read_file', { path: 'a.txt' }, { [option]: [] } as never)
      expect(result).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(option) })
    }
  })

  it('refuses a tool in place of a name', async () => {
    const tool = { name: 'read_file', plan: () => [], draft: async () => ({}), input: {} }
    expect(await workspace.callTool(tool as never, {})).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })

  it('records a call that is refused for its options, once', async () => {
    const opened = await createWorkspace(base)
    await opened.callTool('read_file', { path: 'a.txt' }, { stepId: 'x' } as never)
    expect(opened.auditRecords().map(({ phase, toolName, code }) => [phase, toolName, code])).toEqual([
      ['refused', 'read_file', 'INVALID_INPUT'],
    ])
  })

  it('never throws for any arguments', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything({ withProxies: false } as never), fc.anything(), fc.anything(), async (...args) => {
        expect(await workspace.callTool(...(args as [never, never, never]))).toMatchObject({ ok: false })
      }),
      { numRuns: times(50, 300) },
    )
  })
})

describe('resume', () => {
  it('reads only own fields of an answer, and refuses unknown fields', async () => {
    const opened = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'supervised' })
    const parked = await opened.call('delete_file', { path: 'a.txt', expectedSha256: hashOfA })
    const id = (parked as { approvalId?: string }).approvalId ?? ''
    const wrong = [
      Object.create({ allow: 'once' }),
      JSON.parse('{"__proto__":{"allow":"once"}}'),
      { allow: 'once', deny: 'no' },
      { allow: 'once', forever: true },
      { allow: 'once', by: 7 },
      { allow: 'always' },
      ['allow'],
    ]
    for (const answer of wrong) expect(await opened.resume(id, answer)).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await opened.resume(id, { allow: 'once', by: 'Ada' })).toMatchObject({ ok: true })
  })
})

const hashOfA = '87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7'

/** The storage of a Durable Object without rows. */
function durableStorage() {
  const rows = { toArray: () => [], [Symbol.iterator]: () => [][Symbol.iterator](), one: () => ({}) }
  return { transactionSync: (act: () => unknown) => act(), sql: { exec: () => rows } } as never
}
