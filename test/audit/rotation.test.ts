import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAudit } from '../../src/audit/audit-log.ts'
import { jsonlSink, readAuditFile, verifyAuditFile } from '../../src/audit/jsonl-sink.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { refusing } from '../backends/node/system-calls.ts'
import { entry, temporaryAudit, writeEntries } from './entries.ts'

const rotateBytes = 1500
let directory: string
let file: string

beforeEach(() => {
  const audit = temporaryAudit()
  directory = audit.directory
  file = audit.file
  return audit.remove
})

const write = (count: number, from = 0) => writeEntries(file, count, from, { rotateBytes })

/** The parts in the order of the chain. */
function parts(): string[] {
  const rotated = readdirSync(directory).filter((name) => /\.\d+$/.test(name))
  return [...rotated.sort((a, b) => Number(a.split('.').at(-1)) - Number(b.split('.').at(-1))), basename(file)]
}

const ids = () => [...readAuditFile(file)].map(({ toolCallId }) => toolCallId)
const expected = (count: number) => Array.from({ length: count }, (_, i) => `run-${i}`)

describe('a rotated audit file', () => {
  it('stays small, and its parts form one chain, also across restarts', async () => {
    for (let from = 0; from < 30; from += 5) await write(5, from)
    expect(parts().length).toBeGreaterThan(5)
    for (const name of parts()) {
      expect(statSync(join(directory, name)).size).toBeLessThanOrEqual(rotateBytes)
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    }
    expect(ids()).toEqual(expected(30))
    expect(verifyAuditFile(file)).toMatchObject({ ok: true, count: 30 })
  })

  it('sorts ten or more parts by number', async () => {
    await write(60)
    expect(parts().length).toBeGreaterThan(11)
    expect(ids()).toEqual(expected(60))
  })

  it('continues after a crash between the two steps, which leaves no file', async () => {
    await write(10)
    renameSync(file, join(directory, `audit.jsonl.${parts().length}`))
    expect(verifyAuditFile(file)).toMatchObject({ ok: true, count: 10 })
    await write(10, 10)
    expect(ids()).toEqual(expected(20))
    expect(verifyAuditFile(file)).toMatchObject({ ok: true, count: 20 })
  })

  it('is not continued after a part that was changed or cut', async () => {
    await write(10)
    unlinkSync(file)
    const last = join(directory, parts().at(-2) ?? '')
    const text = readFileSync(last, 'utf8')
    for (const bad of [text.replace(/agent(?=[^\n]*\n$)/, 'other'), text.slice(0, -1), `${text}{`, '']) {
      writeFileSync(last, bad)
      expect(() => jsonlSink(file), JSON.stringify(bad.slice(-20))).toThrow(TypeError)
    }
  })

  it('accepts no more records after another process has moved it', async () => {
    const audit = createAudit({ sinks: [jsonlSink(file, { rotateBytes })] })
    void audit.record(entry(0))
    renameSync(file, join(directory, 'elsewhere'))
    writeFileSync(file, 'mine\n')
    const more = () => {
      for (let i = 1; i < 9; i++) void audit.record(entry(i))
    }
    expect(more).toThrow(expect.objectContaining({ code: 'AUDIT_FAILED' }))
    expect(more).toThrow(expect.objectContaining({ code: 'AUDIT_FAILED' }))
    expect(readFileSync(file, 'utf8')).toBe('mine\n')
    await audit.close()
  })

  it('continues in the old part if no new one can be created, and retries later', async () => {
    const audit = createAudit({ sinks: [jsonlSink(file, { rotateBytes })] })
    void audit.record(entry(0))
    let refused = 0
    const isNew = (path: unknown) => path === file
    await refusing('openSync', 'ENOSPC', isNew, () => {
      for (let i = 1; i < 9; i++) {
        try {
          void audit.record(entry(i))
        } catch (error) {
          expect(error).toMatchObject({ code: 'AUDIT_FAILED' })
          refused += 1
        }
      }
    })
    expect(refused).toBeGreaterThan(0)
    expect(readdirSync(directory).filter((name) => !name.includes('lock'))).toEqual([basename(file)])
    for (let i = 1; i < 9; i++) void audit.record(entry(i))
    await audit.close()
    expect(readdirSync(directory).length).toBeGreaterThan(1)
    expect(verifyAuditFile(file)).toMatchObject({ ok: true })
  })

  it('skips part numbers that are in use', async () => {
    mkdirSync(`${file}.7`)
    const audit = createAudit({ sinks: [jsonlSink(file, { rotateBytes })] })
    for (let i = 0; i < 9; i++) void audit.record(entry(i))
    await audit.close()
    expect(readdirSync(directory)).toContain('audit.jsonl.8')
    rmSync(`${file}.7`, { recursive: true })
    expect(ids()).toEqual(expected(9))
  })

  it('is the source of reports and checks of a workspace', async () => {
    const workspace = await createWorkspace({
      backend: memory({ 'a.txt': 'a' }),
      policy: 'autonomous',
      audit: jsonlSink(file, { rotateBytes }),
      run: { id: 'run' },
    })
    for (let i = 0; i < 5; i++) await workspace.call('write_file', { path: `${i}.txt`, content: 'x' })
    expect(workspace.verifyAudit()).toMatchObject({ ok: true, count: 10 })
    expect((await workspace.report()).written).toHaveLength(5)
    const first = join(directory, parts()[0] ?? '')
    writeFileSync(first, readFileSync(first, 'utf8').replace('"2.txt"', '"3.txt"').replace('"0.txt"', '"1.txt"'))
    expect(workspace.verifyAudit()).toMatchObject({ ok: false, at: 0 })
    await workspace.close()
  })
})

describe('damage to the parts', () => {
  interface Line {
    readonly part: string
    readonly text: string
  }
  let good: Line[]
  let head: string

  beforeEach(async () => {
    await write(14)
    good = parts().flatMap((part) =>
      readFileSync(join(directory, part), 'utf8')
        .trimEnd()
        .split('\n')
        .map((text) => ({ part, text })),
    )
    const check = verifyAuditFile(file)
    head = check.ok ? check.head.hash : ''
  })

  function put(lines: readonly Line[]): void {
    for (const part of new Set(good.map((line) => line.part))) {
      const own = lines.filter((line) => line.part === part)
      writeFileSync(join(directory, part), own.map(({ text }) => `${text}\n`).join(''))
    }
  }

  /** The index of the first line that differs from the good one. */
  function firstDifference(lines: readonly Line[]): number {
    const at = good.findIndex(({ text }, i) => lines[i]?.text !== text)
    return at === -1 ? good.length : at
  }

  const anyLine = fc.nat(13)

  it('of a byte is found, with its file and line', () => {
    fc.assert(
      fc.property(anyLine, fc.nat(100_000), fc.integer({ min: 1, max: 255 }), (index, offset, flip) => {
        put(good)
        const { part, text } = good[index] as Line
        const location = join(directory, part)
        const before = good.slice(0, index).filter((line) => line.part === part)
        const start = before.reduce((sum, line) => sum + line.text.length + 1, 0)
        const bytes = readFileSync(location)
        const at = start + (offset % (text.length + 1))
        bytes[at] = (bytes[at] ?? 0) ^ flip
        writeFileSync(location, bytes)
        expect(verifyAuditFile(file)).toMatchObject({ ok: false, at: index, file: part, line: before.length + 1 })
      }),
      { numRuns: 60 },
    )
  })

  it('of a record that is removed, repeated, moved or put into another part is found, with its position', () => {
    const edit = fc.oneof(
      anyLine.map((at) => ({ name: 'remove', run: (lines: Line[]) => lines.splice(at, 1) })),
      fc.tuple(anyLine, anyLine).map(([from, to]) => ({
        name: 'repeat',
        run: (lines: Line[]) => lines.splice(to, 0, lines[from % lines.length] as Line),
      })),
      fc.tuple(anyLine, anyLine).map(([a, b]) => ({
        name: 'swap',
        run(lines: Line[]) {
          const [from, to] = [a % lines.length, b % lines.length]
          const [one, other] = [lines[from] as Line, lines[to] as Line]
          lines[from] = { part: one.part, text: other.text }
          lines[to] = { part: other.part, text: one.text }
        },
      })),
    )
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const lines = [...good]
        for (const { run } of edits) run(lines)
        put(lines)
        const chain = parts().flatMap((part) => lines.filter((line) => line.part === part))
        const at = firstDifference(chain)
        const check = verifyAuditFile(file, { head: { hash: head } })
        if (at === good.length && chain.length === good.length) expect(check).toMatchObject({ ok: true })
        else expect(check).toMatchObject({ ok: false, at })
      }),
      { numRuns: 60 },
    )
  })

  it('at the end, where records are cut off, is found only with the expected head', () => {
    for (const kept of [13, 5, 0]) {
      put(good.slice(0, kept))
      expect(verifyAuditFile(file)).toMatchObject({ ok: true, count: kept })
      expect(verifyAuditFile(file, { head: { hash: head } })).toMatchObject({ ok: false, at: kept })
    }
  })

  it('of a missing part is found, unless it was archived and its last record is given', () => {
    const [first = '', second = ''] = parts()
    const count = good.filter(({ part }) => part === first).length
    const last = JSON.parse((good[count - 1] as Line).text) as { hash: string }
    rmSync(join(directory, second))
    expect(verifyAuditFile(file)).toMatchObject({ ok: false, at: count, line: 1 })
    put(good)
    rmSync(join(directory, first))
    expect(verifyAuditFile(file)).toMatchObject({ ok: false, at: 0, file: second, line: 1 })
    expect(verifyAuditFile(file, { after: last })).toMatchObject({ ok: true, count: 14 - count })
    expect(verifyAuditFile(file, { after: { hash: head } })).toMatchObject({ ok: false, at: 0 })
  })
})

it('a writer that is killed during rotation leaves a chain that can be continued', async () => {
  const source = (name: string) => fileURLToPath(new URL(`../../src/audit/${name}`, import.meta.url))
  const tsx = fileURLToPath(new URL('../../node_modules/tsx/dist/esm/index.mjs', import.meta.url))
  const code = `
    import { createAudit } from ${JSON.stringify(source('audit-log.ts'))}
    import { jsonlSink } from ${JSON.stringify(source('jsonl-sink.ts'))}
    const audit = createAudit({ sinks: [jsonlSink(${JSON.stringify(file)}, { fsync: 'never', rotateBytes: 700 })] })
    for (let i = 0; ; i++) {
      audit.record(${JSON.stringify(entry(0))})
      if (i === 20) process.stdout.write('ready')
    }
  `
  const writer = spawn(process.execPath, ['--import', `file://${tsx}`, '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => writer.once('exit', resolve))
  await new Promise((resolve) => writer.stdout?.once('data', resolve))
  writer.kill('SIGKILL')
  await ended
  await jsonlSink(file).close?.()
  const check = verifyAuditFile(file)
  expect(check).toMatchObject({ ok: true })
  expect(check.ok && check.count).toBeGreaterThan(20)
})
