import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { optionsOf } from '../../src/cli/parse-words.ts'
import { program } from '../../src/cli/program.ts'
import { isLong } from '../counts.ts'
import { main, runHere } from './run-cli.ts'

afterEach(() => vi.restoreAllMocks())

/** The options of each command, with a value for those that take one. */
const workspaceOptions = [
  'root',
  'policy',
  'audit',
  'read-only',
  'overlay',
  'json',
  'plan',
  'parked',
  'record',
  'dialect',
]
const http = ['http', 'host', 'token-file', 'allowed-host', 'allowed-origin']
const commands: Readonly<Record<string, { readonly words: readonly string[]; readonly options: readonly string[] }>> = {
  acp: { words: ['acp'], options: ['root', 'policy', 'audit', 'read-only', 'overlay', 'record', 'shell', 'git'] },
  approve: { words: ['approve'], options: [...workspaceOptions, 'shell', 'git'] },
  'audit verify': { words: ['audit', 'verify', 'x'], options: ['head', 'after', 'json'] },
  call: { words: ['call', 'read_file'], options: [...workspaceOptions, 'shell', 'git', 'ask'] },
  demo: { words: ['demo'], options: ['root', 'ask'] },
  mcp: { words: ['mcp'], options: [...workspaceOptions, 'shell', 'git', 'ask', ...http] },
  overlay: { words: ['overlay', 'accept'], options: ['root', 'policy', 'audit', 'dialect', 'merge', 'json'] },
  'policy check': { words: ['policy', 'check'], options: ['root', 'policy', 'dialect', 'json'] },
  'policy explain': {
    words: ['policy', 'explain', 'read_file', 'a.txt'],
    options: ['root', 'policy', 'read-only', 'overlay', 'plan', 'dialect', 'json'],
  },
  replay: { words: ['replay', 'x'], options: ['root', 'dialect', 'json'] },
  report: { words: ['report', 'x'], options: ['run', 'json', 'markdown'] },
  tools: { words: ['tools'], options: ['root', 'policy', 'read-only', 'dialect', 'shell', 'json'] },
}
const flags = new Set(['read-only', 'overlay', 'json', 'ask', 'plan', 'markdown', 'merge', 'git'])
const repeatable = new Set(['root', 'allowed-host', 'allowed-origin'])
const all = [...new Set(Object.values(commands).flatMap(({ options }) => options))]

/** Returns the name with one letter dropped, one doubled, and, if it is long enough, two swapped. */
function misspelled(name: string): readonly string[] {
  const at = Math.floor(name.length / 2)
  return [
    name.slice(0, at) + name.slice(at + 1),
    name.slice(0, at) + name[at] + name.slice(at),
    name.length < 5 ? `${name}s` : `${name.slice(0, at - 1)}${name[at]}${name[at - 1]}${name.slice(at + 1)}`,
  ].filter((wrong) => !all.includes(wrong))
}

async function run(words: readonly string[]): Promise<{ readonly code: number; readonly error: string }> {
  let error = ''
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    error += String(text)
    return true
  })
  return { code: await program(words), error }
}

let cases = 0

describe('the help', () => {
  it.each(Object.keys(optionsOf))('of %s has its rows and exactly its options', async (command) => {
    const rows = Object.entries(commands).filter(([name]) => name.split(' ')[0] === command)
    const expected = new Set(rows.flatMap(([, { options }]) => options))
    for (const words of [
      ['help', command],
      [command, '--help'],
      ...rows.map(([name]) => ['help', ...name.split(' ')]),
    ]) {
      const { code, stdout } = await runHere(words)
      expect([words, code]).toEqual([words, 0])
      expect(new Set(stdout.match(/(?<=^ {2}--)[a-z-]+/gm))).toEqual(expected)
      for (const [name] of rows) expect(stdout).toContain(`  wardspace ${name} `)
      expect(stdout.match(/^ {2}wardspace \S+/gm)?.every((row) => row === `  wardspace ${command}`)).toBe(true)
    }
    for (const surplus of ['x', 'x y', '--json']) {
      const { code, stderr } = await runHere(['help', command, ...surplus.split(' ')])
      expect([surplus, code]).toEqual([surplus, 2])
      expect(stderr).toMatch(/Unexpected argument|There is no "/)
    }
  })

  it('of all has every command and option once', async () => {
    const { stdout } = await runHere(['help'])
    expect(stdout.match(/(?<=^ {2}--)[a-z-]+/gm)?.sort()).toEqual([...all].sort())
    for (const name of Object.keys(commands)) expect(stdout).toContain(`  wardspace ${name} `)
    expect(await runHere(['help', 'help'])).toEqual({ code: 0, stdout, stderr: '' })
    expect(Object.keys(optionsOf)).toEqual([...new Set(Object.keys(commands).map((name) => name.split(' ')[0]))])
  })

  it('is named after wrong usage of a command', async () => {
    for (const command of Object.keys(optionsOf)) {
      expect((await run([command, '--nope'])).error).toContain(`See: wardspace help ${command}\n`)
    }
  })
})

describe.each(Object.entries(commands))('the options of %s', (_command, { words, options }) => {
  it('are suggested for a misspelled option', async () => {
    for (const name of options) {
      for (const wrong of misspelled(name)) {
        cases += 1
        for (const spelled of [[`--${wrong}`], [`--${wrong}=x`]]) {
          const { code, error } = await run([...words, ...spelled])
          expect([spelled, code]).toEqual([spelled, 2])
          expect(error).toContain(`There is no option "--${wrong}"`)
        }
        const { error } = await run([...words, `--${wrong}`])
        expect(error).toContain(`did you mean "--${name}"?`)
      }
    }
    expect(await run([...words, '-j'])).toMatchObject({
      code: 2,
      error: expect.stringContaining('There is no option "-j"'),
    })
    expect(await run([...words, '--__proto__'])).toMatchObject({ code: 2 })
  })

  it('are refused if they have no effect on the command', async () => {
    for (const name of all.filter((one) => !options.includes(one))) {
      cases += 1
      const given = flags.has(name) ? [`--${name}`] : [`--${name}`, 'x']
      const { code, error } = await run([...words, ...given])
      expect([name, code]).toEqual([name, 2])
      expect(error).toContain(`--${name} has no effect on wardspace ${words[0]}`)
    }
  })

  it('are refused twice, without their value, and with a value that they do not take', async () => {
    for (const name of options) {
      cases += 2
      const given = flags.has(name) ? [`--${name}`] : [`--${name}`, 'x']
      if (!repeatable.has(name)) {
        expect((await run([...words, ...given, ...given])).error).toContain(`--${name} is given twice`)
      }
      const wrong = await run([...words, flags.has(name) ? `--${name}=yes` : `--${name}`])
      expect([name, wrong.code]).toEqual([name, 2])
      expect(wrong.error).toMatch(/argument/)
    }
  })
})

/** Wrong values of the options. Every command that takes the option refuses them before it does anything. */
const wrongValues: Readonly<Record<string, readonly string[]>> = {
  root: ['/no/such/root', 'a.json', '=root', '~/root'],
  policy: ['autonomos', 'read-only', 'AUTONOMOUS', 'none.json', 'root'],
  dialect: ['mcp-filesytem', 'snake_case', './none.js', 'native'],
  shell: ['Bash', 'zsh', 'none '],
  audit: ['.', 'root/calls.jsonl', '/no/such/calls.jsonl', 'broken.jsonl'],
  parked: ['root/parked', 'a.json'],
}
/** The words with which each command comes to use its options, and an action that leaves some of them unused. */
const uses: Readonly<Record<string, readonly string[]>> = {
  approve: ['approve', '--parked', 'parked'],
  'overlay show': ['overlay', 'show'],
  'overlay discard': ['overlay', 'discard'],
  replay: ['replay', 'recording.jsonl'],
}

describe('the values of options', () => {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-values-'))
  for (const name of ['root', 'parked']) mkdirSync(join(home, name))
  writeFileSync(join(home, 'root/a.txt'), 'a\n')
  writeFileSync(join(home, 'a.json'), '{"preset":"autonomous"}')
  writeFileSync(join(home, 'broken.jsonl'), '{"a":1}\n')
  writeFileSync(join(home, 'recording.jsonl'), '{"type":"workspace","version":1}\n')
  const before = process.cwd()
  afterAll(() => {
    process.chdir(before)
    rmSync(home, { recursive: true, force: true })
  })

  const rows = Object.entries({ ...commands, ...uses }).flatMap(([command, row]) => {
    const { words, options } = 'words' in row ? row : { words: row, options: commands[row[0] ?? '']?.options ?? [] }
    return [{ command, words, options }]
  })
  it.each(rows.filter(({ command }) => !['audit verify', 'report', 'overlay'].includes(command)))(
    'of $command are refused by name where they are wrong',
    async ({ words, options }) => {
      process.chdir(home)
      vi.stubEnv('XDG_STATE_HOME', join(home, 'state'))
      for (const [name, values] of Object.entries(wrongValues)) {
        // The list of parked calls is that of any directory.
        if (!options.includes(name) || words.includes(`--${name}`) || (name === 'parked' && words[0] === 'approve'))
          continue
        const right = ['root', 'policy'].filter((one) => one !== name && options.includes(one))
        const others = right.flatMap((one) => [`--${one}`, one === 'root' ? 'root' : 'autonomous'])
        const tail = words[0] === 'acp' ? ['--', 'true'] : []
        for (const value of values) {
          // A sink opens the file when it records.
          if (value === 'broken.jsonl' && (words[0] === 'overlay' || words[0] === 'approve')) continue
          cases += 1
          const { code, error } = await run([...words, ...others, `--${name}=${value}`, ...tail])
          expect([name, value, code]).toEqual([name, value, 2])
          expect(error).toContain(value)
          expect(error).not.toMatch(/E[A-Z]{4,}|^ +at /m)
        }
      }
    },
  )
})

describe('pairs of options of call', () => {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-pairs-'))
  writeFileSync(join(home, 'policy.json'), '{"preset":"autonomous"}')
  for (const name of ['root', 'parked']) mkdirSync(join(home, name))
  writeFileSync(join(home, 'root/a.txt'), 'a\n')
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  let files = 0
  const argumentOf = (name: string) => {
    if (flags.has(name)) return []
    if (name === 'dialect' || name === 'shell') return [name === 'shell' ? 'bash' : 'snake-case']
    files += 1
    const isNew = name === 'audit' || name === 'record'
    return [join(home, isNew ? `${name}-${files}` : name === 'policy' ? 'policy.json' : name)]
  }
  const names = commands.call?.options ?? []
  const pairs = names.flatMap((first, at) => names.slice(at + 1).map((second) => [first, second] as const))
  /** Why one has no effect beside the other. */
  const refused = new Map([
    [
      'read-only plan',
      '--plan has no effect beside --read-only without --shell: nothing waits for a plan; leave out one',
    ],
    ['parked ask', '--parked has no effect beside --ask, which asks at once: leave out one of them'],
    ...['read-only', 'overlay', 'record'].map(
      (name) => [`${name} git`, `--git writes the repository itself: leave out --${name}`] as const,
    ),
  ])
  const tried = pairs.filter((pair, index) => isLong || refused.has(pair.join(' ')) || index % 5 === 0)

  it.each(tried)('--%s and --%s are refused if one has no effect beside the other', async (first, second) => {
    vi.stubEnv('XDG_STATE_HOME', join(home, 'state'))
    const pair = [first, second]
    const options = [...pair, ...['root', 'policy'].filter((name) => !pair.includes(name))]
    if (pair.includes('git') && !pair.includes('shell')) options.push('shell')
    const words = options.flatMap((name) => [`--${name}`, ...argumentOf(name)])
    const { code, error } = await run(['call', 'read_file', '{"path":"a.txt"}', ...words])
    const problem = refused.get(`${first} ${second}`)
    expect({ code, error }).toEqual({
      code: problem === undefined ? 0 : 2,
      error: expect.stringContaining(problem ?? ''),
    })
  })

  it('leaves a call waiting where a terminal could ask', async () => {
    vi.stubEnv('XDG_STATE_HOME', join(home, 'state'))
    const streams = [process.stdin, process.stderr]
    for (const stream of streams) Object.defineProperty(stream, 'isTTY', { value: true, configurable: true })
    const words = ['--root', join(home, 'root'), '--policy', 'supervised', '--parked', join(home, 'parked')]
    expect(await run(['call', 'delete_file', '{"path":"a.txt"}', ...words])).toMatchObject({ code: 1 })
    for (const stream of streams) Reflect.deleteProperty(stream, 'isTTY')
    expect(readdirSync(join(home, 'parked'))).toHaveLength(1)
  })
})

describe('wrong arguments', () => {
  it('are tested in more than 500 cases', () => {
    console.log(`wrong options of the command line tried: ${cases}`)
    expect(cases).toBeGreaterThan(500)
  })

  it('are refused as a command, with a suggestion', async () => {
    expect(await run(['tools', '--heelp'])).toMatchObject({
      code: 2,
      error: expect.stringContaining('did you mean "--help"?'),
    })
    expect(await run(['toosl'])).toMatchObject({ code: 2, error: expect.stringContaining('did you mean "tools"?') })
    expect(await run(['constructor'])).toMatchObject({ code: 2 })
    expect(await run(['hlp'])).toMatchObject({ code: 2, error: expect.stringContaining('did you mean "help"?') })
    for (const [name, help] of Object.entries({
      read_file: 'wardspace call read_file',
      'exec.run': 'wardspace call exec.run',
      version: 'did you mean "--version"?',
      '--versoin': 'did you mean "--version"?',
      '--json': 'options follow a command',
      explain: 'did you mean "policy explain"?',
      verify: 'did you mean "audit verify"?',
      accept: 'did you mean "overlay accept"?',
    })) {
      expect(await run([name, '{}'])).toMatchObject({ code: 2, error: expect.stringContaining(help) })
    }
    expect((await run(['mcp', '--port', '1'])).error).toContain('did you mean "--http"?')
    expect((await run(['tools', '--port', '1'])).error).not.toContain('--http')
    expect((await run(['call', 'read_file', '--path', 'a'])).error).toContain(`wardspace call NAME '{"path": …}'`)
    expect((await run(['call', 'read_file', 'a.txt'])).error).toContain(
      '(line 1, column 1): Expected a value; an input is',
    )
    expect(await run(['--version', 'x'])).toMatchObject({ code: 2, error: expect.stringContaining('Unexpected') })
    for (const host of ['http://localhost', 'no host', '']) {
      const words = ['mcp', '--root', '.', '--policy', 'readOnly', '--http', '0', `--host=${host}`]
      expect((await run(words)).error).toMatch(/is not a host|needs an argument/)
    }
  })

  it('are refused after the last argument of every command', async () => {
    for (const { words } of Object.values(commands)) {
      if (words[0] === 'audit' || words[0] === 'acp') continue
      expect(await run([...words, 'a', 'b', 'c', 'd'])).toMatchObject({
        code: 2,
        error: expect.stringContaining('Unexpected argument'),
      })
    }
  })
})

const home = mkdtempSync(join(tmpdir(), 'wardspace-output-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Runs the built command line with an output that cannot be written; returns how it ended. */
async function runInto(output: string | 'closed', words: readonly string[]) {
  const fd = output === 'closed' ? undefined : openSync(output, 'w')
  const child = spawn(process.execPath, [main, ...words], { cwd: home, stdio: ['ignore', fd ?? 'pipe', 'pipe'] })
  if (fd === undefined) child.stdout?.destroy()
  else closeSync(fd)
  let error = ''
  child.stderr?.on('data', (chunk) => {
    error += chunk
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, error }
}

describe('an output that cannot be written', () => {
  const root = join(home, 'root')
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'a.txt'), 'a\n')
  const parked = join(home, 'parked')
  mkdirSync(parked)
  const audited = join(home, 'audit.jsonl')
  const recorded = join(home, 'recording.jsonl')
  const here = ['--root', root, '--policy', 'autonomous']
  const writers: Readonly<Record<string, readonly string[]>> = {
    help: ['help'],
    tools: ['tools'],
    'tools --json': ['tools', '--json'],
    call: ['call', 'read_file', '{"path":"a.txt"}', ...here],
    demo: ['demo', root],
    'mcp --http --json': ['mcp', '--http', '0', '--json', ...here],
    overlay: ['overlay', 'show', '--root', root],
    'policy check': ['policy', 'check', ...here],
    'policy explain': ['policy', 'explain', 'read_file', 'a.txt', ...here],
    approve: ['approve', '--parked', parked],
    replay: ['replay', recorded, '--root', root],
    report: ['report', audited],
    'audit verify': ['audit', 'verify', audited],
  }

  it('ends every command with a sentence and exit code 2', async () => {
    await runInto('/dev/null', ['call', 'list_directory', '{}', ...here, '--audit', audited, '--record', recorded])
    // One of each way to write: a text at once, JSON, results of a call, a server and its data, a report, and a check.
    const few = ['help', 'tools --json', 'call', 'mcp --http --json', 'report', 'audit verify']
    const written = Object.entries(writers).filter(([name]) => isLong || few.includes(name))
    const ends = await Promise.all(
      written.map(async ([name, words]) => [name, await runInto('/dev/full', words)] as const),
    )
    for (const [name, { code, error }] of ends) {
      expect([name, code, error]).toEqual([
        name,
        2,
        expect.stringMatching(/(?:^|\n)wardspace: Cannot write the output: no space/),
      ])
      expect(error).not.toMatch(/^ +at /m)
    }
  }, 60_000)

  it('ends the program quietly if the reader has stopped', async () => {
    for (const words of [writers.tools ?? [], writers.call ?? []]) {
      expect(await runInto('closed', words)).toEqual({ code: 2, error: '' })
    }
  }, 60_000)
})
