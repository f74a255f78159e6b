import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { approve as approveCommand } from '../../src/cli/approve.ts'
import { answerOf } from '../../src/cli/ask.ts'
import { audit } from '../../src/cli/audit.ts'
import { call as callCommand } from '../../src/cli/call.ts'
import { loadConfig } from '../../src/cli/config.ts'
import { demo } from '../../src/cli/demo.ts'
import { playAgent } from '../../src/cli/demo-agent.ts'
import { overlay as overlayCommand } from '../../src/cli/overlay.ts'
import { parseConfig } from '../../src/cli/parse-config.ts'
import { policy as policyCommand } from '../../src/cli/policy.ts'
import { handleOutputError, program } from '../../src/cli/program.ts'
import { replay } from '../../src/cli/replay.ts'
import { report } from '../../src/cli/report.ts'
import { asTypeError, shellOf } from '../../src/cli/shell.ts'
import { tools as toolsCommand } from '../../src/cli/tools.ts'
import { dialects } from '../../src/dialects/index.ts'
import { ToolError } from '../../src/errors.ts'
import { writeFiles } from '../write-files.ts'
import { autonomous } from './with-policy.ts'

const call = (words: string[]) => callCommand(autonomous(words))
const overlay = (words: string[]) => overlayCommand(autonomous(words))
const policy = (words: string[]) => policyCommand(autonomous(words))
const approve = (words: string[]) => approveCommand(autonomous(words))

const temporaries: string[] = []

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  for (const directory of temporaries.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function directory(tree: Readonly<Record<string, string>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'wardspace-commands-'))
  temporaries.push(path)
  writeFiles(path, tree)
  return path
}

type Command = (words: string[]) => Promise<number>

/** Runs a command; returns its output and exit code. */
async function printed(command: Command, ...words: string[]) {
  const reported = { out: '', error: '' }
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    reported.out += String(part)
    return true
  })
  const error = vi.spyOn(process.stderr, 'write').mockImplementation((part) => {
    reported.error += String(part)
    return true
  })
  try {
    return { code: await command(words), ...reported }
  } finally {
    out.mockRestore()
    error.mockRestore()
  }
}

describe('wrong usage', () => {
  it.each<[command: Command, words: string[], message: string]>([
    [approve, [], 'Which directory?'],
    [audit, [], 'Which action? wardspace audit verify'],
    [audit, ['verify'], 'Which audit file?'],
    [audit, ['verify', 'a', 'b', '--head', 'x'], 'pass only one'],
    [audit, ['verify', '/no/such/file'], 'There is no audit file'],
    [policy, [], 'Which action? wardspace policy check or explain'],
    [policy, ['explain'], 'Which tool?'],
    [
      policy,
      ['explain', 'read_file', '{'],
      'The input is not valid JSON (line 1, column 2): Unexpected end of the text',
    ],
    [policy, ['explain', 'read_file', '{"path":"a","path":"b"}'], 'The name "path" is given twice'],
    [
      call,
      ['write_file', '{"path":"a",\n"\\u0070ath":"b"}'],
      '(line 2, column 1): The name "\\u0070ath" is given twice',
    ],
    [replay, [], 'Which recording?'],
    [replay, ['/no/such/file'], 'Cannot read the recording'],
    [report, ['a', 'b'], 'Unexpected argument "b"'],
    [toolsCommand, ['--root', '/no/such/root'], 'The root "/no/such/root" is not a directory'],
    [overlayCommand, ['shwo'], 'There is no "overlay shwo"; did you mean "show"?'],
    [audit, ['verfy'], 'There is no "audit verfy"; did you mean "verify"?'],
    [policy, ['chek'], 'There is no "policy chek"; did you mean "check"?'],
    [policy, ['explain', 'read_file', '--policy', 'readOnly'], 'Which path or input?'],
    [report, [tmpdir()], 'There is no audit file'],
    [call, ['read_file', '{}', '{}'], 'Unexpected argument "{}"'],
    [call, ['read_file', '{}', '--root', '/no/such/root'], 'The root "/no/such/root" is not a directory'],
    [demo, ['/no/such/root'], 'The root "/no/such/root" is not a directory'],
    [toolsCommand, ['--policy', '-1'], 'one that starts with a dash is written --policy=-1'],
    [toolsCommand, ['--policy', ''], '--policy needs an argument'],
    [toolsCommand, ['somewhere'], 'Unexpected argument "somewhere"; name a directory with --root'],
  ])('throws a TypeError: case %#', async (command, words, message) => {
    await expect(command(words)).rejects.toThrow(message)
  })

  it('exits with 2 and points to the help, which an internal error does not', async () => {
    for (const words of [['nonsense'], ['help', 'nonsense']])
      expect(await printed((all) => program(all), ...words)).toEqual({
        ...{ code: 2, out: '' },
        error: `wardspace: There is no command "nonsense"; the commands are help, acp, approve, audit, call, demo, mcp, overlay, policy, replay, report, tools\nSee: wardspace help\n`,
      })
    expect((await printed((all) => program(all), 'help', 'mpc')).error).toContain('did you mean "mcp"?')
    expect((await printed((all) => program(all), '--version')).out).toMatch(/^\d+\.\d+\.\d+/)
    const { code, out } = await printed((words) => program(words))
    expect([code, out]).toEqual([0, expect.stringContaining('wardspace call NAME')])
    const broken = directory({ people: 'no directory' })
    expect(await printed((words) => program(words), 'demo', broken)).toMatchObject({
      ...{ code: 2, out: '' },
      error: expect.not.stringContaining('See:'),
    })
  })

  it('ends quietly if its output is closed, and reports an output that cannot be written', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never)
    handleOutputError(Object.assign(new Error('closed'), { code: 'EPIPE' }))
    expect(exit).toHaveBeenCalledExactlyOnceWith(2)
    expect(write).not.toHaveBeenCalled()
    handleOutputError(Object.assign(new Error('full'), { code: 'ENOSPC' }))
    expect(write).toHaveBeenCalledWith('wardspace: Cannot write the output: no space is left on the device\n')
    expect(exit).toHaveBeenCalledTimes(2)
  })
})

describe('approve', () => {
  it('lists the waiting calls, answers one, and reports if there is none', async () => {
    const root = directory({ 'a.txt': 'one\n' })
    const parked = directory()
    const location = ['--root', root, '--parked', parked, '--policy', 'supervised']
    expect(await printed(approve, '--parked', parked)).toMatchObject({ code: 0, out: 'No calls are waiting.\n' })
    expect(await printed(approve, 'none', '--parked', parked)).toMatchObject({ code: 1 })
    const edit = JSON.stringify({ path: 'a.txt', oldText: 'one', newText: 'two' })
    const request = JSON.parse((await printed(call, 'edit_file', edit, ...location)).out) as { approvalId: string }
    const waiting = JSON.parse((await printed(approve, '--parked', parked, '--json')).out) as object[]
    expect(waiting).toMatchObject([{ id: request.approvalId }])
    expect((await printed(approve, request.approvalId, '--parked', parked)).out).toContain(request.approvalId)
    const answered = await printed(approve, request.approvalId, 'run', ...location, '--json')
    expect(JSON.parse(answered.out)).toMatchObject({ ok: true })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('two\n')
    await expect(call(['read_file', '{}', '--root', root, '--parked', join(root, 'p')])).rejects.toThrow(
      'inside the root',
    )
  })

  it('accepts answers as people type them', () => {
    expect(answerOf(' R ')).toMatchObject({ allow: 'run' })
    expect(answerOf('')).toMatchObject({ deny: 'refused in the terminal' })
    expect(answerOf('not that one')).toMatchObject({ deny: 'not that one' })
  })

  it('asks no question if only the input is a terminal', async () => {
    const root = directory({ 'a.txt': 'one\n' })
    const { stdin } = process
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(Object.assign(Object.create(stdin), { isTTY: true }))
    const words = ['delete_file', '{"path":"a.txt"}', '--root', root, '--policy', 'supervised', '--plan']
    expect((await printed(call, ...words)).out).toContain('"PLAN_MODE"')
  })
})

describe('--plan', () => {
  it.each(Object.keys(dialects))('with the dialect %s is refused if it has no tool for plans', async (dialect) => {
    const words = ['unknown', '{}', '--root', directory(), '--policy', 'readOnly', '--plan', '--dialect', dialect]
    if (dialect === 'snake-case') expect((await printed(call, ...words)).out).toContain('UNKNOWN_TOOL')
    else await expect(printed(call, ...words)).rejects.toThrow(/--plan needs a tool that submits plans/)
  })
})

describe('audit and report', () => {
  it('report where a file is damaged, and a missing run', async () => {
    const root = directory({ 'a.txt': 'one\n' })
    const file = join(directory(), 'audit.jsonl')
    await printed(call, 'read_file', '{"path":"a.txt"}', '--root', root, '--audit', file)
    const whole = readFileSync(file, 'utf8')
    const after = '0'.repeat(64)
    expect(await printed(audit, 'verify', file, '--after', after)).toMatchObject({ code: 0 })
    writeFileSync(file, whole.replace('\n', '\nno record\n'))
    expect((await printed(audit, 'verify', file)).out).toMatch(/damaged.*record 2 \(line 2 of .*audit\.jsonl\)/)
    writeFileSync(file, `no record\n${whole}`)
    expect(await printed(report, file)).toMatchObject({ code: 1, error: expect.stringContaining('there is no run in') })
    expect((await printed(report, file, '--run', 'x')).error).toContain('there is no run "x" in')
  })
})

describe('a configuration', () => {
  it.each([
    ['{ "audit": "a", "log_path": "b" }', '"log_path" and "audit" mean the same'],
    ['{\n"log_path": 5 }', ':2: "audit" must be the name of a file'],
    ['{ "preset": "autonomous", "memory": 5, "acl_enabled": true }', 'memory'],
    ['{ "preset": "nonsense" }', 'preset'],
    ['{ "preset": "readOnly", "allowedPaths": ["a"], "allowed_paths": ["b"] }', 'allowed'],
    ['{ "limits": { "callsPerMinute": -1 } }', 'callsPerMinute'],
  ])('%s is refused', async (text, message) => {
    const root = directory({ 'p.json': text })
    await expect(loadConfig(root, join(root, 'p.json'))).rejects.toThrow(message)
  })

  it('may contain an absolute audit path, start with a byte order mark, and govern a missing root', async () => {
    const root = directory({ 'p.json': '\ufeff{ "preset": "readOnly", "audit": "/var/log/a.jsonl" }' })
    expect(await loadConfig('/no/such/root', join(root, 'p.json'))).toMatchObject({ audit: '/var/log/a.jsonl' })
  })

  it('in TOML has a limited depth, and errors with their position', () => {
    expect(() => parseConfig(`a = ${'['.repeat(200)}`, 'toml', 'p.toml')).toThrow(/^p\.toml/)
    expect(() => parseConfig('a = \n', 'toml', 'p.toml')).toThrow(/^p\.toml:1:\d+: not valid TOML: [^\n]+$/)
  })
})

describe('overlay', () => {
  it('shows a deletion, and reports where the stored overlay is damaged', async () => {
    const root = directory({ 'a.txt': 'one\n' })
    const home = directory()
    // Without XDG_STATE_HOME, the state is below the home directory.
    vi.stubEnv('XDG_STATE_HOME', '')
    vi.stubEnv('HOME', home)
    await printed(call, 'delete_file', '{"path":"a.txt"}', '--root', root, '--overlay')
    expect(existsSync(join(home, '.local/state/wardspace/overlays'))).toBe(true)
    const { out } = await printed(overlay, 'show', '--json', '--root', root)
    expect(JSON.parse(out)).toEqual({ ok: true, pending: [{ path: 'a.txt', to: 'absent' }] })
    await expect(overlay(['accept', '--root', root, '--policy', 'nonsense'])).rejects.toThrow('no policy preset')
    // Damages the stored overlay.
    const stateDirectory = join(home, '.local/state/wardspace/overlays')
    for (const name of readdirSync(stateDirectory, { recursive: true, encoding: 'utf8' })) {
      if (name.includes('/files/') && statSync(join(stateDirectory, name)).isFile())
        writeFileSync(join(stateDirectory, name), 'damaged')
    }
    expect(await printed(overlay, 'show', '--root', root)).toMatchObject({
      ...{ code: 1, out: '' },
      error: expect.stringContaining('wardspace: BACKEND_ERROR'),
    })
  })
})

describe('overlay accept', () => {
  it('merges with what others changed since with --merge, and refuses --merge elsewhere', async () => {
    const root = directory({ 'a.txt': 'one\ntwo\nthree\nfour\n' })
    vi.stubEnv('XDG_STATE_HOME', directory())
    const edit = { path: 'a.txt', oldText: 'one', newText: 'ONE' }
    await printed(call, 'edit_file', JSON.stringify(edit), '--root', root, '--overlay')
    writeFileSync(join(root, 'a.txt'), 'one\ntwo\nthree\nFOUR\n')
    expect(await printed(overlay, 'accept', '--root', root)).toMatchObject({ code: 1 })
    await expect(overlay(['show', '--merge', '--root', root])).rejects.toThrow(
      '--merge has no effect on "overlay show"; use it with "overlay accept"',
    )
    const { code, out } = await printed(overlay, 'accept', '--merge', '--json', '--root', root)
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, ok: true, merged: ['a.txt'] })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ONE\ntwo\nthree\nFOUR\n')
  })
})

describe('policy explain', () => {
  const explain = (...words: string[]) => printed(policy, 'explain', ...words)

  it.each([
    ['apply_patch', 'src/a.ts', 'file:patch:apply'],
    ['move_file', 'a.txt', 'a.txt.to'],
    ['edit_file', 'a.txt', 'file:write:replace'],
    ['read_file', '{"path":"a.txt"}', 'file:read'],
    ['replace_range', 'a.txt', 'file:write:replace'],
    ['read_file', 'link', '→ a.txt'],
    ['diff_workspace', 'a.txt', 'file:diff'],
    ['no_such_tool', 'a.txt', 'refused\n  UNKNOWN_TOOL: '],
    ['list_directory', '["src"]', 'refused\n  INVALID_INPUT: '],
    ['list_directory', '[id]', 'allowed'],
    ['read_file', '.env', 'denied (POLICY_DENIED_SECRET)'],
    ['delete_file', 'package-lock.json', 'asked about'],
  ])('explains %s %s', async (tool, target, expected) => {
    const root = directory({ 'a.txt': 'one\n', 'src/a.ts': 'x\n', '.env': '', 'package-lock.json': '{}' })
    symlinkSync('a.txt', join(root, 'link'))
    const { out } = await explain(tool, target, '--root', root, '--policy', 'autonomous')
    expect(out).toContain(expected)
  })

  it('names the tools of the dialect for an unknown one', async () => {
    const words = ['read_text_fil', 'a.txt', '--root', directory({}), '--policy', 'autonomous']
    const { out } = await explain(...words, '--dialect', 'mcp-filesystem')
    expect(out).toContain('Did you mean "read_text_file"? Use one of: read_file, read_text_file, ')
    expect(out).not.toContain('find_files')
  })
})

describe('an audit file', () => {
  it('that cannot be written is named by policy check and by every command', async () => {
    const root = directory({ 'a.txt': 'one\n' })
    const home = directory({ 'policy.json': '' })
    const file = join(home, 'policy.json')
    mkdirSync(join(home, 'logs'))
    for (const [name, problem] of [
      [join(home, 'logs'), 'it is a directory'],
      ['logs', 'it is a directory'],
      [join(root, 'audit.jsonl'), 'it is inside the root'],
      ['missing/audit.jsonl', 'there is no directory'],
      ['/dev/null', 'it is not a regular file'],
    ] as const) {
      for (const policyFile of [{ audit: name }, { security: { audit: { enabled: true, log_path: name } } }]) {
        writeFileSync(file, JSON.stringify({ preset: 'autonomous', ...policyFile }))
        const options = ['--root', root, '--policy', file]
        const checked = await printed(policy, 'check', ...options)
        expect([checked.code, checked.out]).toEqual([1, expect.stringContaining(`cannot be written: ${problem}`)])
        await expect(call(['read_file', '{"path":"a.txt"}', ...options])).rejects.toThrow(`": ${problem}`)
      }
    }
    expect(readdirSync(root)).toEqual(['a.txt'])
  })

  it.each(['~/audit.jsonl', '$HOME/audit.jsonl', `\${HOME}/audit.jsonl`])('is a path as it is: %s', async (name) => {
    const home = directory({ 'policy.json': JSON.stringify({ preset: 'autonomous', audit: name }) })
    const options = ['--root', directory({}), '--policy', join(home, 'policy.json')]
    await expect(policy(['check', ...options])).rejects.toThrow(
      new RegExp(`^${home}/policy.json: The audit file is "[^"]+", but ~ and variables are not expanded`),
    )
  })

  it('of the policy is named where --audit replaces it', async () => {
    const root = directory({ 'a.txt': 'one\n' })
    const home = directory({ 'policy.json': JSON.stringify({ preset: 'autonomous', audit: 'a.jsonl' }) })
    const options = ['--root', root, '--policy', join(home, 'policy.json')]
    const read = ['read_file', '{"path":"a.txt"}', ...options]
    expect((await printed(call, ...read)).error).toBe('')
    const { error } = await printed(call, ...read, '--audit', join(home, 'b.jsonl'))
    expect(error).toContain(`b.jsonl replaces the audit file of the policy, ${join(home, 'a.jsonl')}`)
    expect((await printed(call, ...read, '--audit', join(home, 'a.jsonl'))).error).toBe('')
  })
})

describe('replay', () => {
  /** Records calls, to repeat them on other files. */
  async function recorded(calls: readonly (readonly [name: string, input: object])[], words: string[] = []) {
    const file = join(directory(), 'recording.jsonl')
    const root = directory({ 'a.txt': 'one\n' })
    for (const [name, input] of calls)
      await printed(call, name, JSON.stringify(input), '--root', root, ...words, '--record', file)
    return { file, root }
  }

  it('runs the commands of a recording in the same shell', async () => {
    const { file, root } = await recorded([['run_command', { command: 'cat a.txt' }]], ['--shell', 'bash'])
    const { code, out } = await printed(replay, file, '--root', root, '--json')
    expect([code, JSON.parse(out)]).toMatchObject([0, { ok: true }])
  })

  it('shows a short difference if the files differ', async () => {
    const { file } = await recorded([['read_file', { path: 'a.txt' }]])
    const other = directory({ 'a.txt': `${'long '.repeat(200)}\n` })
    const { code, out } = await printed(replay, file, '--root', other)
    expect(code).toBe(1)
    expect(out).toMatch(/different {2}step 1, read_file of run/)
    expect(out).toContain('…')
    expect(await printed(replay, file, '--root', directory())).toMatchObject({ code: 1 })
  })

  it('shows control characters of a recording by their code points', async () => {
    const { file, root } = await recorded([['read_file', { path: 'a.txt' }]])
    const named = readFileSync(file, 'utf8').replace('"name":"read_file"', '"name":"\\u001b[2J\u202e"')
    writeFileSync(file, named.replace('"ok":true', '"ok":"\u202e"'))
    const { out } = await printed(replay, file, '--root', root)
    expect(out).toMatch(/step 1, u\+001b\[2Ju\+202e of run/)
    expect(out).not.toContain('\u202e')
  })

  it('rejects a file that does not start like a recording', async () => {
    const { file, root } = await recorded([['read_file', { path: 'a.txt' }]])
    for (const text of [readFileSync(file, 'utf8').replace(/^.*\n/, ''), '']) {
      writeFileSync(file, text)
      await expect(replay([file, '--root', root])).rejects.toThrow(TypeError)
    }
  })

  it('names a step without a tool by its type', async () => {
    const { file, root } = await recorded([['read_file', { path: 'a.txt' }]])
    const [workspace, run = ''] = readFileSync(file, 'utf8').split('\n')
    const { id } = JSON.parse(run).run
    const undo = { type: 'undo', runId: id, at: 0, input: { id: 'none' }, result: { ok: true } }
    writeFileSync(file, `${[workspace, run, JSON.stringify(undo)].join('\n')}\n`)
    const { code, out } = await printed(replay, file, '--root', root)
    expect([code, out]).toEqual([1, expect.stringMatching(/^different {2}step 1, undo of run .*\n {2}recorded true\n/)])
  })

  it('does not repeat a call whose input contained a secret', async () => {
    const secret = { path: 'b.txt', content: `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}\n` }
    const { file, root } = await recorded([['write_file', secret]])
    expect((await printed(replay, file, '--root', root)).out).toContain('its input contained a secret')
  })
})

describe('a shell that is not available', () => {
  const position = { roots: [{ at: '', directory: '/no/such/root' }], overlay: false, readOnly: false }

  it('throws a TypeError with the hint', async () => {
    await expect(shellOf('node', position)).rejects.toThrow(TypeError)
    const refused = (hint?: string) =>
      asTypeError(async () => {
        throw new ToolError('SHELL_UNAVAILABLE', 'There is none', hint === undefined ? {} : { hint })
      })
    await expect(refused()).rejects.toThrow(new TypeError('There is none'))
    await expect(refused('Take another.')).rejects.toThrow(new TypeError('There is none. Take another.'))
    const sandbox = refused("Pass a `sandbox`, or run commands without one: sandbox: 'none'.")
    await expect(sandbox).rejects.toThrow(new TypeError('There is none. Use --shell bash, which needs none.'))
  })
})

describe('demo', () => {
  it('asks the user at the terminal, and only reads the disk', async () => {
    const long = `export function answer() { return '${'x'.repeat(120)}' }`
    const root = directory({
      'src/app.ts': `${long}\nconst other = 1\nconst more = 2\n`,
      large: 'x'.repeat(4 * 1024 * 1024 + 1),
    })
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from(['y\n', 'n\n', 'y\n']) as typeof process.stdin)
    const { code, out } = await printed(demo, '--ask', '--root', root)
    expect(out).toContain('What changed')
    expect(out).toContain('…')
    expect(code).toBe(0)
    expect(readFileSync(join(root, 'src/app.ts'), 'utf8')).toContain(long)
  })

  it('counts unexpected results, and ends if a required call is refused', async () => {
    const result = { ok: true, callId: 'c', warnings: [], content: 'b', matches: [], files: [] }
    const played = await playAgent(async () => result as never)
    expect(played).toMatchObject({ unexpected: played.refused, diffs: [] })
    expect(played.unexpected).toBeGreaterThan(10)
    await playAgent(async () => ({ ...result, content: '' }) as never)
    const refused = { ok: false, code: 'READ_ONLY', message: 'Nothing may change', hint: '' }
    await expect(playAgent(async () => refused as never)).rejects.toThrow('list_directory was refused: READ_ONLY')
    // A file in which no text occurs twice.
    const odd = directory({ 'a.rs': 'fn ab\n' })
    expect((await printed(demo, odd)).code).toBe(1)
  })
})
