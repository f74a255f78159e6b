import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonlSink, verifyAuditFile } from '../../src/audit/jsonl-sink.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { isLong } from '../counts.ts'
import { runCli } from './run-cli.ts'

let home: string
let file: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'wardspace-evidence-'))
  file = join(home, 'audit.jsonl')
  const workspace = await createWorkspace({
    backend: memory({ 'src/app.ts': 'export const answer = 41\n', '.env': 'PASSWORD=hunter2\n' }),
    policy: 'autonomous',
    audit: jsonlSink(file, { rotateBytes: 2000 }),
    run: { id: 'first', actor: 'ann\u001b[2J', task: { text: 'raise the answer', scope: ['src/**'] } },
  })
  await workspace.call('edit_file', { path: 'src/app.ts', oldText: '41', newText: '42', reason: 'it was wrong' })
  await workspace.call('read_file', { path: '.env' })
  await workspace.call('write_file', { path: 'notes.md', content: 'x' })
  await workspace.run({ id: 'second' }).call('read_file', { path: 'src/app.ts' })
  await workspace.close()
})

afterAll(() => rm(home, { recursive: true, force: true }))

const run = (...args: string[]) => runCli(args)

it.runIf(isLong)('reports on an audit file as tables, Markdown and data', async () => {
  const tables = await run('report', file)
  expect(tables).toMatchObject({ code: 0, stderr: '' })
  expect(tables.stdout).toContain('chain intact')
  expect(tables.stdout).toMatch(/src\/app\.ts .*edit_file +it was wrong/)
  expect(tables.stdout).toMatch(/POLICY_DENIED_SECRET/)
  expect(tables.stdout).toContain('OUTSIDE the scope: notes.md')
  expect(tables.stdout).toContain('second')
  expect(tables.stdout).not.toMatch(/\u001b|hunter2/)
  const markdown = await run('report', file, '--markdown', '--run', 'second')
  expect(markdown.stdout).toMatch(/^# Report of run second\n/)
  expect(markdown.stdout).not.toContain('first')
  const data = JSON.parse((await run('report', file, '--json')).stdout)
  expect(data).toMatchObject({ audit: { ok: true }, runs: [{ runId: 'first' }, { runId: 'second' }] })
  expect(await run('report', file, '--run', 'third')).toMatchObject({ code: 1, stdout: '' })
})

it('verifies audit files, shows where one is damaged, and reports the records before the damage', async () => {
  const whole = await run('audit', 'verify', file, file)
  expect(whole).toMatchObject({ code: 0, stderr: '' })
  const check = verifyAuditFile(file)
  const head = check.ok ? check.head.hash : ''
  expect(whole.stdout.match(new RegExp(`head ${head}`, 'g'))).toHaveLength(2)
  const cut = join(home, 'cut.jsonl')
  await writeFile(cut, (await readFile(`${file}.1`, 'utf8')).split('\n').slice(0, 1).join('\n').concat('\n'))
  expect(await run('audit', 'verify', cut, '--head', head)).toMatchObject({ code: 1 })
  await writeFile(`${file}.1`, (await readFile(`${file}.1`, 'utf8')).replace('"outcome"', '"refused"'))
  const damaged = await run('audit', 'verify', file, '--json')
  expect(damaged.code).toBe(1)
  expect(JSON.parse(damaged.stdout)).toMatchObject({ ok: false, at: 1, file: 'audit.jsonl.1', line: 2 })
  const report = await run('report', file, '--json')
  expect(report.code).toBe(1)
  expect(report.stderr).toContain('damaged')
  expect(JSON.parse(report.stdout).runs).toMatchObject([{ calls: { carriedOut: 0, unfinished: ['first-1'] } }])
})

it('records a call and repeats it without changing the files', async () => {
  const root = join(home, 'root')
  await mkdir(root)
  await writeFile(join(root, 'a.txt'), 'one\n')
  const recording = join(home, 'recording.jsonl')
  const append = (target: string) => {
    const input = '{"path":"a.txt","content":"two\\n"}'
    return run('call', 'append_file', input, '--policy', 'autonomous', '--root', root, '--record', target)
  }
  expect(await append(recording)).toMatchObject({ code: 0 })
  await writeFile(join(root, 'a.txt'), 'one\n')
  expect(await run('replay', recording, '--root', root)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 step came out as recorded'),
  })
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('one\n')
  await writeFile(join(root, 'a.txt'), 'other\n')
  const different = await run('replay', recording, '--root', root)
  expect(different).toMatchObject({ code: 1, stdout: expect.stringMatching(/step 1, append_file/) })
  const again = await append(recording)
  const inside = await append(join(root, 'r.jsonl'))
  expect([again.code, inside.code, (await run('replay', file)).code]).toEqual([2, 2, 2])
})

it('the evidence commands exit with 2 for wrong usage', async () => {
  const wrong = [
    ['report'],
    ['report', join(home, 'none')],
    ['audit', 'mend', file],
    ['audit', 'verify', file, '--head', 'abc'],
  ]
  const results = await Promise.all(wrong.map((args) => run(...args)))
  expect(results.map(({ code }) => code)).toEqual(wrong.map(() => 2))
  for (const { stderr } of results) expect(stderr).toMatch(/^wardspace: /)
})
