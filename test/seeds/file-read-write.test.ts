import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { loadConfig } from '../../src/cli/config.ts'
import { fileReadWrite } from '../../src/dialects/file-read-write/index.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { lintPolicy } from '../../src/policy/lint.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { createProject, type Project } from './open-config.ts'

let project: Project

beforeAll(async () => {
  project = await createProject({ 'src/main.rs': 'fn main() {}\n', '.env': 'A=1\n', '.ssh/config': 'Host a\n' })
})

afterAll(() => rm(project.home, { recursive: true, force: true }))

/** The example of the original, with the root of the test in place of `/home/user/workspace`. */
const configuration = (root: string, sensitive = '"**/.ssh/**", "**/.env"'): string => `
# Memory ACL affects file_read behavior
[memory]
acl_enabled = false # When true, file_read blocks access to memory files
# Security policy can restrict file access paths
[security.tool_policy.tools]
file_read = "allow" # "allow" | "deny" | "supervised"
file_write = "allow"
# Path-based policy rules
[[security.policy.rules]]
name = "allow-workspace-read"
action = "allow"
tools = ["file_read"]
paths = ["${root}/**"]
[[security.policy.rules]]
name = "allow-workspace-write"
action = "allow"
tools = ["file_write"]
paths = ["${root}/**"]
[[security.policy.rules]]
name = "block-sensitive-paths"
action = "deny"
tools = ["file_read", "file_write"]
paths = [${sensitive}]
[security.audit]
enabled = true
log_path = "audit.log"
`

describe('the configuration of the original', () => {
  it('works below its root, for absolute and relative names, with an audit', async () => {
    const { root, home } = project
    const workspace = await project.open(await project.write('prx.toml', configuration(root)), 'file-read-write')
    const source = 'fn main() {}\n'
    for (const path of [`${root}/src/main.rs`, 'src/main.rs', './src/main.rs', `${root}/src/../src/main.rs`]) {
      const read = await workspace.call('file_read', { path })
      expect(read.output).toEqual({ success: true, output: source, error: null })
    }
    const config = { path: `${root}/src/config.toml`, content: '[server]\nport = 8080\nhost = "0.0.0.0"\n' }
    expect(await workspace.call('file_write', config)).toMatchObject({ isError: false })
    for (const path of ['.env', `${root}/.env`, `${root}/.ssh/config`, '/etc/passwd', `${root}/../../../etc/passwd`]) {
      const read = await workspace.call('file_read', { path })
      expect(read).toMatchObject({ isError: true, output: { success: false, output: '' } })
    }
    await workspace.close()
    const records = (await readFile(join(home, 'audit.log'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(records.length).toBeGreaterThan(8)
    expect(records).toContainEqual(expect.objectContaining({ pathsRead: ['src/main.rs'] }))
  })

  it('is refused if it contains paths that no call can reach, which the error names', async () => {
    const { root } = project
    const literal = '"/etc/shadow", "/root/**", "**/.ssh/**", "**/.env"'
    const file = await project.write('literal.toml', configuration(root, literal))
    await expect(loadConfig(root, file, [], fileReadWrite())).rejects.toThrow(
      /literal\.toml: Policy field "security\.policy\.rules\[2\]\.paths\[0\]" .* "\/etc\/shadow", it is absolute and outside of every root/,
    )
  })

  it('works unchanged if the root is the whole disk', async () => {
    const literal = '"/etc/shadow", "/root/**", "**/.ssh/**", "**/.env"'
    const file = await project.write('disk.toml', configuration('/home/user/workspace', literal))
    const { policy } = await loadConfig('/', file, [], fileReadWrite())
    expect(policy).toMatchObject({
      rules: [
        { paths: ['home/user/workspace/**'] },
        { paths: ['home/user/workspace/**'] },
        { paths: ['etc/shadow', 'root/**', '**/.ssh/**', '**/.env'] },
      ],
    })
  })

  it.each([
    [
      'snake_case',
      { security: { tool_policy: { tools: { file_read: 'supervised' } }, policy: { default_action: 'allow' } } },
    ],
    ['camelCase', { security: { toolPolicy: { tools: { file_read: 'ask' } }, policy: { defaultAction: 'allow' } } }],
    ['PascalCase', { Security: { ToolPolicy: { Tools: { file_read: 'ask' } }, Policy: { DefaultAction: 'allow' } } }],
  ])('is understood in %s', (_, policy) => {
    expect(compilePolicy(policy).data).toEqual({ preset: 'autonomous', tools: { file_read: 'ask' } })
  })

  it.each([
    ['[memory]\nacl_enabled = true', { acl: true }],
    ['[memory]\nacl_enabled = false', { acl: false }],
    ['[memory]\nAclEnabled = true\npath = "notes"', { acl: true, path: 'notes' }],
    ['acl_enabled = true', { acl: true }],
    ['acl_enabled = false', undefined],
  ])('sets the memory: %j', async (text, expected) => {
    const file = await project.write('memory.toml', `${text}\n`)
    const { policy } = await loadConfig(project.root, file)
    expect(compilePolicy(policy).data.memory).toEqual(expected)
  })

  it.each([
    ['[security.audit]\nenabled = false', undefined],
    ['[security.audit]\nenabled = false\nlog_path = "a.log"', undefined],
    ['[security.audit]\nlog_path = "a.log"', 'a.log'],
    ['[Security.Audit]\nEnabled = true\nLogPath = "a.log"', 'a.log'],
    ['audit = "b.log"', 'b.log'],
  ])('sets the audit: %j', async (text, expected) => {
    const file = await project.write('audit.toml', `${text}\n`)
    const { audit } = await loadConfig(project.root, file)
    expect(audit).toBe(expected === undefined ? undefined : join(project.home, expected))
  })

  it.each<[string, ...string[]]>([
    ['[security]\nsandbox = true', '"security.sandbox" is unknown', 'tool_policy, policy, audit'],
    [
      '[security.tool_policy]\ndefault = "deny"',
      '"security.tool_policy.default" is unknown; the fields here are tools',
      'did you mean "security.policy.default_action"?',
    ],
    ['[security.tool_policy.groups]\nx = "deny"', '"security.tool_policy.groups" is unknown', 'write a rule'],
    ['[memory]\nbackend = "sqlite"', '"memory.backend" is unknown; the fields here are path, acl'],
    ['[memory]\ndirectory = "notes"', 'did you mean "path"?'],
    ['[security.tool_policy.tools]\nshell = "deny"', 'did you mean "run_command"?'],
    ['[security.tool_policy.tools]\nfile_write = "Supervised"', 'did you mean "ask"?'],
    ['[security.tool_policy.tools]\nfile_read = "never"', '"security.tool_policy.tools.file_read" must be "allow"'],
    [
      '[security.tool_policy.tools]\nfile_raed = "deny"',
      '"security.tool_policy.tools.file_raed"',
      'did you mean "file_read"?',
    ],
    ['[security.policy]\ndefault_action = "maybe"', '"security.policy.default_action" must be'],
    ['[security.policy]\nrule = 1', '"security.policy.rule" is unknown', 'did you mean "rules"?'],
    [
      '[[security.policy.rules]]\nname = "a"\naction = "deny"\npath = ["x"]',
      '"security.policy.rules[0].path" is unknown',
    ],
    ['[[security.policy.rules]]\nname = "a"\naction = "deny"\ntools = ["x"]', '"security.policy.rules[0].tools[0]"'],
    [
      '[[security.policy.rules]]\nname = "a"\naction = "deny"\npaths = ["~/.ssh"]',
      '"security.policy.rules[0].paths[0]"',
      'home',
    ],
    ['[[rules]]\nname = "a"\naction = "deny"\n[[security.policy.rules]]\nname = "b"\naction = "deny"', 'keep one'],
    ['[tools]\nfile_read = "deny"\n[security.tool_policy.tools]\nfile_read = "allow"', 'keep one'],
    ['default_action = "deny"\n[security.policy]\ndefault_action = "allow"', 'keep one'],
    ['[security.audit]\nenabled = true', '"security.audit.log_path" must be the name of a file'],
    ['[security.audit]\nenabled = "yes"\nlog_path = "a"', '"security.audit.enabled" must be true or false'],
    ['[security.audit]\nlog_path = 5', '"security.audit.log_path" must be the name of a file'],
    ['[security.audit]\nenabled = true\nlog_path = "a"\nmax_size_mb = 5', '"security.audit.max_size_mb" is unknown'],
    ['audit = "a"\n[security.audit]\nlog_path = "b"', 'keep one'],
    ['audit = "a"\n[security.audit]\nenabled = false', 'keep one'],
    ['security = "strict"', '"security" must be an object'],
    ['[memory]\nacl_enabled = true\nacl = true', 'keep one'],
    ['[memory]\nacl_enabled = "on"', '"memory.acl_enabled" must be true or false'],
    ['[memory]\nbackend = "sqlite"', '"memory.backend" is unknown'],
  ])('names settings without effect: %j', async (text, ...parts) => {
    const file = await project.write('wrong.toml', `${text}\n`)
    const error: unknown = await loadConfig(project.root, file, [], fileReadWrite()).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TypeError)
    for (const part of parts) expect((error as Error).message).toContain(part)
  })

  it('names the dialect of its tools if no dialect is passed', async () => {
    const file = await project.write('no-dialect.toml', configuration(project.root))
    await expect(loadConfig(project.root, file)).rejects.toThrow(
      /"file_read" .*It is a tool of --dialect file-read-write$/,
    )
  })

  it('is linted with its absolute paths', () => {
    const rule = { name: 'docs are final', action: 'deny', permissions: ['file:write:*'], paths: ['/work/docs/**'] }
    const policy = { security: { policy: { default_action: 'allow', rules: [rule] } } }
    expect(lintPolicy(policy, { roots: { '/work': '' } })[0]).toMatchObject({
      rule: 'docs are final',
      message: expect.stringContaining('docs/**, but leaves open: file:append'),
    })
    expect(() => lintPolicy(policy)).toThrow('absolute')
  })

  it('is refused in code for settings that only the command line supports', async () => {
    const policy = { security: { audit: { enabled: true, log_path: 'audit.log' } } }
    const created = createWorkspace({ backend: memory(), policy: policy as never })
    await expect(created).rejects.toThrow(/"security\.audit" does not belong in a policy: .* audit: jsonlSink/)
  })
})

describe('the tools of the original', () => {
  const main = 'fn main() {}\n'
  const content = '[server]\nport = 8080\nhost = "0.0.0.0"\n'
  const open = (policy: PolicyInput = 'autonomous', more: object = {}) =>
    createWorkspace({
      backend: memory({ 'src/main.rs': main, 'memory/private.md': 'not a note\n', 'a.bin': Uint8Array.of(0, 1, 2) }),
      ...{ policy, dialect: fileReadWrite({ '/home/user/project': '' }) },
      ...more,
    })

  it('file_read and file_write accept the calls of its examples', async () => {
    const workspace = await open()
    const read = await workspace.call('file_read', { path: '/home/user/project/src/main.rs' })
    expect(read.output).toEqual({ success: true, output: main, error: null })
    const write = await workspace.call('file_write', { path: '/home/user/project/src/config.toml', content })
    expect(write.output).toEqual({
      ...{ success: true, error: null },
      output: `Created /home/user/project/src/config.toml (${content.length} bytes)`,
    })
  })

  it('return success: false with an error and no output for a refusal', async () => {
    const workspace = await open()
    for (const path of ['absent.rs', '/proc/cpuinfo', '/sys/x', '/dev/sda', '/dev/urandom', '~/.ssh/id_rsa', 'a.bin']) {
      const { output } = await workspace.call('file_read', { path })
      expect(output, path).toEqual({ success: false, output: '', error: expect.stringMatching(/^[A-Z_]+: /) })
    }
    const binary = await workspace.call('file_read', { path: 'a.bin' })
    expect(JSON.stringify(binary.output)).toContain('xxd, file or hexdump')
  })

  it('file_read explains how to continue a long line and a long file', async () => {
    const backend = memory({ 'line.txt': 'z'.repeat(100_000), 'lines.txt': 'x\n'.repeat(70_000) })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', dialect: fileReadWrite() })
    const textOf = async (input: object) =>
      ((await workspace.call('file_read', input)).output as { output: string; error: string }).output
    const first = await textOf({ path: 'line.txt' })
    const [, start_line, start_column] =
      /\n\[cut: continue with start_line (\d+) and start_column (\d+)\]\n$/.exec(first) ?? []
    const rest = await textOf({ path: 'line.txt', start_line: Number(start_line), start_column: Number(start_column) })
    expect(Number(start_column) - 1 + rest.length).toBe(100_000)
    const large = await workspace.call('file_read', { path: 'lines.txt' })
    expect(large).toMatchObject({ isError: true, failure: { code: 'FILE_TOO_LARGE' } })
    expect(JSON.stringify(large.output)).toContain('start_line and end_line')
    expect((await textOf({ path: 'lines.txt', start_line: 69_999 })).length).toBe(4)
  })

  it('/dev/null is empty and stores nothing, and its calls are evaluated and audited', async () => {
    const workspace = await open()
    const path = '/dev/null'
    expect((await workspace.call('file_read', { path })).output).toEqual({ success: true, output: '', error: null })
    expect(await workspace.call('file_write', { path, content: 'gone\n' })).toMatchObject({ output: { success: true } })
    expect(await workspace.call('file_write', { path, content: 'x', append: true })).toMatchObject({ isError: false })
    expect((await workspace.call('file_read', { path })).output).toEqual({ success: true, output: '', error: null })
    const outcomes = workspace.auditRecords().filter(({ phase }) => phase === 'outcome')
    expect(outcomes.map(({ toolName, via, pathsWritten }) => [toolName, via, pathsWritten])).toEqual([
      ['read_file', 'file-read-write.file_read', []],
      ['write_file', 'file-read-write.file_write', []],
      ['write_file', 'file-read-write.file_write', []],
      ['read_file', 'file-read-write.file_read', []],
    ])
    const denied = await open({ preset: 'autonomous', tools: { file_write: 'deny' } })
    expect(await denied.call('file_write', { path, content: 'x' })).toMatchObject({
      failure: { code: 'POLICY_DENIED' },
    })
    const sealed = await open('readOnly')
    expect(await sealed.call('file_write', { path, content: 'x' })).toMatchObject({ failure: { code: 'READ_ONLY' } })
    const planning = await open('autonomous', { mode: 'plan' })
    expect(await planning.call('file_write', { path, content: 'x' })).toMatchObject({ failure: { code: 'PLAN_MODE' } })
  })

  const memoryTools = ['memory_store', 'memory_get', 'memory_search']

  it('the memory tools exist with a memory, and memory_recall without the ACL', async () => {
    const names = async (policy: object) => (await open(policy as PolicyInput)).tools.map(({ name }) => name)
    const preset = 'autonomous'
    expect(await names({ preset })).toEqual(['file_read', 'file_write'])
    expect(await names({ preset, memory: { acl_enabled: false } })).toEqual([
      ...['file_read', 'file_write', ...memoryTools],
      'memory_recall',
    ])
    expect(await names({ preset, memory: { acl_enabled: true } })).toEqual(['file_read', 'file_write', ...memoryTools])
  })

  it('with the ACL, only memory_get and memory_search can access notes', async () => {
    const workspace = await open({ preset: 'autonomous', memory: { acl_enabled: true } } as PolicyInput)
    const note = { id: 'plans/next', content: 'Ship the parser.\n', title: 'Next' }
    expect((await workspace.call('memory_store', note)).output).toEqual({
      ...{ success: true, output: 'Stored the note plans/next', error: null },
    })
    const got = await workspace.call('memory_get', { id: 'plans/next' })
    expect(got.output).toEqual({ success: true, output: 'Ship the parser.\n', error: null })
    const matches = await workspace.call('memory_search', { query: 'PARSER' })
    expect(matches.output).toEqual({ success: true, output: 'plans/next:1: Ship the parser.', error: null })
    for (const path of ['memory/plans/next.md', '/home/user/project/memory/plans/next.md', 'memory/private.md']) {
      expect(await workspace.call('file_read', { path })).toMatchObject({
        isError: true,
        failure: { code: 'POLICY_DENIED' },
      })
      expect(await workspace.call('file_write', { path, content: 'x' })).toMatchObject({ isError: true })
    }
    expect(await workspace.call('memory_recall', {})).toMatchObject({
      isError: true,
      failure: { code: 'UNKNOWN_TOOL' },
    })
    const replaced = await workspace.call('memory_store', { ...note, content: 'Ship it.\n' })
    expect(replaced.output).toMatchObject({ success: true, output: 'Replaced the note plans/next' })
  })
})
