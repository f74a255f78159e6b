import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { InMemoryFs } from 'just-bash'
import { afterAll, describe, expect, it } from 'vitest'
import { bash } from '../../../src/shells/bash/index.ts'
import { runScript } from '../../../src/shells/bash/node-emulation/engine.ts'
import type { ToThread } from '../../../src/shells/bash/thread-protocol.ts'
import { everyNth } from '../../counts.ts'
import { type Answer, shellBench, unjudged } from '../setup.ts'
import { scripts } from './scripts.ts'
import { standInForWorkers } from './web-worker.ts'

const workers = standInForWorkers()
const inThread = bash()
const here = bash({ worker: false })
afterAll(async () => {
  await inThread.close()
  workers.close()
})

const open = (tree: Parameters<typeof shellBench>[0], shell = inThread) => shellBench(tree, { shell: unjudged(shell) })

describe('a line in a Web Worker', () => {
  const tree = { 'a.txt': 'one\ntwo\n', 'd/b.txt': 'three\n', 'x.sh': 'echo x', '.env': 'PASSWORD=hunter2\n' }
  it.each(
    everyNth(
      [
        'cat a.txt; echo oops >&2; echo two > b.txt; exit 3',
        'cd d && pwd && mkdir -p e/f && cp b.txt e/f && mv e g && ls -R && chmod 700 b.txt && stat -c %a b.txt',
        'ln -s a.txt l && readlink l && cat l && rm l && touch -c a.txt && [ -e a.txt ] && test ! -e l',
        'grep -rn t . | sort; echo foo | grep foo; rg --files | sort',
        'git status; node -p 1+1; echo x >> a.txt; wc -l < a.txt',
        'echo before; echo x > /etc/passwd; echo never',
        'echo before; cat /etc/passwd nothing; cat .env; echo after',
        'echo "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two" | patch -p1; cat a.txt; patch --nothing',
        'cat <(echo a) /dev/null; echo t > /tmp/t; cat /tmp/t; cd /tmp',
      ],
      3,
    ),
  )("has the effect of a line in the caller's thread: %s", async (line) => {
    const [one, other] = [await open(tree), await open(tree, here)]
    const { callId: _, durationMs: __, artifactUri: ___, ...expected } = await other.run(line)
    expect(await one.run(line)).toMatchObject(expected)
    expect(await one.snapshot()).toEqual(await other.snapshot())
    expect(workers.created).toEqual(['module shells/bash/thread.js'])
  })
})

describe('a line ended from outside', () => {
  it.each([
    ['in a Web Worker', inThread],
    ['in the thread of its caller', here],
  ])('%s reports the reason, and the next line runs', async (_, shell) => {
    const { run, snapshot } = await open({ 'a.txt': 'a' }, shell)
    const before = await snapshot()
    const stop = new AbortController()
    const running = run('echo x > b.txt; sleep 60', {}, { signal: stop.signal })
    setTimeout(() => stop.abort(), 20)
    expect(await running).toMatchObject({ ok: false, code: 'ABORTED' })
    const late = await run('echo x > b.txt; node -e "for (;;) {}"; echo never', { timeoutMs: 500 })
    expect(late).toMatchObject({ ok: false, code: 'COMMAND_TIMEOUT' })
    expect(await run('cat a.txt')).toMatchObject({ ok: true, stdout: 'a' })
    expect(await snapshot()).toEqual(before)
  })

  it.each([
    ['1 if it nests too deeply for the stack of its host', '('.repeat(100_000), /RangeError: Maximum call stack/],
    ['1 if its timers fail', "__ward.wait = () => { throw new Error('no timers') }", /Error: no timers/],
    ['3 if it exits with 3 and then loops', 'process.exit(3); for (;;);', /^$/],
  ])('ends a script with exit code %s', async (code, text, stderr) => {
    const main = { kind: 'code', text, prints: false, isModule: false } as const
    const script = { main, isTest: false, args: [], root: '/workspace', cwd: '/', env: {}, stdin: '' }
    const limits = { deadline: Number.POSITIVE_INFINITY, memoryBytes: 1e8, outputBytes: 1e6 }
    const { signal } = new AbortController()
    expect(await runScript(script, new InMemoryFs(), { ...limits, signal })).toMatchObject({
      exitCode: Number(code[0]),
      stdout: '',
      stderr: expect.stringMatching(stderr),
    })
  })

  it.each<readonly [code: string, limits: object, text: string]>([
    ['LIMIT_EXCEEDED', { outputBytes: 100 }, 'for (;;) console.log("0123456789")'],
    ['COMMAND_TIMEOUT', { deadline: 0 }, '1'],
    ['ABORTED', { signal: AbortSignal.abort() }, '1'],
    ['ABORTED', { signal: AbortSignal.timeout(1) }, 'setTimeout(() => {}, 1e6)'],
  ])('ends a script with %s for the limits %j', async (code, limits, text) => {
    const main = { kind: 'code', text, prints: false, isModule: false } as const
    const script = { main, isTest: false, args: [], root: '/workspace', cwd: '/', env: {}, stdin: '' }
    const all = {
      deadline: Number.POSITIVE_INFINITY,
      memoryBytes: 1e8,
      outputBytes: 1e6,
      signal: new AbortController().signal,
    }
    await expect(runScript(script, new InMemoryFs(), { ...all, ...limits })).rejects.toMatchObject({ code })
  })
})

it('import.meta.dirname of a module at / is /', async () => {
  const main = { kind: 'file', path: '/m.mjs' } as const
  const script = { main, isTest: false, args: [], root: '/workspace', cwd: '/', env: {}, stdin: '' }
  const limits = { deadline: Number.POSITIVE_INFINITY, memoryBytes: 1e8, outputBytes: 1e6 }
  const files = new InMemoryFs({ '/m.mjs': 'console.log(import.meta.dirname, import.meta.filename)' })
  expect(await runScript(script, files, { ...limits, signal: new AbortController().signal })).toMatchObject({
    stdout: '/ /m.mjs\n',
  })
})

it('a thread can call only the methods of the file system', async () => {
  const messages: object[] = []
  let tell = (_: object) => {}
  const worker = {
    addEventListener(name: string, listener: (event: object) => void) {
      if (name === 'message') tell = (data) => listener({ data })
    },
    postMessage(message: ToThread) {
      const { job } = message
      if (message.type === 'line') tell({ type: 'ask', job, question: 1, asked: { fs: 'constructor', args: [] } })
      if (message.type !== 'answer') return
      messages.push(message.answer)
      const value = { stdout: '', stderr: '', exitCode: 0, pwd: '/workspace' }
      tell({ type: 'done', job, answer: { value } })
    },
    terminate() {},
  }
  const { run } = await open({}, bash({ worker: () => worker as unknown as Worker }))
  expect(await run('ls')).toMatchObject({ ok: true, exitCode: 0 })
  expect(messages).toEqual([{ error: { message: 'There is no constructor', is: 'system' } }])
})

describe('node compared with the real Node', () => {
  it.each(everyNth(scripts, 4))('%s', async (_, files) => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'scripts-')))
    const tree: Record<string, string | { link: string }> = { ...files }
    for (const [path, content] of Object.entries(tree)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      if (typeof content === 'string') writeFileSync(join(directory, path), content)
      else symlinkSync(content.link, join(directory, path))
    }
    try {
      const real = await createRequire(join(directory, 'x.js'))('./main.cjs')()
      const { run } = await open(tree)
      const answer = (await run(
        `node -e "require('./main.cjs')().then((v) => console.log(JSON.stringify(v)))"`,
      )) as Answer
      expect(answer, answer.stderr).toMatchObject({ ok: true, exitCode: 0, stderr: '' })
      expect(JSON.parse(answer.stdout)).toEqual(JSON.parse(JSON.stringify(real).replaceAll(directory, '/workspace')))
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

describe('node and npm', () => {
  const manifest = {
    name: 'p',
    scripts: { test: 'node t.cjs', start: 'echo "started"', pretest: 'echo pre', bad: 'false', posttest: 'echo post' },
  }
  const tree = {
    'package.json': JSON.stringify(manifest),
    't.cjs': 'console.log(process.argv.slice(2).join("|"), process.env.npm_lifecycle_event)',
    'plain/package.json': '{}',
    'sick/package.json': '{',
    'a.ts': 'let x: number',
    'm.js': "export const x = 1; console.log('module', x, typeof require)",
    'zero.cjs':
      "const fs = require('fs'); const text = fs.readFileSync('zero.bin', 'latin1'); fs.writeFileSync('copy.bin', text, 'latin1'); console.log(text.length)",
    'zero.bin': 'a\0b\0',
    'some.test.js':
      "require('node:test').test('one', () => {}); require('node:test').test('two', () => { throw new Error('no') })",
    'test/deep/quiet.mjs': '',
    'test/x.txt': 'none',
    'other-test.cjs': 'process.exit(3)',
    'test-last.js': "console.error('said'); process.exit(1)",
    'node_modules/p/a.test.js': 'process.exit(1)',
    'ignored.js': 'process.exit(1)',
  }
  it.each<readonly [line: string, expected: object]>([
    ['node --version', { stdout: 'v20.19.0\n' }],
    ['node --help', { stdout: expect.stringMatching(/^Usage: node/) }],
    ['node -e', { exitCode: 9, stderr: 'node: -e requires an argument\n' }],
    ['node --inspect x.js', { exitCode: 9, stderr: 'node: --inspect is not available in this shell\n' }],
    ['node --no-warnings --trace-uncaught -pe "[1, 2n]"', { stdout: '[ 1, 2n ]\n' }],
    ['node --print=1+1; node --eval=";" -- x', { stdout: '2\n' }],
    ['node -p process.argv.slice\\(1\\) -- -x', { stdout: "[ '-x' ]\n" }],
    ["echo 'console.log(1, process.argv.length)' | node", { stdout: '1 1\n' }],
    ["echo 'console.log(2, __dirname)' | node - a", { stdout: '2 .\n' }],
    ['echo "import fs from \'fs\'; console.log(typeof fs)" | node --input-type=module', { stdout: 'object\n' }],
    ['node --input-type=module -e "console.log(typeof require)"', { stdout: 'undefined\n' }],
    ['node -e "import fs from \'fs\'; console.log(typeof fs.readFileSync)"', { stdout: 'function\n' }],
    ['node m.js', { stdout: 'module 1 undefined\n' }],
    ['node --input-type=module -e "import p from \'./package.json\'; console.log(p.name)"', { stdout: 'p\n' }],
    ['node -e "require(\'\')"', { exitCode: 1, stderr: expect.stringContaining("Cannot find module ''") }],
    ['node -e "globalThis.__ward = null; throw null"', { exitCode: 1, stderr: expect.stringContaining('Uncaught') }],
    ["node -p \"Buffer.from('0aff1', 'hex').length\"", { stdout: '2\n' }],
    ['node --test --test-name-pattern', { exitCode: 1, stdout: expect.stringContaining('ℹ tests') }],
    ['node a.ts', { exitCode: 1, stderr: expect.stringContaining('TypeScript and JSX are not run') }],
    ['node none.js', { exitCode: 1, stderr: "node: Cannot find module '/workspace/none.js' from '/workspace'\n" }],
    ['node -e "require(\'./sick\')"', { exitCode: 1, stderr: expect.stringContaining('Invalid package config') }],
    ['node zero.cjs; wc -c < copy.bin', { stdout: expect.stringMatching(/^4\n *4\n$/) }],
    ['node -e "process.stdout.write(\'a\\0b\')" | wc -c', { stdout: expect.stringMatching(/^ *3\n$/) }],
    ['node -e "process.exitCode = 300"', { exitCode: 44 }],
    ['node -e "process.exit(4); console.log(1)"', { exitCode: 4, stdout: '' }],
    ['node -e "setTimeout(() => process.exit(5), 1); setInterval(() => {}, 1000)"', { exitCode: 5 }],
    ['node -e "process.on(\'exit\', () => process.exit(6))"', { exitCode: 6 }],
    ['node -e "setImmediate(() => { throw 1 })"', { exitCode: 1, stderr: 'Uncaught:\n1\n\nNode.js v20.19.0\n' }],
    ['node -e "Promise.resolve().then(() => process.exit(7))"', { exitCode: 7, stderr: '' }],
    [
      'node --input-type=module -e "await 1; throw new TypeError(9)"',
      { exitCode: 1, stderr: expect.stringContaining('TypeError: 9') },
    ],
    ['node --input-type=module -e "await new Promise(() => {})"', { stdout: '' }],
    ['node -e "let a = ;"', { exitCode: 1, stderr: expect.stringContaining('SyntaxError') }],
    ['node -e "require(\'./a.ts\')"', { exitCode: 1, stderr: expect.stringContaining('ERR_UNKNOWN_FILE_EXTENSION') }],
    ["node -e 'throw Object.assign(Object.create(null), { get x() { throw 1 } })'", { exitCode: 1 }],
    [
      "node -e 'throw new Proxy({}, { ownKeys() { throw 1 }, get() { throw 2 } })'",
      { exitCode: 1, stderr: expect.stringContaining('Uncaught') },
    ],
    ['node -p "console.log(1); process.exit()"', { stdout: '1\n' }],
    ["node -p \"__host('constructor', '[]')\"", { stdout: '{"error":{"message":"Unknown operation: constructor"}}\n' }],
    ['node -e "__out(1); __out(2, 1); __host(); "', { exitCode: 1 }],
    [
      'node --test some.test.js',
      {
        exitCode: 1,
        stdout: expect.stringMatching(
          /✔ one.*✖ two.*ℹ tests 2\n.*ℹ pass 1\nℹ fail 1\n.*test at some\.test\.js\n✖ two\n/s,
        ),
      },
    ],
    ['node some.test.js', { exitCode: 1, stdout: expect.stringMatching(/ℹ tests 2\n(?:(?!duration).)*test at/s) }],
    ['node --test --test-name-pattern one some.test.js', { exitCode: 0, stdout: expect.stringMatching(/✔ one/) }],
    ['node --test --test-reporter spec some.test.js --test-name-pattern=one --test-only', { exitCode: 0 }],
    ['node --test test', { exitCode: 0, stdout: expect.stringMatching(/^✔ test\/deep\/quiet\.mjs\nℹ tests 1\n/) }],
    ['cd test && node --test', { exitCode: 0, stdout: expect.stringMatching(/^✔ deep\/quiet\.mjs\n/) }],
    [
      'cd test && node --test /workspace/test-last.js',
      {
        exitCode: 1,
        stdout: expect.stringMatching(/^✖ \/workspace\/test-last\.js\n.*\n {2}said\n$/s),
        stderr: 'said\n',
      },
    ],
    [
      'node --test',
      {
        exitCode: 1,
        stdout: expect.stringMatching(/ℹ tests 5\n.*ℹ pass 2\nℹ fail 3\n.*✖ other-test\.cjs\n {2}exit code 3\n/s),
      },
    ],
    ['npm --version', { stdout: '10.8.2\n' }],
    [
      'npm run',
      {
        stdout:
          '  test\n    node t.cjs\n  start\n    echo "started"\n  pretest\n    echo pre\n  bad\n    false\n  posttest\n    echo post\n',
      },
    ],
    ['npm', { exitCode: 1, stderr: 'npm error what to do: only test, start, stop and run work in this shell\n' }],
    ['npm run none', { exitCode: 1, stderr: 'npm error Missing script: "none"\n' }],
    ['npm run none --if-present', { exitCode: 0, stdout: '', stderr: '' }],
    ['npm run bad && echo never', { exitCode: 1, stdout: '\n> p bad\n> false\n\n' }],
    [`npm -s test -- a "b c" "d'e"`, { stdout: "pre\na|b c|d'e test\npost\n" }],
    ['cd test/deep && npm start', { stdout: '\n> p start\n> echo "started"\n\nstarted\n' }],
    ['cd plain && npm test', { exitCode: 1, stderr: 'npm error Missing script: "test"\n' }],
    ['cd sick && npm run', { exitCode: 0, stdout: '' }],
    ['cd /tmp && npm test; npm run', { exitCode: 0, stderr: 'npm error there is no package.json here\n' }],
  ])('%s', async (line, expected) => {
    const { run } = await open(tree, here)
    expect(await run(line)).toMatchObject({ ok: true, exitCode: 0, ...expected })
  })
})
