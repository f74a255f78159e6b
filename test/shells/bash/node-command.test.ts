import { afterAll, describe, expect, it } from 'vitest'
// The published build, because a thread needs a separate file.
import { memory } from '../../../dist/backends/memory/index.js'
import { createWorkspace } from '../../../dist/index.js'
import { bash } from '../../../dist/shells/bash/index.js'
import type { Answer } from '../../../src/testing/shell/case.ts'

const shell = bash()
afterAll(() => shell.close())

async function open(tree: Record<string, string>) {
  const workspace = await createWorkspace({ backend: memory(tree), policy: 'autonomous', shell })
  const run = (command: string, more: object = {}) =>
    workspace.call('run_command', { command, timeoutMs: 60_000, ...more }) as Promise<Answer>
  return { workspace, run }
}

describe('node', () => {
  it('runs CommonJS scripts', async () => {
    const { run } = await open({
      'main.cjs': `
        const { add } = require('./lib')
        const fs = require('node:fs'), path = require('path'), util = require('util'), { EventEmitter } = require('events')
        console.log(add(1, 2), path.join('a', '..', 'b'), __filename, process.argv.slice(2), require('./data.json').x)
        console.log(util.inspect({ a: [1, { b: new Map([['k', 1n]]) }], f() {}, e: null }))
        console.log('%s is %d', 'one', 1, { x: 1 })
        fs.mkdirSync('out/deep', { recursive: true })
        fs.writeFileSync('out/deep/a.bin', Buffer.from([0, 255, 128]))
        console.log(fs.readFileSync('out/deep/a.bin').toString('hex'), fs.statSync('out').isDirectory(), fs.readdirSync('out'))
        try { fs.readFileSync('nope') } catch (error) { console.log(error.code, error.message) }
        const bus = new EventEmitter(); bus.once('x', (v) => console.log('event', v)); bus.emit('x', 1); bus.emit('x', 2)
        setTimeout(() => console.log('timer'), 5); setImmediate(() => console.log('immediate'))
        Promise.resolve().then(() => console.log('job', fs.existsSync('main.cjs')))
        fs.promises.readFile('data.json', 'utf8').then((text) => console.log(text))
        process.on('exit', (code) => console.log('bye', code))
        process.exitCode = 3
        console.error('to stderr')`,
      'lib/package.json': '{ "main": "./add.js" }',
      'lib/add.js': 'exports.add = (a, b) => a + b',
      'data.json': '{ "x": 7 }',
    })
    const result = await run('node main.cjs one two')
    expect(result).toMatchObject({ ok: true, exitCode: 3, stderr: 'to stderr\n' })
    expect(result.filesChanged).toContain('out/deep/a.bin')
    expect(result.stdout.split('\n')).toEqual([
      "3 b /workspace/main.cjs [ 'one', 'two' ] 7",
      '{ a: [ 1, { b: [Map] } ], f: [Function: f], e: null }',
      'one is 1 { x: 1 }',
      "00ff80 true [ 'deep' ]",
      "ENOENT ENOENT: no such file or directory, open '/workspace/nope'".replace('open', 'read'),
      'event 1',
      'job true',
      '{ "x": 7 }',
      'immediate',
      'timer',
      'bye 3',
      '',
    ])
  })

  it('runs ES modules, with packages of node_modules', async () => {
    const { run } = await open({
      'main.mjs': `
        import fs, { readFileSync } from 'node:fs'
        import { add } from './add.mjs'
        import common, { named } from './common.cjs'
        import { fromPackage } from 'pkg'
        import { sub } from 'pkg/sub'
        console.log(add(1, 2), named, common.other, fromPackage, sub, fs.readFileSync === readFileSync)
        console.log(import.meta.url, import.meta.dirname, readFileSync(new URL('./t.txt', import.meta.url), 'utf8'))
        const late = await import('./add.mjs')
        console.log(late.add(2, 3), await new Promise((resolve) => setTimeout(resolve, 2, 'waited')))
        try { await import('node:http') } catch (error) { console.log(error.message) }`,
      'add.mjs': 'export const add = (a, b) => a + b',
      'common.cjs': 'exports.named = 1; exports.other = 2',
      't.txt': 'text',
      'node_modules/pkg/package.json':
        '{ "name": "pkg", "type": "module", "exports": { ".": { "import": "./i.js", "require": "./r.cjs" }, "./*": "./lib/*.js" } }',
      'node_modules/pkg/i.js': "export const fromPackage = 'import'",
      'node_modules/pkg/lib/sub.js': "export const sub = 'sub'",
    })
    const { stdout, stderr, exitCode } = await run('node main.mjs')
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout.split('\n')).toEqual([
      '3 1 2 import sub true',
      'file:///workspace/main.mjs /workspace text',
      '5 waited',
      "The module 'node:http' is not available in this shell",
      '',
    ])
  })

  it('runs and prints code, and refuses unavailable features', async () => {
    const { run } = await open({ 'a.ts': 'let x: number = 1', 'bad.js': 'let a = ;', 'throws.js': '\nnull.x' })
    expect(await run('node -p "[1, 2].map((x) => x * 2)"')).toMatchObject({ stdout: '[ 2, 4 ]\n', exitCode: 0 })
    expect(await run('node -e "console.log(path.resolve(\'x\'))"')).toMatchObject({ stdout: '/workspace/x\n' })
    expect(await run('node a.ts')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('TypeScript') })
    expect(await run('node bad.js')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('SyntaxError') })
    expect(await run('node throws.js')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('throws.js:2') })
    expect(await run('node nothing.js')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Cannot find') })
    expect(await run('npm install left-pad')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('only test'),
    })
  })

  it('runs tests as node:test does', async () => {
    const { run } = await open({
      'package.json':
        '{ "name": "p", "version": "1.2.3", "scripts": { "pretest": "echo before", "test": "node --test" } }',
      'a.test.mjs': `
        import assert from 'node:assert/strict'
        import { after, before, beforeEach, describe, it, mock, test } from 'node:test'
        let n = 0
        before(() => { n += 100 }); beforeEach(() => { n += 1 }); after(() => console.log('after', n))
        test('passes', () => assert.equal(n, 101))
        test('waits', async () => { await new Promise((resolve) => setTimeout(resolve, 2)); assert.deepEqual({ n }, { n: 102 }) })
        describe('group', () => {
          it('fails', () => assert.deepEqual([1, { a: 2 }], [1, { a: 3 }]))
          it.skip('is skipped', () => assert.fail())
          it('rejects', () => assert.rejects(Promise.reject(new TypeError('x')), TypeError))
        })
        test('has parts', async (t) => { await t.test('part', () => { const f = mock.fn(() => 1); f(); assert.equal(f.mock.callCount(), 1) }) })
        test('calls back', (t, done) => setTimeout(done, 1))
        test.todo('later')`,
      'test/b.js': "if (require('fs').existsSync('.env')) process.exit(1)",
    })
    const { stdout, exitCode } = await run('npm test')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('> p@1.2.3 pretest\n> echo before\n\nbefore\n')
    expect(stdout).toMatch(/ℹ tests 10\nℹ suites 1\nℹ pass 7\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 1\n/)
    expect(stdout).toContain('test at a.test.mjs\n✖ fails\n  AssertionError: Expected values to be strictly deep-equal')
    expect(await run('node --test --test-name-pattern=waits a.test.mjs')).toMatchObject({ exitCode: 1 })
    expect((await run('npm test -- --test-name-pattern=calls')).stdout).toContain('✔ calls back')
  })

  it('cannot access a protected file, and each attempt is listed', async () => {
    const { run, workspace } = await open({
      '.env': 'PASSWORD=hunter2\n',
      'try.cjs': `
        const fs = require('fs')
        const tries = [
          () => fs.readFileSync('.env', 'utf8'), () => fs.copyFileSync('.env', 'x'), () => fs.renameSync('.env', 'y'),
          () => { fs.symlinkSync('.env', 'z'); return fs.readFileSync('z', 'utf8') }, () => fs.writeFileSync('.env', ''),
          () => fs.rmSync('.env'), () => require('./.env'), () => fs.cpSync('.', 'copied', { recursive: true }),
          () => fs.readFileSync('/etc/passwd', 'utf8'), () => fs.readFileSync('../outside'), () => fs.statSync('.env').size,
        ]
        for (const one of tries) try { console.log(one()) } catch (error) { console.log(error.code) }`,
    })
    const result = await run('node try.cjs')
    expect(JSON.stringify([result, workspace.auditRecords()])).not.toContain('hunter2')
    expect(result.stdout.split('\n').slice(0, 6)).toEqual(Array(6).fill('EACCES'))
    expect(result.stdout.split('\n').at(-2)).toBe('0')
    expect(new Set(result.refused.map(({ path }: Answer) => path))).toEqual(
      new Set(['.env', '/etc/passwd', '/outside']),
    )
    expect(
      workspace
        .auditRecords()
        .at(-1)
        ?.refusals?.some(({ path }) => path === '.env'),
    ).toBe(true)
    expect(await workspace.call('read_file', { path: 'copied/.env' })).toMatchObject({ ok: false })
  })

  it('has room for hundreds of nested calls, and lets a script catch a stack overflow', async () => {
    const { run } = await open({
      'deep.cjs': `
        const plain = (n) => (n === 0 ? 0 : plain(n - 1) + 1)
        const within = (n) => (n === 0 ? 0 : [1].map(() => within(n - 1))[0] + 1)
        console.log(plain(500), within(150))
        for (const deep of [plain, within]) try { deep(1e6) } catch (error) { console.log(error.message) }
        console.log('on')`,
    })
    expect(await run('node deep.cjs')).toMatchObject({
      exitCode: 0,
      stdout: '500 150\nstack overflow\nstack overflow\non\n',
    })
  })

  it('has no access to the program that runs it', async () => {
    const { run } = await open({
      'escape.cjs': `
        const found = []
        for (const name of ['fetch', 'WebAssembly', 'Worker', 'XMLHttpRequest', 'importScripts', 'postMessage', 'Deno', 'Bun'])
          if (name in globalThis) found.push(name)
        const main = Function('return this')()
        console.log(found, main === globalThis, process.version, Object.keys(process.env).sort().join())
        for (const name of ['child_process', 'net', 'worker_threads', 'vm', 'inspector'])
          try { require(name); console.log(name) } catch (error) { console.log(error.code) }`,
    })
    const { stdout } = await run('node escape.cjs')
    expect(stdout).not.toMatch(/fetch|Worker|PATH=/)
    expect(stdout).toContain('[] true v20')
    expect(stdout.match(/ERR_UNKNOWN_BUILTIN_MODULE/g)).toHaveLength(5)
  })

  it.each([
    ['a loop', 'while (true) {}'],
    ['jobs without an end', 'const next = () => Promise.resolve().then(next); next()'],
    ['an allocation bomb', 'const all = []; for (;;) all.push(new Array(100000).fill(1))'],
    ['a recursion', 'function f() { return f() + 1 }; f()'],
    ['a text that doubles', "let s = 'x'; for (;;) s += s"],
  ])('stops %s without keeping changes or blocking the caller', async (_, code) => {
    const { run, workspace } = await open({ 'x.cjs': `require('fs').writeFileSync('made.txt', ''); ${code}` })
    await run('node -p 1')
    let beats = 0
    const heart = setInterval(() => {
      beats += 1
    }, 10)
    const { ok, code: refused, exitCode } = await run('node x.cjs', { timeoutMs: 600 })
    clearInterval(heart)
    expect(beats).toBeGreaterThan(1)
    if (ok) expect(exitCode).not.toBe(0)
    else {
      expect(['COMMAND_TIMEOUT', 'LIMIT_EXCEEDED']).toContain(refused)
      expect(await workspace.call('file_info', { path: 'made.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    }
    expect(await run('echo on')).toMatchObject({ ok: true, stdout: 'on\n' })
  })
})
