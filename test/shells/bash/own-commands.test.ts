import { afterAll, describe, expect, it } from 'vitest'
import { type BashOptions, bash } from '../../../src/shells/bash/index.ts'
import { absentBuiltins } from '../../../src/shells/bash/missing-commands.ts'
import type { OwnCommand } from '../../../src/shells/bash/own-command.ts'
import { type Answer, shellBench } from '../setup.ts'
import { fileCommands } from './file-commands.ts'

const commands: Readonly<Record<string, OwnCommand>> = {
  ...fileCommands,
  upper: (_, { stdin, stdinBytes, cwd, env }) => ({
    stdout: stdin.toUpperCase(),
    stderr: `${stdinBytes.length} ${cwd} ${env.A} ${env.B}\n`,
    exitCode: 3,
  }),
  echo2: (args) => JSON.stringify(args),
  fails() {
    throw new Error('no luck')
  },
  'odd-result': (async () => ({ stdout: 5 })) as never,
  'odd-code': () => ({ exitCode: 256 }),
  'odd-field': (() => ({ output: 'x' })) as never,
  waits: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
}
/** For commands that do something else, or wait, with the name of a file. */
const harmless: Readonly<Record<string, string>> = {
  '.': '. ./e.sh',
  '[': '[ a ]',
  bash: 'bash -c true',
  break: 'for i in 1; do break; done',
  builtin: 'builtin echo',
  command: 'command echo',
  continue: 'for i in 1; do continue; done',
  declare: 'declare a=1',
  eval: 'eval "echo a"',
  exec: 'exec 2>&1',
  exit: 'exit 0',
  export: 'export a=1',
  git: 'git init -q d',
  hash: 'hash',
  let: 'let a=1',
  alias: 'alias a=b',
  local: 'f() { local a; }; f',
  mapfile: 'mapfile a < a.txt',
  read: 'read a < a.txt',
  readarray: 'readarray a < a.txt',
  readonly: 'readonly a=1',
  return: 'f() { return 0; }; f',
  sh: 'sh -c true',
  shopt: 'shopt',
  source: 'source ./e.sh',
  timeout: 'timeout 1 true',
  time: 'time true',
  type: 'type ls',
  typeset: 'typeset a=1',
  unalias: 'unalias a',
  unset: 'unset a',
  waits: 'true',
}
/** The names below a heading of `help`. */
const listedBelow = (help: string, heading: string) =>
  help
    .split('\n\n')
    .find((part) => part.startsWith(heading))
    ?.split('\n')
    .slice(1)
    .flatMap((line) => line.split(' '))
    .filter((name) => name !== '') ?? []
const open = async (more: Partial<BashOptions> = {}, policy: object | string = 'autonomous') => {
  const shell = bash({ commands, ...more })
  const bench = await shellBench(
    { 'a.txt': 'a\nö\n', 'd/b.txt': 'b\n', '.env': 'KEY=1\n', 'bin.dat': new Uint8Array([255, 0, 10]) },
    { shell, policy: policy as never },
  )
  return bench
}
const benches: Record<string, Awaited<ReturnType<typeof open>>> = {
  'in a process of its own': await open(),
  'in the same thread': await open({ worker: false }),
}
afterAll(async () => {
  for (const { workspace } of Object.values(benches)) await workspace.close()
})

describe.each(Object.entries(benches))('commands of one’s own %s', (_, { run }) => {
  it.each<[string, Partial<Answer> & object]>([
    ['show a.txt', { stdout: 'a\nö\n', exitCode: 0 }],
    ['cd d && show b.txt; show ../a.txt | head -1', { stdout: 'b\na\n' }],
    ['echo2 "a b" "" ö', { stdout: '["a b","","ö"]' }],
    ['export A=1; B=2; echo hö | upper', { stdout: 'HÖ\n', stderr: '4 /workspace 1 undefined\n', exitCode: 3 }],
    ['B=2 upper < a.txt > /dev/null; echo $?', { stdout: '3\n', stderr: '5 /workspace undefined 2\n' }],
    ['show-bytes bin.dat | xxd -p', { stdout: 'ff000a\n' }],
    ['find d -name b.txt -exec show {} \\; ; echo a.txt | xargs show | wc -l', { stdout: 'b\n2\n' }],
    [
      'sh -c "show a.txt" | tail -1; f() { show "$1"; }; f d/b.txt; x=$(show d/b.txt); echo $x',
      { stdout: 'ö\nb\nb\n' },
    ],
    ['fails; echo $?', { stdout: '1\n', stderr: 'fails: no luck\n' }],
    ['fails || echo other', { stdout: 'other\n' }],
    ['show none; echo $?', { stdout: '1\n', stderr: expect.stringMatching(/^show: ENOENT/) }],
    ['show /etc/passwd; echo $?', { stdout: '1\n', stderr: expect.stringMatching(/^show: ENOENT/) }],
    ['odd-result; echo $?', { stdout: '1\n', stderr: expect.stringContaining('"stdout"') }],
    ['odd-code; echo $?', { stdout: '1\n', stderr: expect.stringContaining('"exitCode"') }],
    ['odd-field; echo $?', { stdout: '1\n', stderr: expect.stringContaining('"output"') }],
    ['which show git cd; echo $?; type show', { stdout: '/usr/bin/show\n/usr/bin/git\n1\nshow is /usr/bin/show\n' }],
    ['help | grep -cw upper', { stdout: '1\n' }],
    ['help ls', { stderr: "bash: help: no help topics match `ls'; help lists what there is\n" }],
    [
      '(awk --help; env --help; find --help; timeout --help; bash --help; sh --help) | grep -c ^Usage',
      { stdout: '6\n' },
    ],
  ])('%s', async (line, expected) => {
    expect(await run(line)).toMatchObject({ ok: true, ...expected })
  })

  it('change files, each as a change of the line', async () => {
    const line =
      'make n/o; save n/o/x.txt one; add n/o/x.txt two; take n m; move m/o/x.txt y; drop n; point y l; mode y'
    expect(await run(`${line}; cat l; ls m/o`)).toMatchObject({
      ok: true,
      stdout: 'onetwo',
      filesChanged: expect.arrayContaining(['l', 'y']),
    })
  })

  it('end with the time of the line', async () => {
    expect(await run('waits', { timeoutMs: 300 })).toMatchObject({ ok: false, code: 'COMMAND_TIMEOUT' })
  })
})

describe('a command of one’s own', () => {
  it('is judged by its name, however it is started', async () => {
    const { run, workspace } = await open({ worker: false }, { preset: 'autonomous', commands: { deny: ['save'] } })
    const starts = ['save x 1', 'sh -c "save x 1"', 'echo x | xargs save', 'env save x 1', '"sa"ve x', 'command save x']
    for (const line of starts) expect(await run(line), line).not.toMatchObject({ ok: true, exitCode: 0 })
    expect(await run('test -e x')).toMatchObject({ exitCode: 1 })
    const listed = await open({ worker: false }, { preset: 'autonomous', commands: { allow: ['show'] } })
    expect(await listed.run('show a.txt')).toMatchObject({ ok: true, exitCode: 0 })
    expect(await listed.run('save x 1')).toMatchObject({ ok: false })
    await workspace.close()
    await listed.workspace.close()
  })

  it('takes the place of a command of that name', async () => {
    const { run, workspace } = await open({ worker: false, commands: { git: () => 'mine\n', cat: () => 'own\n' } })
    expect(await run('git status; cat a.txt')).toMatchObject({ stdout: 'mine\nown\n' })
    await workspace.close()
  })

  it('is listed by help, with the other commands that run, and with no others', async () => {
    const { run } = benches['in the same thread'] as Awaited<ReturnType<typeof open>>
    const { stdout = '' } = await run('help')
    const listed = [...listedBelow(stdout, 'Commands of'), ...listedBelow(stdout, 'Programs')]
    expect(listed.length).toBeGreaterThan(100)
    expect(new Set(listed).size).toBe(listed.length)
    await run('echo true > e.sh')
    const faults: string[] = []
    for (const name of [...listed, ...absentBuiltins]) {
      const withFile = absentBuiltins.has(name) ? name : `${name} a.txt < a.txt`
      const { ok, stderr = '', message = '' } = await run(harmless[name] ?? withFile)
      const isThere = ok && !/not (found|available)/.test(`${stderr}${message}`)
      if (isThere !== listed.includes(name)) faults.push(`${name}: ${stderr}${message}`)
    }
    expect(faults).toEqual([])
  })

  it('has a name that works, and no name of a built-in', async () => {
    const { run } = benches['in the same thread'] as Awaited<ReturnType<typeof open>>
    const { stdout = '' } = await run('help')
    const builtins = [...listedBelow(stdout, 'Commands of'), ...absentBuiltins]
    expect(builtins.length).toBeGreaterThan(50)
    for (const name of [...builtins, 'if', 'time', 'a b', '', 'a/b', '-x', '$x', 'x'.repeat(65)]) {
      const make = () => bash({ commands: { [name]: () => '' } })
      expect(make, name).toThrow(/option "commands".* must be an object whose keys are names of commands/i)
    }
    expect(() => bash({ commands: ['ls'] as never })).toThrow(/policy names the allowed commands/)
    expect(() => bash({ commands: { x: 5 as never } })).toThrow(/"commands\.x".* must be a function, not 5/)
  })
})
