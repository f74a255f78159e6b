import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAudit, verifyAudit } from '../../src/audit/audit-log.ts'
import { takeFileLock } from '../../src/audit/file-lock.ts'
import { readAt } from '../../src/audit/jsonl-file.ts'
import { jsonlSink, readAuditFile, verifyAuditFile } from '../../src/audit/jsonl-sink.ts'
import { rotatedFiles } from '../../src/audit/rotation.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { meddling, refusing } from '../backends/node/system-calls.ts'
import { times } from '../counts.ts'
import { entry, temporaryAudit, writeEntries } from './entries.ts'

let directory: string
let file: string

beforeEach(() => {
  const audit = temporaryAudit()
  directory = audit.directory
  file = audit.file
  return audit.remove
})

const write = (count: number, from = 0) => writeEntries(file, count, from)

describe('an audit file', () => {
  it('has one line per record, is private to its owner, and continues where it ended', async () => {
    await write(3)
    await write(2, 3)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const lines = readFileSync(file, 'utf8').split('\n')
    expect(lines.length).toBe(6)
    expect(lines.at(-1)).toBe('')
    expect([...readAuditFile(file)].map(({ toolCallId }) => toolCallId)).toEqual([
      'run-0',
      'run-1',
      'run-2',
      'run-3',
      'run-4',
    ])
    expect(verifyAudit(readAuditFile(file))).toMatchObject({ ok: true, count: 5 })
    expect(verifyAuditFile(file)).toMatchObject({ ok: true, count: 5 })
    expect(existsSync(`${file}.lock`)).toBe(false)
  })

  it('continues after a last line of any length', async () => {
    const audit = createAudit({ sinks: [jsonlSink(file)] })
    for (const size of [1, 70_000, 200_000]) void audit.record(entry(size, { pathsRead: ['x'.repeat(size)] }))
    await audit.close()
    await write(1)
    expect(verifyAuditFile(file)).toMatchObject({ ok: true, count: 4 })
  })

  it('reveals any changed byte and its record', async () => {
    await write(4)
    const good = readFileSync(file)
    const ends = [...good.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at)
    for (let at = 0; at < good.length; at += times(7, 3)) {
      const bad = Buffer.from(good)
      bad[at] = (bad[at] ?? 0) ^ (at % 2 === 0 ? 1 : 0x80)
      writeFileSync(file, bad)
      const record = ends.findIndex((end) => at <= end)
      expect(verifyAuditFile(file), `byte ${at}`).toMatchObject({ ok: false, at: record })
    }
  })

  it('reveals a different spelling that parses to the same record', async () => {
    await write(2)
    const text = readFileSync(file, 'utf8')
    for (const other of [
      text.replace('"actor"', '"\\u0061ctor"'),
      text.replace('":"', '": "'),
      `${text}\n`,
      text.replace('\n', '\r\n'),
    ]) {
      expect(other).not.toBe(text)
      writeFileSync(file, other)
      expect(verifyAuditFile(file)).toMatchObject({ ok: false })
    }
  })

  it('reveals removed, moved and cut lines', async () => {
    await write(4)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const check = (kept: (string | undefined)[]) => {
      writeFileSync(file, `${kept.join('\n')}\n`)
      return verifyAuditFile(file)
    }
    expect(check(lines.slice(1))).toMatchObject({ ok: false, at: 0 })
    expect(check([lines[0], lines[2], lines[3]])).toMatchObject({ ok: false, at: 1 })
    expect(check([lines[0], lines[2], lines[1], lines[3]])).toMatchObject({ ok: false, at: 1 })
    expect(check(lines)).toMatchObject({ ok: true })
    truncateSync(file, statSync(file).size - 10)
    expect(verifyAuditFile(file)).toMatchObject({ ok: false, at: 3 })
    expect(verifyAuditFile(join(directory, 'none'))).toMatchObject({ ok: false, at: 0 })
  })
})

describe('a damaged end', () => {
  it('left by a crash is moved aside', async () => {
    await write(3)
    const whole = readFileSync(file)
    for (const left of [1, 100, whole.length - 1]) {
      const cut = whole.subarray(0, left)
      writeFileSync(file, cut)
      rmSync(`${file}.torn`, { force: true })
      const kept = cut.lastIndexOf(0x0a) + 1
      const sink = jsonlSink(file)
      expect(readFileSync(file).equals(cut.subarray(0, kept))).toBe(true)
      expect(readFileSync(`${file}.torn`).equals(Buffer.concat([cut.subarray(kept), Buffer.from('\n')]))).toBe(true)
      void createAudit({ sinks: [sink] }).record(entry(9))
      await sink.close?.()
      expect(verifyAuditFile(file)).toMatchObject({ ok: true })
    }
  })

  it('is refused with tornTail "refuse", and the file stays unchanged', async () => {
    await write(2)
    appendFileSync(file, '{"actor":')
    const before = readFileSync(file)
    expect(() => jsonlSink(file, { tornTail: 'refuse' })).toThrow(TypeError)
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(existsSync(`${file}.lock`)).toBe(false)
  })

  it.each(['not a record\n', '{}\n', '\n', '[]\n', 'null\n'])('with the complete line %j is refused', async (line) => {
    await write(1)
    appendFileSync(file, line)
    expect(() => jsonlSink(file)).toThrow(TypeError)
  })

  it('whose last record was changed is refused', async () => {
    await write(2)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/agent(?=[^\n]*\n$)/, 'other'))
    expect(() => jsonlSink(file)).toThrow('changed')
  })
})

describe('a write that fails', () => {
  it('because another process writes to the file stays failed', async () => {
    const sink = jsonlSink(file)
    const audit = createAudit({ sinks: [sink] })
    void audit.record(entry(1))
    appendFileSync(file, 'intruder\n')
    for (let i = 0; i < 2; i++)
      expect(() => audit.record(entry(2))).toThrow(expect.objectContaining({ code: 'AUDIT_FAILED' }))
    await audit.close()
    expect(readFileSync(file, 'utf8')).toMatch(/intruder\n$/)
  })

  it('because another process writes at the same time stays failed, and keeps the other line', async () => {
    const audit = createAudit({ sinks: [jsonlSink(file)] })
    void audit.record(entry(1))
    const meddled = (real: () => unknown) => {
      appendFileSync(file, 'intruder\n')
      return real()
    }
    const failed = expect.objectContaining({ code: 'AUDIT_FAILED' })
    await meddling('writeSync', meddled, () => expect(() => audit.record(entry(2))).toThrow(failed))
    expect(() => audit.record(entry(3))).toThrow(failed)
    await audit.close()
    expect(readFileSync(file, 'utf8').split('\n')[1]).toBe('intruder')
  })

  it('because the file was deleted', async () => {
    const audit = createAudit({ sinks: [jsonlSink(file)] })
    unlinkSync(file)
    expect(() => audit.record(entry(1))).toThrow(expect.objectContaining({ code: 'AUDIT_FAILED' }))
    await audit.close()
  })

  it('after it was closed', async () => {
    const sink = jsonlSink(file)
    await sink.close?.()
    await sink.close?.()
    expect(() => createAudit({ sinks: [sink] }).record(entry(1))).toThrow(
      expect.objectContaining({ code: 'AUDIT_FAILED' }),
    )
  })

  it('because the disk is full leaves only complete lines, and the chain continues later', async (context) => {
    const disk = join(directory, 'disk')
    mkdirSync(disk)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk]).status !== 0) {
      return context.skip('mounting a small disk is not permitted here')
    }
    try {
      const small = join(disk, 'audit.jsonl')
      const ballast = join(disk, 'ballast')
      writeFileSync(ballast, Buffer.alloc(8192))
      const audit = createAudit({ sinks: [jsonlSink(small)] })
      let failed = 0
      for (let i = 0; i < 12; i++) {
        const size = statSync(small).size
        try {
          void audit.record(entry(i, { pathsRead: ['x'.repeat(700)] }))
        } catch (error) {
          failed += 1
          expect(error).toMatchObject({ code: 'AUDIT_FAILED' })
          expect(statSync(small).size).toBe(size)
          expect(verifyAuditFile(small)).toMatchObject({ ok: true })
        }
      }
      expect(failed).toBeGreaterThan(0)
      unlinkSync(ballast)
      void audit.record(entry(99))
      await audit.close()
      expect(verifyAuditFile(small)).toMatchObject({ ok: true, count: 13 - failed })
    } finally {
      spawnSync('umount', [disk])
    }
  })
})

describe('opening', () => {
  it.each([
    ['a directory', () => mkdirSync(file)],
    ['a FIFO', () => spawnSync('mkfifo', [file])],
    [
      'a file in a missing directory',
      () => {
        file = join(directory, 'none', 'a.jsonl')
      },
    ],
    [
      'an empty name',
      () => {
        file = ''
      },
    ],
  ])('refuses %s without waiting', (_, make) => {
    make()
    expect(() => jsonlSink(file)).toThrow(TypeError)
  })

  it.each([{ fsync: true }, { fsync: 'sometimes' }, { tornTail: 1 }, { rotateBytes: 0 }, { rotateBytes: true }])(
    'refuses the options %j',
    (options) => {
      expect(() => jsonlSink(file, options as never)).toThrow(TypeError)
      expect(existsSync(file)).toBe(false)
    },
  )

  it('reports its real path', async () => {
    writeFileSync(join(directory, 'real.jsonl'), '')
    symlinkSync('real.jsonl', file)
    const sink = jsonlSink(file)
    expect(sink.file).toBe(join(directory, 'real.jsonl'))
    await sink.close?.()
  })

  it('keeps the mode of an existing file', async () => {
    writeFileSync(file, '')
    chmodSync(file, 0o640)
    await write(1)
    expect(statSync(file).mode & 0o777).toBe(0o640)
  })

  it('is exclusive', async () => {
    const sink = jsonlSink(file)
    expect(() => jsonlSink(file)).toThrow('another')
    await sink.close?.()
    await jsonlSink(file).close?.()
  })

  it.each(['{"pid":999999999,"host":"HOST","started":""}', 'garbage', ''])(
    'takes over the lock of a dead process: %s',
    async (lockText) => {
      const { hostname } = await import('node:os')
      writeFileSync(`${file}.lock`, lockText.replace('HOST', hostname()))
      await jsonlSink(file).close?.()
    },
  )

  it('does not take over the lock of another host, or of a process id that is in use again', async () => {
    const { hostname } = await import('node:os')
    writeFileSync(`${file}.lock`, '{"pid":1,"host":"elsewhere","started":""}')
    expect(() => jsonlSink(file)).toThrow('another')
    if (existsSync('/proc/self/stat')) {
      writeFileSync(`${file}.lock`, JSON.stringify({ pid: process.pid, host: hostname(), started: '1' }))
      await jsonlSink(file).close?.()
    }
  })
})

describe('processes', () => {
  const source = (name: string) => fileURLToPath(new URL(`../../src/audit/${name}`, import.meta.url))
  const tsx = fileURLToPath(new URL('../../node_modules/tsx/dist/esm/index.mjs', import.meta.url))
  const child = (code: string) =>
    spawn(process.execPath, ['--import', `file://${tsx}`, '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })

  const prelude = () => `
    import { createAudit } from ${JSON.stringify(source('audit-log.ts'))}
    import { jsonlSink } from ${JSON.stringify(source('jsonl-sink.ts'))}
    const entry = ${JSON.stringify(entry(0, { pathsRead: ['x'.repeat(3000)] }))}
    const file = ${JSON.stringify(file)}
  `

  it('that are killed while writing leave a chain that can be continued', async () => {
    let count = 0
    for (let round = 0; round < times(2, 4); round++) {
      const writer = child(`${prelude()}
        const audit = createAudit({ sinks: [jsonlSink(file, { fsync: 'never' })] })
        audit.record(entry)
        process.stdout.write('ready')
        for (;;) audit.record(entry)
      `)
      await new Promise((resolve) => writer.stdout?.once('data', resolve))
      const size = () => (existsSync(file) ? statSync(file).size : 0)
      for (const before = size(); size() < before + 4096; ) await new Promise((resolve) => setTimeout(resolve, 2))
      await new Promise((resolve) => setTimeout(resolve, round * 7))
      const ended = new Promise((resolve) => writer.once('exit', resolve))
      writer.kill('SIGKILL')
      await ended
      expect(existsSync(`${file}.lock`)).toBe(true)
      await jsonlSink(file).close?.()
      const check = verifyAuditFile(file)
      expect(check).toMatchObject({ ok: true })
      const now = check.ok ? check.count : 0
      expect(now).toBeGreaterThan(count)
      count = now
      // Keeps the file short enough to be read quickly.
      if (count > 50_000) {
        renameSync(file, `${file}.full${round}`)
        count = 0
      }
    }
  }, 60_000)

  it('cannot write to one file at the same time', async () => {
    const holder = jsonlSink(file)
    const other = child(`${prelude()}
      try { jsonlSink(file); process.stdout.write('opened') } catch (error) { process.stdout.write(error.name) }
    `)
    const output = await new Promise<string>((resolve) => other.stdout?.once('data', (data) => resolve(String(data))))
    expect(output).toBe('TypeError')
    await holder.close?.()
  }, 60_000)
})

describe('an invalid audit file', () => {
  it('stops reading at the first line that is not a record', async () => {
    await write(2)
    appendFileSync(file, 'no record\n')
    expect(() => [...readAuditFile(file)]).toThrow('Line 3 of "audit.jsonl" is not a record')
    expect(verifyAuditFile(file)).toMatchObject({ ok: false, at: 2, line: 3 })
    expect(rotatedFiles(join(directory, 'missing/audit.jsonl'))).toEqual([])
  })

  it('with a line that is too long is neither continued nor read', async () => {
    await write(1)
    const { size } = statSync(file)
    truncateSync(file, size + 64 * 1024 * 1024 + 128 * 1024)
    expect(() => jsonlSink(file)).toThrow('its last line is too long')
    const reading = readAuditFile(file)
    expect(reading.next()).toMatchObject({ done: false })
    expect(() => reading.next()).toThrow('Line 2 of "audit.jsonl" is not a record')
  })

  it('may contain nothing but line ends', () => {
    for (const text of ['\n', '\n\n', `\n${'x'.repeat(70_000)}`]) {
      writeFileSync(file, text)
      expect(verifyAuditFile(file), JSON.stringify(text.slice(0, 9))).toMatchObject({ ok: false, at: 0, line: 1 })
      expect(() => jsonlSink(file)).toThrow(TypeError)
    }
  })

  it('is refused inside the workspace', async () => {
    const root = join(directory, 'root')
    mkdirSync(root)
    const audit = jsonlSink(join(root, 'audit.jsonl'))
    const backend = nodeBackend(root, { stateDir: join(directory, 'state') })
    await expect(createWorkspace({ backend, policy: 'autonomous', audit })).rejects.toThrow('inside the workspace')
    await audit.close?.()
    await backend.close()
  })

  it('is read up to its end', () => {
    writeFileSync(file, 'abc')
    const fd = openSync(file, 'r')
    try {
      expect(readAt(fd, 1, 100).toString()).toBe('bc')
    } finally {
      closeSync(fd)
    }
  })
})

describe('the lock of a file', () => {
  it.each<[string, object, boolean]>([
    ['another process of this host', { pid: process.ppid, host: hostname(), started: 'long ago' }, true],
    ['no process', { host: hostname() }, true],
    ['an unused process id', { pid: 1e12, host: hostname(), started: 'then' }, true],
    ['the id of this process, but an earlier start', { pid: process.pid, host: hostname(), started: 'then' }, true],
    ['another host', { pid: 1, host: `not-${hostname()}` }, false],
  ])('that names %s is taken over only if the owner cannot be alive', (_, owner, isTaken) => {
    writeFileSync(`${file}.lock`, JSON.stringify(owner))
    const lock = takeFileLock(`${file}.lock`)
    expect(lock !== undefined).toBe(isTaken)
    lock?.release()
    expect(existsSync(`${file}.lock`)).toBe(!isTaken)
  })

  it('cannot be acquired where a directory exists', () => {
    mkdirSync(`${file}.lock`)
    expect(takeFileLock(`${file}.lock`)).toBeUndefined()
    expect(existsSync(`${file}.lock`)).toBe(true)
  })

  it('fails with the error of the storage, and leaves no files', async () => {
    const taking = refusing('linkSync', 'EPERM', /./, () => takeFileLock(`${file}.lock`))
    await expect(taking).rejects.toThrow('EPERM')
    expect(readdirSync(directory)).toEqual([])
  })
})
