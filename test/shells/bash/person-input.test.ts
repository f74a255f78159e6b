import { afterAll, describe, expect, it } from 'vitest'
import { bash } from '../../../dist/shells/bash/index.js'
import { memory } from '../../../src/backends/memory/index.ts'
import { ROOT } from '../../../src/paths/logical-path.ts'
import type { Shell } from '../../../src/shells/types.ts'
import { everyNth } from '../../counts.ts'
import { filesOver } from '../setup.ts'

const files = {
  'ask.js': `const rl = require('readline').createInterface({ input: process.stdin, output: process.stdout })
rl.question('Name? ', (name) => { console.log('Hello ' + name); rl.close() })`,
  'lines.js': `const rl = require('node:readline').createInterface({ input: process.stdin })
rl.on('line', (line) => { console.log('[' + line + ']'); if (line === 'quit') rl.close() })
rl.on('close', () => console.log('closed'))`,
  'each.mjs': `import { createInterface } from 'node:readline/promises'
const rl = createInterface({ input: process.stdin, output: process.stdout })
const sum = Number(await rl.question('a: ')) + Number(await rl.question('b: '))
console.log(sum)
for await (const line of rl) console.log(line.toUpperCase())`,
  'chunks.mjs': `process.stdin.setEncoding('utf8'); for await (const chunk of process.stdin) console.log(JSON.stringify(chunk))`,
  'readable.js': `process.stdin.on('readable', () => { for (let c; (c = process.stdin.read()) !== null;) console.log(String(c).trim()) })`,
  'whole.js': `console.log(require('fs').readFileSync(0, 'utf8').length, process.stdin.isTTY)`,
  'timer.js': `process.stdin.once('data', (d) => { console.log('in ' + String(d).trim()); clearInterval(timer); process.stdin.pause() })
let n = 0; const timer = setInterval(() => console.log('tick ' + ++n), 30)`,
  'leaves.js': `process.stdin.on('data', () => {}); setTimeout(() => process.exit(3), 50)`,
  'ask.sh': 'read -p "Who? " who\necho "It is $who"\n',
  'package.json': '{"scripts":{"ask":"node ask.js"}}',
  'a.txt': 'from a file\n',
  'empty.txt': '',
}

/** Runs a line for a person who enters these texts, each when it is asked for. `undefined` is the end of the input. */
async function dialogue(shell: Shell, line: string, ...entered: (string | undefined)[]) {
  let screen = ''
  const asked: (object | undefined)[] = []
  const { stdout, stderr, exitCode } = await shell.run({
    line,
    cwd: ROOT,
    env: {},
    timeoutMs: 20_000,
    now: () => 0,
    files: filesOver(memory(files)),
    onOutput: (_, text) => {
      screen += text
    },
    async readInput(options) {
      asked.push(options)
      const text = entered[asked.length - 1]
      // As a terminal shows it.
      screen += text === undefined ? '^D' : text.replace('\n', '↵')
      return text
    },
  })
  return { screen, stdout, stderr, exitCode, asked }
}

describe.each([
  ['in a process', {}],
  ['in this thread', { worker: false } as const],
])('a person answers the commands of bash() %s', (_, options) => {
  // The built shell, whose types are those of other files.
  const shell = bash(options) as unknown as Shell
  afterAll(() => shell.close())

  const dialogues: [line: string, entered: (string | undefined)[], screen: string][] = [
    ['read x; echo "<$x>"', ['one\n'], 'one↵<one>\n'],
    ['echo Name?; read -r x; echo "$x"; read y; echo "$x $y"', ['a\n', 'b\n'], 'Name?\na↵a\nb↵a b\n'],
    ['read -p "Name? " x; echo "$x"', ['Ana\n'], 'Name? Ana↵Ana\n'],
    ['read -rp "A " a; read -pB b; echo $a$b', ['1\n', '2\n'], 'A 1↵B2↵12\n'],
    ['read -n 2 x; read y; echo "$x|$y"', ['abcd\n'], 'abcd↵ab|cd\n'],
    ['read -d ";" x; echo "$x"', ['a\n', 'b;c\n'], 'a↵b;c↵a\nb\n'],
    ['read x || echo none', [undefined], '^Dnone\n'],
    ['while read l; do echo "- $l"; done; echo end', ['a\n', 'b\n', undefined], 'a↵- a\nb↵- b\n^Dend\n'],
    ['cat; echo end', ['a\n', 'b\n', undefined], 'a↵a\nb↵b\n^Dend\n'],
    ['cat | sort -r', ['a\n', 'b\n', undefined], 'a↵b↵^Db\na\n'],
    ['sort -r; wc -l', ['a\n', 'b\n', undefined, 'c\n', undefined], 'a↵b↵^Db\na\nc↵^D1\n'],
    ['cat > new.txt; cat new.txt', ['kept\n', undefined], 'kept↵^Dkept\n'],
    ['grep -c a', ['a\n', 'b\n', undefined], 'a↵b↵^D1\n'],
    ['sed s/a/b/', ['aa\n', undefined], 'aa↵^Dba\n'],
    ['tr a b', ['aa\n', undefined], 'aa↵^Dbb\n'],
    ['ask() { read x; echo "f $x"; }; ask', ['1\n'], '1↵f 1\n'],
    ['(read x; echo "s $x"); x=$(read y; echo "$y"); echo "$x"', ['1\n', '2\n'], '1↵s 1\n2↵2\n'],
    ['if read x; then eval \'read y; echo "$x$y"\'; fi', ['1\n', '2\n'], '1↵2↵12\n'],
    ['bash ask.sh', ['Ana\n'], 'Who? Ana↵It is Ana\n'],
    ['chmod +x ask.sh; ./ask.sh; source ask.sh', ['A\n', 'B\n'], 'Who? A↵It is A\nWho? B↵It is B\n'],
    ['node ask.js', ['Ana\n'], 'Name? Ana↵Hello Ana\n'],
    ['node ask.js; read x; echo "$x"', ['Ana\n', 'x\n'], 'Name? Ana↵Hello Ana\nx↵x\n'],
    ['npm run -s ask', ['Ana\n'], 'Name? Ana↵Hello Ana\n'],
    ['node lines.js', ['a\n', 'quit\n'], 'a↵[a]\nquit↵[quit]\nclosed\n'],
    ['node lines.js', ['a\n', 'b', undefined], 'a↵[a]\nb^D[b]\nclosed\n'],
    ['node each.mjs', ['1\n', '2\n', 'x\n', undefined], 'a: 1↵b: 2↵3\nx↵X\n^D'],
    ['node chunks.mjs', ['é\n', undefined], 'é↵"é\\n"\n^D'],
    ['node readable.js', ['a\n', 'b\n', undefined], 'a↵a\nb↵b\n^D'],
    ['node whole.js', ['ab\n', 'c\n', undefined], 'ab↵c↵^D5 true\n'],
  ]
  it.each(everyNth(dialogues, 2, 'worker' in options ? 1 : 0))('%s', async (line, entered, screen) => {
    const shown = await dialogue(shell, line, ...entered)
    expect({ screen: shown.screen, asked: shown.asked.length }).toEqual({ screen, asked: entered.length })
  })

  it.each([
    ...[
      'ls',
      'echo a | cat',
      'cat a.txt',
      'cat < a.txt',
      'cat <<< a',
      'cat < empty.txt',
      'true | cat',
      'grep -r file .',
    ],
    ...['grep -e file a.txt', 'sed -e s/a/b/ a.txt', "awk 'BEGIN { print 1 }'", 'jq -n 1', 'sort --help', 'rg file'],
    ...['while read l; do echo $l; done < a.txt', '{ read a; read b; cat; } < a.txt', 'echo a | { read x; echo $x; }'],
    ...[
      'echo a | node lines.js',
      'node whole.js < a.txt',
      'node -p 1',
      'head -n 1 a.txt',
      'printf "a\\nb\\n" | xargs echo',
    ],
    ...[
      'bash -c "echo 1"',
      'find . -name a.txt',
      'echo a | (cat; read x)',
      'cat <<EOF\na\nEOF',
      'f() { cat; }; echo a | f',
    ],
  ])('%s asks for nothing', async (line) => {
    const without = await shell.run({
      ...{ line, cwd: ROOT, env: {}, timeoutMs: 20_000, now: () => 0, files: filesOver(memory(files)) },
    })
    const { asked, stdout, stderr, exitCode } = await dialogue(shell, line)
    expect({ asked, stdout, stderr, exitCode }).toEqual({
      ...{ asked: [], stdout: without.stdout, stderr: without.stderr, exitCode: without.exitCode },
    })
  })

  it('what is printed by timers appears while a script waits, and a script may end without an answer', async () => {
    let release = (_: string) => {}
    let screen = ''
    const running = shell.run({
      ...{
        line: 'node timer.js',
        cwd: ROOT,
        env: {},
        timeoutMs: 20_000,
        now: () => 0,
        files: filesOver(memory(files)),
      },
      onOutput: (_stream, text) => {
        screen += text
      },
      readInput: () =>
        new Promise((resolve) => {
          release = resolve
        }),
    })
    await expect.poll(() => screen).toContain('tick 3')
    release('now\n')
    expect((await running).stdout).toMatch(/tick 3\n(tick \d+\n)*in now\n$/)
    expect((await dialogue(shell, 'node leaves.js')).exitCode).toBe(3)
    const never = { readInput: () => new Promise<undefined>(() => {}) }
    const command = { cwd: ROOT, env: {}, timeoutMs: 20_000, now: () => 0, files: filesOver(memory(files)) }
    expect(await shell.run({ ...command, ...never, line: 'node leaves.js' })).toMatchObject({ exitCode: 3 })
  })

  it('a secret is asked for as one', async () => {
    expect((await dialogue(shell, 'read -sp "Key: " x; echo ${#x}', 'abc\n')).asked).toEqual([{ isHidden: true }])
  })

  it('a line that waits is stopped', async () => {
    const stop = new AbortController()
    const command = { cwd: ROOT, env: {}, timeoutMs: 20_000, now: () => 0, files: filesOver(memory(files)) }
    for (const line of ['read x', 'cat', 'node lines.js']) {
      const running = shell.run({
        ...{ ...command, line, signal: stop.signal },
        readInput: () => new Promise<undefined>(() => setTimeout(() => stop.abort(), 20)),
      })
      await expect(running).rejects.toMatchObject({ code: 'ABORTED' })
    }
  })
})
