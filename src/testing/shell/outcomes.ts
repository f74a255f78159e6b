import { check, same } from '../assert.ts'
import { needs, open, type ShellCase } from './case.ts'

/** Output, exit code and messages of a command. */
export const outcomeCases: readonly ShellCase[] = [
  {
    name: 'a command returns its output and exit code',
    async test(subject) {
      const { ok } = await open(subject, { 'a.txt': 'one\ntwo\n' })
      const { stdout, exitCode, cwd, filesChanged, truncated } = await ok('cat a.txt')
      same(
        { stdout, exitCode, cwd, filesChanged, truncated },
        {
          stdout: 'one\ntwo\n',
          exitCode: 0,
          cwd: '.',
          filesChanged: [],
          truncated: false,
        },
        'cat a.txt',
      )
    },
  },
  {
    name: 'the exit code of a line is that of its last command',
    async test(subject) {
      const { ok } = await open(subject)
      for (const [line, code] of [
        ['true', 0],
        ['false', 1],
        ['exit 3', 3],
        ['exit 255', 255],
        ['false; true', 0],
        ['false | true', 0],
        ['(exit 7)', 7],
        ['no-such-command-here', 127],
      ] as const) {
        same((await ok(line)).exitCode, code, line)
      }
    },
  },
  {
    name: 'error output is never lost',
    async test(subject) {
      const { ok } = await open(subject)
      const { stdout, stderr } = await ok('echo out; echo oops >&2; exit 1')
      const both = `${stdout}${stderr}`
      check(
        both.includes('out\n') && both.includes('oops\n'),
        `echo: expected both outputs, got ${JSON.stringify(both)}`,
      )
    },
  },
  {
    name: 'stdout and stderr are reported separately',
    unless: needs('stderr'),
    async test(subject) {
      const { ok } = await open(subject)
      const { stdout, stderr } = await ok('echo a; echo b >&2; echo c')
      same({ stdout, stderr }, { stdout: 'a\nc\n', stderr: 'b\n' }, 'two outputs')
    },
  },
  {
    name: 'pipes, lists, variables, loops, substitutions and here-documents work',
    async test(subject) {
      const { ok } = await open(subject, { 'b.txt': 'b\n', 'a.txt': 'a\n' })
      for (const [line, expected] of [
        ['cat *.txt', 'a\nb\n'],
        ['cat b.txt a.txt | sort', 'a\nb\n'],
        ['true && echo yes || echo no', 'yes\n'],
        ['false && echo yes || echo no', 'no\n'],
        ['x=1; y="$x 2"; echo "$y"', '1 2\n'],
        ["echo '$x'", '$x\n'],
        ['for i in 1 2 3; do printf "%s," "$i"; done', '1,2,3,'],
        ['i=0; while [ "$i" -lt 3 ]; do i=$((i + 1)); done; echo "$i"', '3\n'],
        ['echo "$(cat a.txt)$(cat b.txt)"', 'ab\n'],
        ['cat <<END\nx\ny\nEND', 'x\ny\n'],
        ['f() { echo "f $1"; }; f z', 'f z\n'],
        ['case abc in a*) echo a;; *) echo other;; esac', 'a\n'],
        ['echo é | wc -c | tr -d " "', '3\n'],
      ] as const) {
        same((await ok(line)).stdout, expected, line)
      }
    },
  },
  {
    name: 'large output is truncated, and its end is kept',
    async test(subject) {
      const { ok } = await open(subject, {}, { limits: { commandOutputBytes: 2000 } })
      const { stdout, stderr, truncated } = await ok('seq 1 3000; echo last >&2')
      check(truncated === true, 'large output: expected truncated to be true')
      check(stdout.length < 2100, `large output: expected about 2000 bytes, got ${stdout.length}`)
      const both = `${stdout}${stderr}`
      check(both.includes('2999\n3000\n') && both.includes('last\n'), 'large output: expected its end to be kept')
    },
  },
  {
    name: 'no message contains the physical directory or a stack trace',
    async test(subject) {
      const { run } = await open(subject, { 'a.txt': '' })
      const forbidden = ['file://', '\\n    at ', ...(subject.physical === undefined ? [] : [subject.physical])]
      for (const answer of [
        await run('true', { cwd: 'nowhere' }),
        await run('sleep 60', { timeoutMs: 100 }),
        await run('cd a.txt; exit 1'),
        await run('cat nothing'),
      ]) {
        const { stdout: _, ...messages } = answer
        for (const text of forbidden) {
          check(!JSON.stringify(messages).includes(text), `A message contains ${text}: ${JSON.stringify(messages)}`)
        }
      }
    },
  },
]
