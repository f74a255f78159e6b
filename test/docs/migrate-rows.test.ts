import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { objectStore, r2 } from '../../src/backends/object-store/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { sqlDatabase, sqlite } from '../../src/backends/sql/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { errorHints } from '../../src/errors.ts'
import { createWorkspace, readOnly, type Workspace } from '../../src/index.ts'
import { defaultLimits } from '../../src/limits.ts'
import { permissionGroups, permissions } from '../../src/policy/permissions.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { policySchema } from '../../src/policy/schema.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { nodeShell } from '../../src/shells/node/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { execWorkspace } from '../../src/workspace/exec-workspace.ts'
import { workspaceOptions } from '../../src/workspace/options.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/migrate.md'), 'utf8')

/** The code in the second column of each table of the guide: what a mover writes here. */
const spans = [
  ...new Set(
    guide
      .split('\n')
      .filter((line) => line.startsWith('|') && !/^\|[\s|-]+$/.test(line))
      .flatMap((line) => [...(line.split(/(?<!\\)\|/)[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)),
  ),
]
const isCall = (code: string) => /^(?:await )?[\w.]+\(.*\)$/.test(code)
const isField = (code: string) => /^\w+: /.test(code)
/** Their storage exists in a Worker only, where their own tests run them. */
const inWorkers = ['durableObject(storage)']
const calls = spans.filter((code) => isCall(code) && !inWorkers.includes(code))
const fields = spans.filter(isField)

const dialectTools = Object.values(dialects).flatMap((open) => open().tools)
const policyFields = ['preset', 'rules', 'labels', 'commands', 'network', 'action', 'memory']

/** Everything that the text of a table may name. */
const known = new Set<string>([
  ...Object.keys(errorHints),
  ...permissions,
  ...Object.keys(permissionGroups),
  ...Object.keys(workspaceOptions),
  ...Object.keys(defaultLimits).map((name) => `limits.${name}`),
  ...[...builtinTools, ...dialectTools].flatMap(({ name, input }) => [name, ...Object.keys(input.shape)]),
  ...builtinTools.flatMap(({ output }) => Object.keys(output.shape)),
  ...['allowedPaths', 'deniedPaths', 'readOnlyPaths', 'tools', 'rules', 'preset', 'memory.acl'],
  ...['commands.allow', 'commands.deny', 'commands.deniedOperators', 'approve', 'paths', 'joinTools', 'mounts'],
  ...['workspace.files', 'workspace.subscribe', '--root', '--plan'],
])
/** Names of files, programs and packages, and parts of a result. */
const texts = new Set([
  ...['.env', '.git', '**/.ssh/**', 'paths = ["**"]', '/dev/null', '/dev/urandom', 'git'],
  ...['wardspace/shells/node', 'wardspace/git', 'npx wardspace mcp --root DIR --policy P'],
  ...['hash', 'max_results=100', 'edits[]', '{ success: false, output, error }'],
])

describe('the tables for movers', () => {
  let directory = ''
  let workspace: Workspace
  const scope = () => ({
    ...{ createWorkspace, execWorkspace, memory, overlay, nodeBackend, readOnly, nodeShell, bash },
    ...{ sqlDatabase, sqlite, database: new Database(':memory:') },
    ...{ run: () => 'x' },
    ...{ objectStore, r2, workspace, directory, path: directory, root: directory },
    call: workspace.callTool,
    command: 'ls',
    files: { 'a.txt': 'a\n' },
    backend: memory(),
    policy: 'autonomous',
    shell: bash(),
    bucket: { get() {}, put() {}, head() {}, delete() {}, list() {} },
    ...{ preToolCall() {}, postToolResponse() {}, mode: 'plan' },
    ...{ sources: [{ label: 'confidential', paths: ['docs/**'] }], sinks: [], allow: ['ls'], deny: ['curl'] },
    ...{ name: 'n', action: 'deny', permissions: ['file:change'], paths: ['docs/**'], hosts: ['example.org'] },
    ...{ text: 'x', scope: ['src/**'], risk: 'low' },
  })
  const evaluate = async (code: string): Promise<unknown> => {
    const values = scope()
    return new Function(...Object.keys(values), `return ${code}`)(...Object.values(values)) as unknown
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'wardspace-rows-'))
    workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', shell: bash() })
  })
  afterAll(async () => {
    await workspace.close()
    rmSync(directory, { recursive: true, force: true })
  })

  it('contain code', () => {
    expect(calls.length).toBeGreaterThan(10)
    expect(fields.length).toBeGreaterThan(10)
  })

  it.each(calls)('%s runs', async (code) => {
    const result = await evaluate(code)
    expect(result).toEqual(expect.anything())
    expect(result).not.toMatchObject({ ok: false })
    if (typeof (result as Partial<Workspace>).close === 'function') await (result as Workspace).close()
  })

  it.each(fields)('%s is valid in a policy or among the options', async (code) => {
    const [field = ''] = code.split(':')
    // The name of a preset is written as in YAML.
    const value = (await evaluate(`({ ${code.replace(/^preset: (\w+)$/, 'preset: "$1"')} })`)) as object
    if (field === 'action')
      expect(compilePolicy({ rules: [{ name: 'x', ...value } as never] }).data.rules).toHaveLength(1)
    else if (policyFields.includes(field)) expect(policySchema.safeParse(value).success).toBe(true)
    else if (field === 'task') workspace.run({ id: 'task', ...value })
    else {
      const options = { backend: memory(), policy: 'autonomous', shell: bash(), ...value } as const
      await (await createWorkspace(options as Parameters<typeof createWorkspace>[0])).close()
    }
  })

  it('name only what exists', () => {
    const words = spans.filter((code) => !isCall(code) && !isField(code) && !texts.has(code))
    expect(words.filter((code) => !known.has(code))).toEqual([])
    expect([...texts].filter((code) => !spans.includes(code))).toEqual([])
  })
})
