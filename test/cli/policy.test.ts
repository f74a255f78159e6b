import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { loadConfig } from '../../src/cli/config.ts'
import { parseConfig } from '../../src/cli/parse-config.ts'
import { policy } from '../../src/cli/policy.ts'
import { createWorkspace } from '../../src/index.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { times } from '../counts.ts'
import { runCli } from './run-cli.ts'

const expectedPolicy = {
  preset: 'supervised',
  deniedPaths: ['docs/**'],
  tools: { delete_file: 'deny', write_file: 'ask' },
  rules: [{ name: 'locks', action: 'ask', paths: ['*.lock'], permissions: ['file:write:*'] }],
  limits: { callsPerMinute: 30, toolCallsPerMinute: { search_text: 5 } },
  requireApprovalIf: ['deletesFile'],
}

/** The same policy in every format, in camelCase and in snake_case. */
const spelled = {
  'ours.json': JSON.stringify(expectedPolicy, null, 2),
  'ours.toml': `preset = "supervised"
deniedPaths = ["docs/**"]
requireApprovalIf = ["deletesFile"]

[tools]
delete_file = "deny"
write_file = "ask"

[limits]
callsPerMinute = 30
toolCallsPerMinute = { search_text = 5 }

[[rules]]
name = "locks"
action = "ask"
paths = ["*.lock"]
permissions = ["file:write:*"]
`,
  'ours.yaml': `# supervised
preset: supervised
deniedPaths: [docs/**]
requireApprovalIf:
  - deletesFile
tools: { delete_file: deny, write_file: ask }
limits:
  callsPerMinute: 30
  toolCallsPerMinute: { search_text: 5 }
rules:
  - name: locks
    action: ask
    paths: ["*.lock"]
    permissions: ["file:write:*"]
`,
  'theirs.yml': `default_action: supervised
denied_paths: [docs/**]
require_approval_if: [deletesFile]
tools: { delete_file: deny, write_file: supervised }
limits: { calls_per_minute: 30, tool_calls_per_minute: { search_text: 5 } }
rules:
  - { name: locks, action: supervised, paths: ["*.lock"], permissions: ["file:write:*"] }
log_path: ../audit.jsonl
acl_enabled: false
`,
  'theirs.toml': `default_action = "ask"
denied_paths = ["docs/**"]
require_approval_if = ["deletesFile"]
log_path = "../audit.jsonl"
tools = { delete_file = "deny", write_file = "supervised" }
limits = { calls_per_minute = 30, tool_calls_per_minute = { search_text = 5 } }
rules = [{ name = "locks", action = "supervised", paths = ["*.lock"], permissions = ["file:write:*"] }]
`,
}

describe('a configuration file', () => {
  let home: string
  let root: string

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'wardspace-config-'))
    root = join(home, 'project')
    await mkdir(join(root, 'src'), { recursive: true })
  })

  afterEach(() => rm(home, { recursive: true, force: true }))

  async function config(name: string, text: string | Uint8Array): Promise<string> {
    const file = join(home, name)
    await writeFile(file, text)
    return file
  }

  async function fault(name: string, text: string | Uint8Array): Promise<string> {
    const file = await config(name, text)
    try {
      await loadConfig(root, file)
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError)
      return (error as Error).message.replaceAll(home, '')
    }
    return 'no error'
  }

  it.each(Object.entries(spelled))('has the same meaning in every format and spelling: %s', async (name, text) => {
    const { policy, audit } = await loadConfig(root, await config(name, text))
    const { readOnlyPaths, ...rest } = compilePolicy(policy).data
    expect(rest).toEqual(expectedPolicy)
    expect(readOnlyPaths).toContain('wardspace.config.json')
    expect(audit).toBe(name.startsWith('theirs') ? join(home, '../audit.jsonl') : undefined)
  })

  it('understands acl_enabled', async () => {
    const memoryOf = async (text: string) =>
      compilePolicy((await loadConfig(root, await config('a.yaml', text))).policy).data.memory
    expect(await memoryOf('acl_enabled: true\n')).toEqual({ acl: true })
    expect(await memoryOf('acl_enabled: true\nmemory: { path: notes }\n')).toEqual({ path: 'notes', acl: true })
    expect(await memoryOf('acl_enabled: false\n')).toBeUndefined()
    await expect(memoryOf('acl_enabled: true\nmemory: { acl: false }\n')).rejects.toThrow('keep one')
  })

  it.each([
    ['allow', { preset: 'autonomous' }],
    ['supervised', { preset: 'supervised' }],
    ['ask', { preset: 'supervised' }],
    ['deny', {}],
  ])('understands default_action: %s', (action, data) => {
    expect(compilePolicy({ default_action: action }).data).toEqual(data)
  })

  it.each<[string, string, ...string[]]>([
    ['a.json', '{"preset": "autonomous",}', '/a.json:1:25: not valid JSON: A comma before } is not allowed'],
    ['b.json', '{\n  "rules": [\n', '/b.json:3:1: not valid JSON', 'Unexpected end of the text'],
    [
      'c.json',
      '{\n  "deniedPaths": ["a"],\n  "deniedPaths": ["b"]\n}',
      '/c.json:3:3:',
      'The name "deniedPaths" is given twice',
    ],
    ['d.json', "{ 'preset': 1 }", '/d.json:1:3:'],
    ['e.json', '{} {}', '/e.json:1:4:', 'after the end'],
    ['a.toml', 'preset = "autonomous"\nrules = [1,,2]\n', '/a.toml:2:', 'not valid TOML'],
    ['b.toml', 'preset = "a"\npreset = "b"\n', '/b.toml:2:', 'not valid TOML'],
    ['a.yaml', 'preset: autonomous\n rules: []\n', '/a.yaml:', 'not valid YAML'],
    ['b.yaml', 'preset: autonomous\npreset: readOnly\n', '/b.yaml:2:1: not valid YAML', 'unique'],
    ['c.yaml', 'preset: !!js/function "x"\n', '/c.yaml:1:', 'not valid YAML'],
    ...['*.env', '**/*.env', '*', '**', '!a/**', '@a/**', '%a', '`a`'].flatMap((glob) =>
      ['deniedPaths: [G]', 'deniedPaths:\n  - G', 'deniedPaths: [a, G]'].map(
        (text): [string, string, string, string] => [
          'd.yaml',
          `preset: autonomous\n${text.replace('G', glob)}\n`,
          '/d.yaml:',
          `begins with ${glob[0]} must be in quotes`,
        ],
      ),
    ),
    ['d.yaml', '', '/d.yaml: a policy is an object'],
    ['two.yaml', 'preset: autonomous\n---\npreset: readOnly\n', '/two.yaml:2:', 'not another document'],
    ['omap.yaml', '!!omap [preset: autonomous]\n', '/omap.yaml: a policy is an object'],
    ['omap2.yaml', 'commands: !!omap [deny: [ls]]\n', '/omap2.yaml:1: Policy field "commands" must be plain data'],
    ['set.yaml', 'tools: !!set { a }\n', '/set.yaml:1: Policy field "tools" must be plain data'],
    ['date.toml', 'limits = 1979-05-27T07:32:00Z\n', '/date.toml: Policy field "limits" must be plain data'],
    ['e.yaml', '- preset\n', '/e.yaml: a policy is an object'],
    ['f.yaml', 'preset: auto\n', '/f.yaml:1: Policy field "preset" must be "readOnly" or', 'not "auto"'],
    [
      'g.yaml',
      'preset: autonomous\nrules:\n  - name: a\n    action: allow\n    path: [x]\n',
      '/g.yaml:5:',
      '"rules[0].path" is unknown',
      'paths',
    ],
    [
      'h.yaml',
      'preset: autonomous\nrules:\n  - name: a\n',
      '/h.yaml:3: Policy field "rules[0].action" is missing',
      '"allow"',
    ],
    [
      'i.yaml',
      'preset: autonomous\nrules:\n  - name: a\n    action: deny\n    paths:\n      - ok\n      - ../up\n',
      '/i.yaml:7:',
      'glob',
    ],
    [
      'j.yaml',
      'preset: autonomous\ntools:\n  raed_file: deny\n',
      '/j.yaml:3: Unknown tool "raed_file" in tools (policy field "tools.raed_file")',
      'did you mean "read_file"?',
    ],
    ['k.yaml', 'preset: autonomous\ndefault_action: allow\n', 'keep one'],
    ['l.yaml', 'default_action: maybe\n', '/l.yaml', '"default_action" must be "allow"', 'not "maybe"'],
    ['m.yaml', 'denied_paths: [a]\ndeniedPaths: [b]\n', 'two spellings'],
    ['n.yaml', 'preset: autonomous\naudit: 5\n', '/n.yaml:2: "audit" must be the name of a file'],
    [
      'o.yaml',
      'preset: autonomous\nacl_enabled: "yes"\n',
      '/o.yaml:2: Policy field "acl_enabled" must be true or false',
    ],
    ['p.yaml', 'a: &a [x]\nb: [*a, *c]\n', '/p.yaml'],
    ['q.toml', 'preset = "autonomous"\n[rule]\n', '/q.toml: Policy field "rule" is unknown', 'rules'],
    ['r.json', '{"__proto__": {"preset": "autonomous"}}', '/r.json', '__proto__'],
    ['s.ini', 'preset=autonomous', '"/s.ini" is neither .json, .toml nor .yaml'],
  ])('%s: the error names the file, the line or field, and what is expected', async (name, text, ...parts) => {
    const message = await fault(name, text)
    for (const part of parts) expect(message).toContain(part)
  })

  it('is refused if it is not UTF-8, too large, missing, or an alias bomb', async () => {
    expect(await fault('a.json', Uint8Array.of(0x7b, 0xff, 0x7d))).toContain('not UTF-8')
    expect(await fault('b.json', `{"a":"${'x'.repeat(1024 * 1024)}"}`)).toContain('larger than 1 MiB')
    await expect(loadConfig(root, join(home, 'absent.json'))).rejects.toThrow('Cannot read the policy file')
    await expect(loadConfig(root, 'readonly')).rejects.toThrow('There is no policy preset "readonly"; use readOnly, ')
    for (const [preset, meant] of [
      ['readonly', 'readOnly'],
      ['read-only', 'readOnly'],
      ['Autonomous', 'autonomous'],
      ['autonomos', 'autonomous'],
      ['ask', 'supervised'],
    ] as const)
      await expect(loadConfig(root, preset)).rejects.toThrow(`did you mean "${meant}"?`)
    const levels = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`)
    expect(await fault('c.yaml', `a0: &a0 [x]\n${levels.join('\n')}\n`)).toMatch(/alias/)
  })

  it('is found in the root, and refused if there are two', async () => {
    await expect(loadConfig(root, undefined)).rejects.toThrow(
      'A policy is required: name readOnly, supervised, autonomous',
    )
    await writeFile(join(root, 'wardspace.config.toml'), 'preset = "readOnly"\n')
    expect(await loadConfig(root, undefined)).toMatchObject({ policy: { preset: 'readOnly' }, found: true })
    expect(await loadConfig(root, 'supervised')).toMatchObject({ policy: { preset: 'supervised' } })
    await writeFile(join(root, 'WARDSPACE.config.json'), '{')
    expect(await loadConfig(root, undefined)).toMatchObject({ policy: { preset: 'readOnly' } })
    await writeFile(join(root, 'wardspace.config.json'), '{}')
    await expect(loadConfig(root, undefined)).rejects.toThrow(/keep one/)
  })

  it('cannot be changed by the agent that it governs, anywhere in the root', async () => {
    const own = join(root, 'src/po[l]icy.yaml')
    await writeFile(own, 'preset: autonomous\n')
    const { policy } = await loadConfig(root, own)
    const workspace = await createWorkspace({ backend: nodeBackend(root), policy })
    for (const path of ['src/po[l]icy.yaml', 'wardspace.config.json', 'wardspace.config.yml']) {
      const content = 'preset: autonomous\n'
      expect(await workspace.call('write_file', { path, content })).toMatchObject({ ok: false, code: 'READ_ONLY' })
    }
    expect(await workspace.call('move_file', { path: 'src', to: 'other' })).toMatchObject({ code: 'READ_ONLY' })
    await workspace.close()
    expect(await readFile(own, 'utf8')).toBe('preset: autonomous\n')
  })

  const run = (...args: string[]) => runCli(args, { env: { XDG_STATE_HOME: join(home, 'state') }, cwd: root })

  it('governs every command, and is explained by policy explain', async () => {
    await writeFile(join(root, 'wardspace.config.yaml'), spelled['ours.yaml'])
    const result = await run('call', 'write_file', '{"path":"docs/a.md","content":"a"}')
    expect(result.stderr).toContain('policy of wardspace.config.yaml')
    expect(JSON.parse(result.stdout)).toMatchObject({ code: 'POLICY_DENIED' })

    const request = await run('policy', 'explain', 'write_file', 'yarn.lock')
    expect(request.code).toBe(0)
    expect(request.stdout).toMatch(/^write_file yarn\.lock: asked about\n/)
    for (const part of [/rule +locks/, /tool +write_file/, /protection +lockfile/, /preset +supervised/, /LOCKFILE/]) {
      expect(request.stdout).toMatch(part)
    }
    const denied = await run('policy', 'explain', 'read_file', 'docs/a.md', '--json')
    expect(denied.code).toBe(1)
    expect(JSON.parse(denied.stdout)).toMatchObject({
      tool: 'read_file',
      input: { path: 'docs/a.md' },
      ok: true,
      verdict: { decision: 'deny', rules: [{ name: 'deniedPaths', action: 'deny' }, { name: 'supervised' }] },
    })
    const command = await run('policy', 'explain', 'run_command', 'rm -rf / && ls')
    expect(command.code).toBe(1)
    expect(command.stdout).toContain('COMMAND_DENIED')
    const wrong = await run('policy', 'explain', 'read_file', 'a', '--policy', './absent.toml')
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Cannot read the policy file') })
  })
})

describe('JSON errors', () => {
  it('are not reported for valid JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        // A repeated key is refused, and `__proto__` is a normal key.
        expect(parseConfig(text, 'json', 'a.json').data).toEqual(JSON.parse(text))
      }),
      { numRuns: times(50, 300) },
    )
  })
})

describe('wardspace policy check', () => {
  it('prints the findings, and ends with 0, 1 or 2', async () => {
    const printed: string[] = []
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
    const home = await mkdtemp(join(tmpdir(), 'wardspace-check-'))
    try {
      const rule = { name: 'docs are final', action: 'ask', permissions: ['file:write:*'], paths: ['docs/**'] }
      const file = join(home, 'p.json')
      await writeFile(file, JSON.stringify({ preset: 'autonomous', rules: [rule] }))
      expect(await policy(['check', '--policy', file])).toBe(1)
      expect(printed.join('')).toContain(
        'docs are final: It asks about changes of docs/**, but leaves open: file:append',
      )
      expect(await policy(['check', '--policy', file, '--json'])).toBe(1)
      expect(JSON.parse(printed.at(-1) ?? '')).toEqual([
        { rule: 'docs are final', message: expect.any(String), hint: expect.any(String) },
      ])
      await writeFile(
        file,
        JSON.stringify({ preset: 'autonomous', rules: [{ ...rule, permissions: ['file:change'] }] }),
      )
      expect(await policy(['check', '--policy', file])).toBe(0)
      for (const [mode, code] of [
        ['create_new', 1],
        ['CREATE_NEW', 0],
      ]) {
        const named = { name: 'x', action: 'deny', tools: ['write_file'], args: { mode: [mode] } }
        await writeFile(file, JSON.stringify({ preset: 'autonomous', rules: [named] }))
        expect(await policy(['check', '--policy', file])).toBe(code)
        expect(await policy(['check', '--policy', file, '--dialect', 'codex'])).toBe(code)
      }
      await expect(policy(['check', 'more', '--policy', file])).rejects.toThrow(TypeError)
    } finally {
      write.mockRestore()
      await rm(home, { recursive: true, force: true })
    }
  })
})
