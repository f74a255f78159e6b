import { describe, expect, it } from 'vitest'
import { type AiSdkOptions, aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import { createMcpServer, type McpServerOptions } from '../../src/adapters/mcp/index.ts'
import { type McpHandlerOptions, mcpHandler } from '../../src/adapters/mcp-http/index.ts'
import { memorySink } from '../../src/audit/sinks.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { type OpfsOptions, opfs } from '../../src/backends/opfs/index.ts'
import { exec } from '../../src/dialects/exec/index.ts'
import { git, type PushOptions } from '../../src/git/index.ts'
import { createWorkspace, type DialectWorkspaceOptions, type PolicyInput, type RunOptions } from '../../src/index.ts'
import { memoryParking } from '../../src/policy/parked-calls.ts'
import { type BashOptions, bash } from '../../src/shells/bash/index.ts'
import { type NodeShellOptions, nodeShell } from '../../src/shells/node/index.ts'
import { type WebContainerOptions, webcontainer } from '../../src/shells/webcontainer/index.ts'
import { idleOptions } from '../../src/workspace/idle-options.ts'
import { nonexistent } from '../nonexistent.ts'

/** Functions with options, and a value of each option that asks for something. An option without a value does not compile. */
interface Face {
  readonly name: string
  readonly open: (options: never) => unknown
  readonly values: Readonly<Record<string, unknown>>
  /** Pairs of which one option has no effect with these values: refused. */
  readonly refused: readonly string[]
}

function face<T>(
  name: string,
  open: (options: T) => unknown,
  refused: readonly string[],
  values: { readonly [K in keyof T]-?: T[K] },
): Face {
  return { name, open, refused, values }
}

const command = { name: 'lint', command: 'true' }
const approve = () => 'allow' as const
const nothing = () => {}
const signal = new AbortController().signal
const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', git: git() })
const repository = workspace.git ?? expect.unreachable()

/** Opens a workspace, with what single options need. */
function open(options: Partial<DialectWorkspaceOptions>) {
  const needsShell = options.keepCwd === true || options.checks !== undefined
  return createWorkspace({
    ...{ policy: 'autonomous', ...(needsShell && { shell: bash() }) },
    ...(options.mounts === undefined && { backend: memory() }),
    ...options,
  } as DialectWorkspaceOptions)
}

const faces: readonly Face[] = [
  face<DialectWorkspaceOptions>(
    'createWorkspace()',
    open,
    ['backend mounts', 'tools shell', 'tools keepCwd', 'readOnly mode', 'readOnly checks', 'staleGuard dialect'],
    {
      ...{ backend: memory(), mounts: { '': memory() }, policy: 'supervised', tools: ['read_file'], extraTools: [] },
      ...{ readOnly: true, mode: 'plan', limits: { commandTimeoutMs: 9 }, approve, parked: memoryParking() },
      ...{ hooks: { preToolCall: () => undefined }, checks: [command], audit: memorySink(), artifacts: memory() },
      ...{ staleGuard: 'shown', git: git(), shell: bash(), keepCwd: true, record: nothing, clock: Date.now },
      ...{ ids: () => 'id', run: { actor: 'a' }, history: workspace.history(), dialect: exec() },
    },
  ),
  face<RunOptions>('run()', (options) => workspace.run(options), [], {
    ...{
      id: 'r',
      actor: 'a',
      task: { text: 't' },
      scopes: ['s'],
      taint: { label: 'internal', callId: 'c', tool: 't' },
      plan: { text: 'p' },
    },
  }),
  face<BashOptions>('bash()', bash, [], {
    ...{
      root: '/w',
      random: () => new Uint8Array(),
      env: { A: '1' },
      commands: { x: async () => ({}) as never },
      worker: false,
    },
  }),
  face<NodeShellOptions>(
    'nodeShell()',
    (options) => nodeShell({ ...{ root: nonexistent, sandbox: { wrap: nothing } as never }, ...options }),
    ['sandbox readable'],
    {
      ...{
        root: nonexistent,
        stateDir: nonexistent,
        sandbox: 'none',
        readable: ['/opt'],
        shell: 'sh',
        env: { A: '1' },
      },
      ...{ graceMs: 9, shadowBytes: 9 },
    },
  ),
  face<WebContainerOptions>('webcontainer()', webcontainer, [], {
    ...{ fallback: false, bootTimeoutMs: 9, apiKey: 'k', auth: { clientId: 'c', scope: 's' }, coep: 'none' },
    ...{ workdirName: 'w', forwardPreviewErrors: true, previewScript: 's', env: { A: '1' } },
    ...{ terminal: { cols: 9, rows: 9 }, graceMs: 9, maxBytes: 9, onPort: nothing },
  }),
  face<OpfsOptions>(
    'opfs()',
    opfs,
    ['layout access', 'layout worker', 'layout maxBytes', 'layout clock', 'access worker'],
    {
      ...{ name: 'n', layout: 'files', access: 'async', worker: () => expect.unreachable(), persist: true },
      ...{ lockTimeoutMs: 9, maxBytes: 9, clock: Date.now, onChange: nothing },
    },
  ),
  face<PushOptions>('push()', (options) => repository.push(options), ['ref delete', 'delete setUpstream'], {
    ...{ remote: 'origin', url: 'https://127.0.0.1:1/x', ref: 'main', remoteRef: 'main', delete: true, signal },
    ...{
      force: 'lease',
      setUpstream: true,
      corsProxy: 'https://127.0.0.1:1',
      headers: {},
      credentials: () => undefined,
    },
  }),
  face<AiSdkOptions>(
    'aiSdkTools()',
    (options) => aiSdkTools(workspace, { ...('onPending' in options && { approvals: 'framework' }), ...options }),
    ['approve approvals', 'approve onPending'],
    {
      ...{ run: workspace, tools: ['read_file'], approve, results: 'json', approvals: 'framework', media: true },
      onPending: nothing,
    },
  ),
  face<McpServerOptions>('createMcpServer()', (options) => createMcpServer(workspace, options), [], {
    ...{
      name: 'n',
      version: '1',
      run: workspace,
      approvalTimeoutMs: 9,
      media: true,
      roots: { open: nothing as never },
    },
  }),
  face<McpHandlerOptions>('mcpHandler()', (options) => mcpHandler({ ...{ open: nothing as never }, ...options }), [], {
    ...{ open: nothing as never, token: '0123456789abcdef', allowedHosts: ['x'], allowedOrigins: ['https://x.org'] },
    ...{ maxSessions: 9, idleMs: 9, maxBodyBytes: 9, maxEvents: 9, maxEventBytes: 9, onError: nothing },
  }),
]

/**
 * Pairs that look idle and are taken: the first option says what must not happen, or what happens only in some cases, and both
 * stay true beside the second one.
 */
const taken: readonly (readonly [face: string, pair: string, reason: string])[] = [
  ['createWorkspace()', 'approve parked', 'a handler may answer "later", and the call waits then'],
  ['createWorkspace()', 'readOnly staleGuard', 'a guard on changes holds without changes; programs share it'],
  ['createWorkspace()', 'readOnly git', 'the repository is read'],
  ['createWorkspace()', 'readOnly shell', 'a guarded shell reads; with another one run_command answers READ_ONLY'],
  ['createWorkspace()', 'tools mode', 'the program ends plan mode with approvePlan()'],
  ['createWorkspace()', 'tools limits', 'a bound holds without a use; programs share limits'],
  ['createWorkspace()', 'policy approve', 'the policy may come from a file that asks'],
  ['webcontainer()', 'fallback onPort', 'whether there is a container is known when it boots'],
]

/** Returns why options are refused as idle. Other errors, such as those of a missing browser, come later. */
async function problemOf({ open }: Face, options: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  try {
    await open(options as never)
    return undefined
  } catch (error) {
    const { message } = error as Error
    return /has no effect|needs a shell|needs either|takes either|names no versions/.test(message) ? message : undefined
  }
}

describe.each(faces.map((one) => [one.name, one] as const))('the options of %s', (name, one) => {
  const names = Object.keys(one.values)
  const pairs = names.flatMap((first, at) => names.slice(at + 1).map((second) => [first, second] as const))

  it('are refused in pairs of which one has no effect, and in no other pair', async () => {
    const refused: string[] = []
    for (const [first, second] of pairs) {
      const problem = await problemOf(one, { [first]: one.values[first], [second]: one.values[second] })
      if (problem !== undefined) refused.push(`${first} ${second}`)
    }
    expect(refused.sort()).toEqual([...one.refused].sort())
  })

  it('are named in the list of pairs that are taken', () => {
    for (const [, pair] of taken.filter(([at]) => at === name)) {
      expect(pairs.map((both) => both.join(' '))).toContain(pair)
      expect(one.refused).not.toContain(pair)
    }
  })
})

describe('an option of createWorkspace without an effect', () => {
  it('has a case for each row of the table', async () => {
    const shell = bash()
    const cases: readonly (readonly [options: Partial<DialectWorkspaceOptions>, message: RegExp])[] = [
      [{ keepCwd: true }, /^Option "keepCwd" of createWorkspace\(\) needs a shell$/],
      [{ checks: [command] }, /^Option "checks" .* needs a shell$/],
      [{ checks: [command], shell, readOnly: true }, /^Option "checks" .* beside "readOnly": .*; leave out one/],
      [{ mode: 'plan', readOnly: true }, /^Option "mode" .* beside "readOnly": .*; leave out one/],
      [{ shell, tools: 'minimal' }, /^Option "shell" .* beside "tools".* add "run_command"/],
      [{ shell, tools: 'files', keepCwd: true, checks: [command] }, /^Option "keepCwd" .* beside "tools"/],
    ]
    expect(cases).toHaveLength(idleOptions.length)
    for (const [options, message] of cases) {
      const refused = createWorkspace({ backend: memory(), policy: 'autonomous', ...options } as never)
      await expect(refused).rejects.toThrow(message)
    }
  })

  it.each<readonly [why: string, options: Partial<DialectWorkspaceOptions>]>([
    ['a plan gates the commands of a read-only workspace', { mode: 'plan', readOnly: true, shell: bash() }],
    ['a command line of a check runs in the shell', { shell: bash(), tools: 'minimal', checks: [command] }],
    ['a listed tool runs commands', { shell: bash(), tools: ['run_command'], keepCwd: true }],
    ['a policy may come from a file', { policy: 'readOnly', mode: 'plan', checks: [command], shell: bash() }],
  ])('is none where %s', async (_, options) => {
    const opened = await createWorkspace({ backend: memory(), policy: 'autonomous', ...options } as never)
    await opened.close()
  })
})

describe('the scopes of a run', () => {
  const policyWith = (memoryPolicy: object | undefined): PolicyInput =>
    ({ preset: 'autonomous', ...(memoryPolicy && { memory: memoryPolicy }) }) as PolicyInput

  it.each([{ path: 'notes' }, { path: 'notes', acl: false }])('are refused with the memory %j', async (notes) => {
    const message = 'Scopes need memory.acl in the policy'
    const options = { backend: memory(), policy: policyWith(notes) }
    const run = { scopes: ['team'] }
    await expect(createWorkspace({ ...options, run })).rejects.toThrow(message)
    const unscoped = await createWorkspace(options)
    expect(() => unscoped.run(run)).toThrow(message)
    await expect(unscoped.fork(run)).rejects.toThrow(message)
  })

  it.each([undefined, { path: 'notes', acl: true }])('are taken with the memory %j', async (notes) => {
    const run = { scopes: ['team'] }
    const scoped = await createWorkspace({ backend: memory(), policy: policyWith(notes), run })
    expect(scoped.run(run).id).toBeTypeOf('string')
  })
})
