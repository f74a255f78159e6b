import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../../dist/backends/memory/index.js'
import { createWorkspace } from '../../../dist/index.js'
import { bash } from '../../../dist/shells/bash/index.js'
import { registerContract, shellContract } from '../../../dist/testing/index.js'
import type { Answer } from '../../../src/testing/shell/case.ts'
import { isLong } from '../../counts.ts'

/** All tests share the workers of one shell: the start of a worker loads more than a hundred modules. */
const { close, ...shared } = bash()
const shell = { ...shared, async close() {} }
afterAll(() => close?.())

const contract = shellContract({ name: 'bash', create: () => ({ shell }) })
/** The same cases, each with its own shell. */
const alone = shellContract({ name: 'bash', create: () => ({ shell: bash() }) })
const cases = contract.map((one, i) => (one.name.startsWith('closing the shell') ? (alone[i] ?? one) : one))
registerContract('bash in a Web Worker', cases, { describe, it })

const project = {
  'package.json': JSON.stringify({
    name: 'sample',
    version: '1.0.0',
    type: 'module',
    scripts: { test: 'node --test' },
  }),
  'src/add.js': 'export const add = (a, b) => a - b\n',
  'test/add.test.js': [
    "import assert from 'node:assert/strict'",
    "import { readFileSync } from 'node:fs'",
    "import test from 'node:test'",
    "import { add } from '../src/add.js'",
    "test('adds', () => assert.equal(add(1, 2), 3))",
    "test('reads', () => assert.match(readFileSync('package.json', 'utf8'), /sample/))",
  ].join('\n'),
  '.env': 'PASSWORD=hunter2\n',
  'loop.js': 'while (true) {}',
  'bomb.js': 'const all = []; for (;;) all.push(new Array(100000).fill(1))',
}

async function open() {
  const workspace = await createWorkspace({ backend: memory(project), policy: 'autonomous', shell })
  const run = (command: string, timeoutMs = 60_000) =>
    workspace.call('run_command', { command, timeoutMs }) as Promise<Answer>
  return { workspace, run }
}

describe('bash() in a page', () => {
  it.runIf(isLong)('repairs the failing test of a sample project', async () => {
    const { workspace, run } = await open()
    const failing = await run('npm test')
    expect(failing, JSON.stringify(failing)).toMatchObject({ ok: true, exitCode: 1 })
    expect(failing.stdout).toContain('-1 !== 3')
    expect(failing.stdout).toContain('pass 1\nℹ fail 1')
    const { sha256 } = (await workspace.call('read_file', { path: 'src/add.js' })) as Answer
    const edit = { path: 'src/add.js', oldText: 'a - b', newText: 'a + b', expectedSha256: sha256 }
    expect(await workspace.call('edit_file', edit)).toMatchObject({ ok: true })
    expect(await run('npm test')).toMatchObject({ ok: true, exitCode: 0, stdout: expect.stringContaining('fail 0') })
    // All requests went to the page's own server.
    const urls = performance.getEntriesByType('resource').map(({ name }) => new URL(name))
    expect(urls.length).toBeGreaterThan(0)
    expect(urls.filter(({ protocol, host }) => protocol !== 'data:' && host !== location.host)).toEqual([])
    await workspace.close()
  })

  it('refuses a protected file to a script and lists the refusal', async () => {
    const { workspace, run } = await open()
    const result = await run(`node -e "require('fs').readFileSync('.env')"`)
    expect(result).toMatchObject({ ok: true, exitCode: 1, refused: [{ path: '.env', code: 'POLICY_DENIED_SECRET' }] })
    expect(JSON.stringify(result)).not.toContain('hunter2')
    expect(workspace.auditRecords().at(-1)?.refusals).toMatchObject([{ path: '.env' }])
    await workspace.close()
  })

  it.runIf(isLong).each([
    ['a script without an end', 'node loop.js'],
    ['a script that allocates all memory', 'node bomb.js'],
    ['a tight loop of bash', 'while :; do :; done'],
    ['a bash variable that doubles', 'a=xxxxxxxxxx; while :; do a=$a$a; done'],
  ])('stops %s at its limit and keeps the page responsive', async (_, command) => {
    const { workspace, run } = await open()
    await run('node -p 1')
    let beats = 0
    const heart = setInterval(() => {
      beats += 1
    }, 20)
    const { ok, code, exitCode } = await run(command, 800)
    clearInterval(heart)
    // A script that ran out of memory may have failed on its own.
    expect(ok ? exitCode !== 0 : ['COMMAND_TIMEOUT', 'LIMIT_EXCEEDED'].includes(code), String(code)).toBe(true)
    expect(beats).toBeGreaterThan(1)
    expect(await run('echo on')).toMatchObject({ ok: true, stdout: 'on\n' })
    await workspace.close()
  })
})
