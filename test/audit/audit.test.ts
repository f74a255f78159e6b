import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AuditRecord, type AuditSink, createAudit, shaMap, verifyAudit } from '../../src/audit/audit-log.ts'
import { callbackSink, memorySink } from '../../src/audit/sinks.ts'
import { diffOfChanges } from '../../src/call/change-diff.ts'
import { ownTime } from '../own-time.ts'
import { entries, entry } from './entries.ts'

function chainOf(count: number): AuditRecord[] {
  const sink = memorySink()
  const audit = createAudit({ sinks: [sink] })
  for (let i = 0; i < count; i++) void audit.record(entry(i))
  return [...sink.records()]
}

/** An independent implementation of the documented chain: sorted keys, and the hash of node:crypto. */
function hashByHand({ hash: _, previousHash, ...body }: AuditRecord): string {
  const sorted = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${pairs.map(([key, item]) => `${JSON.stringify(key)}:${sorted(item)}`).join(',')}}`
  }
  return createHash('sha256')
    .update(previousHash + sorted(body), 'utf8')
    .digest('hex')
}

describe('the chain', () => {
  it('matches its documented format', () => {
    fc.assert(
      fc.property(fc.array(entries, { minLength: 1, maxLength: 6 }), (list) => {
        const records: AuditRecord[] = []
        const audit = createAudit({ sinks: [callbackSink((record) => void records.push(record))] })
        for (const one of list) void audit.record(one)
        let previous = '0'.repeat(64)
        for (const [index, record] of records.entries()) {
          expect(record.sequence).toBe(index + 1)
          expect(record.previousHash).toBe(previous)
          expect(record.hash).toBe(hashByHand(record))
          previous = record.hash
        }
        expect(verifyAudit(records)).toMatchObject({ ok: true, count: list.length })
        // The chain stays valid after a JSON round trip.
        expect(verifyAudit(JSON.parse(JSON.stringify(records)))).toMatchObject({ ok: true })
      }),
      { numRuns: 200 },
    )
  })

  it('is the same in every sink, also if it is built late', () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 6 }), fc.nat(5), (list, look) => {
        const records: AuditRecord[] = []
        const late = memorySink()
        const audit = createAudit({ sinks: [late, callbackSink((record) => void records.push(record))] })
        for (const [index, one] of list.entries()) {
          void audit.record(one)
          if (index === look) late.records()
        }
        expect(late.records()).toEqual(records)
      }),
      { numRuns: 100 },
    )
  })

  it('is empty without records', () => {
    expect(verifyAudit([])).toMatchObject({ ok: true, count: 0 })
  })
})

describe('verifyAudit', () => {
  const good = chainOf(8)
  const index = fc.nat({ max: good.length - 1 })

  /** The path of every leaf value of a record. */
  function leaves(value: unknown, path: string[] = []): string[][] {
    if (typeof value !== 'object' || value === null) return [path]
    return Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, key]))
  }

  it('finds any changed value and its position', () => {
    let attempts = 0
    for (const [at, record] of good.entries()) {
      for (const path of leaves(record)) {
        const changed = structuredClone(good)
        let target = changed[at] as unknown as Record<string, unknown>
        for (const key of path.slice(0, -1)) target = target[key] as Record<string, unknown>
        const last = path.at(-1) ?? ''
        const value = target[last]
        target[last] = typeof value === 'number' ? value + 1 : value === null ? 'x' : `${value}x`
        expect(verifyAudit(changed), path.join('.')).toMatchObject({ ok: false, at })
        attempts += 1
      }
    }
    expect(attempts).toBeGreaterThan(100)
  })

  it('finds an added or removed field', () => {
    fc.assert(
      fc.property(index, fc.constantFrom('extra', 'code', '__proto__'), (at, field) => {
        const changed = structuredClone(good)
        Object.defineProperty(changed[at], field, { value: 'x', enumerable: true, configurable: true, writable: true })
        expect(verifyAudit(changed)).toMatchObject({ ok: false, at })
        const less = structuredClone(good)
        delete (less[at] as Partial<AuditRecord>)['actor' as never]
        expect(verifyAudit(less)).toMatchObject({ ok: false, at })
      }),
    )
  })

  it('finds a removed, duplicated or moved record and its position', () => {
    fc.assert(
      fc.property(index, index, (at, other) => {
        const removed = good.filter((_, location) => location !== at)
        const check = verifyAudit(removed, { head: { hash: good.at(-1)?.hash ?? '' } })
        expect(check).toMatchObject({ ok: false, at: Math.min(at, removed.length) })
        expect(verifyAudit([...good.slice(0, at + 1), ...good.slice(at)])).toMatchObject({ ok: false, at: at + 1 })
        if (at === other) return
        const swapped = [...good]
        ;[swapped[at], swapped[other]] = [good[other] as AuditRecord, good[at] as AuditRecord]
        expect(verifyAudit(swapped)).toMatchObject({ ok: false, at: Math.min(at, other) })
      }),
    )
  })

  it('finds a forged record with a valid hash', () => {
    const forged = structuredClone(good)
    const record = { ...(forged[3] as AuditRecord), actor: 'nobody' }
    forged[3] = { ...record, hash: hashByHand(record) }
    expect(verifyAudit(forged)).toMatchObject({ ok: false, at: 4 })
  })

  it('needs the head to detect records removed at the end', () => {
    const cut = good.slice(0, 5)
    expect(verifyAudit(cut)).toMatchObject({ ok: true, count: 5 })
    expect(verifyAudit(cut, { head: { hash: good[7]?.hash ?? '' } })).toMatchObject({ ok: false, at: 5 })
    expect(verifyAudit(good, { head: { hash: good[7]?.hash ?? '' } })).toMatchObject({ ok: true })
  })

  it.each([
    [null],
    [undefined],
    [5],
    ['x'],
    [{}],
    [[]],
    [{ sequence: 1 }],
    [{ sequence: 1, previousHash: '0'.repeat(64) }],
  ])('never throws: %j', (record) => {
    expect(verifyAudit([record as unknown as AuditRecord])).toMatchObject({ ok: false, at: 0 })
  })
})

describe('createAudit', () => {
  it('fails if a sink fails, without a gap, and passes the entry to the other sinks', () => {
    let full = false
    const records: AuditRecord[] = []
    const other = memorySink()
    const audit = createAudit({
      sinks: [
        callbackSink((record) => {
          if (full) throw new Error('disk full')
          records.push(record)
        }),
        other,
      ],
    })
    void audit.record(entry(1))
    full = true
    expect(() => audit.record(entry(2))).toThrow(expect.objectContaining({ code: 'AUDIT_FAILED' }))
    full = false
    void audit.record(entry(3))
    expect(records.map(({ toolCallId }) => toolCallId)).toEqual(['run-1', 'run-3'])
    expect(verifyAudit(records)).toMatchObject({ ok: true, count: 2 })
    expect(verifyAudit(other.records())).toMatchObject({ ok: true, count: 3 })
  })

  it('keeps order and chain with slow sinks whose writes sometimes fail', async () => {
    const records: AuditRecord[] = []
    const audit = createAudit({
      sinks: [
        callbackSink(async (record) => {
          await new Promise((resolve) => setTimeout(resolve, record.toolCallId.length % 3))
          if (record.toolCallId === 'run-5') throw new Error('lost')
          records.push(record)
        }),
      ],
    })
    const results = await Promise.allSettled(Array.from({ length: 20 }, async (_, i) => audit.record(entry(i))))
    expect(results.map(({ status }) => status).filter((status) => status === 'rejected').length).toBe(1)
    expect(results[5]).toMatchObject({ status: 'rejected', reason: { code: 'AUDIT_FAILED' } })
    expect(records.map(({ toolCallId }) => toolCallId)).toEqual(
      Array.from({ length: 20 }, (_, i) => `run-${i}`).filter((id) => id !== 'run-5'),
    )
    expect(verifyAudit(records)).toMatchObject({ ok: true, count: 19 })
  })

  it('treats any other return value of a callback as success', () => {
    const records: AuditRecord[] = []
    const audit = createAudit({ sinks: [callbackSink(((record: AuditRecord) => records.push(record)) as never)] })
    void audit.record(entry(1))
    void audit.record(entry(2))
    expect(verifyAudit(records)).toMatchObject({ ok: true, count: 2 })
  })

  it('continues the existing chain of a sink', () => {
    const first = chainOf(3)
    const more: AuditRecord[] = []
    const head = first.at(-1) as AuditRecord
    const sink: AuditSink = { append: (record) => void more.push(record), head: () => head }
    void createAudit({ sinks: [sink] }).record(entry(9))
    expect(verifyAudit([...first, ...more])).toMatchObject({ ok: true, count: 4 })
  })

  it('redacts secrets in a reason, and limits its length', () => {
    const sink = memorySink()
    const audit = createAudit({ sinks: [sink] })
    const token = ['gh', 'p_', 'Ab3dE5gH1jK7mN9pQ2sT4vW6xY8zC0eF1hJ3'].join('')
    void audit.record(entry(1, { reason: `because of ${token} and so on` }))
    void audit.record(entry(2, { reason: 'x'.repeat(100_000) }))
    const [first, second] = sink.records()
    expect(first?.reason).toContain('because of ')
    expect(JSON.stringify(sink.records())).not.toContain(token)
    expect(second?.reason?.length).toBeLessThan(3000)
  })

  it('waits for pending records on close, and accepts no more', async () => {
    const log: string[] = []
    const sink: AuditSink = {
      append: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        log.push('written')
      },
      close: () => void log.push('closed'),
    }
    const audit = createAudit({ sinks: [sink] })
    void audit.record(entry(1))
    void audit.record(entry(2))
    await audit.close()
    await audit.close()
    expect(log).toEqual(['written', 'written', 'closed'])
    expect(() => audit.record(entry(3))).toThrow(expect.objectContaining({ code: 'AUDIT_FAILED' }))
  })

  it.each([[undefined], [{}], ['file.jsonl'], [{ append: 'x' }]])('refuses %j as a sink', (sink) => {
    expect(() => createAudit({ sinks: [sink as never] })).toThrow(TypeError)
  })

  it('accepts any path as a key', () => {
    const sink = memorySink()
    void createAudit({ sinks: [sink] }).record(
      entry(1, {
        oldSha256: shaMap([
          ['__proto__', 'x'],
          ['10', null],
          ['9', 'y'],
        ]),
      }),
    )
    const [record] = sink.records()
    expect(Object.keys(record?.oldSha256 ?? {}).sort()).toEqual(['10', '9', '__proto__'])
    expect(record?.hash).toBe(hashByHand(record as AuditRecord))
  })

  it('uses almost no memory per call', () => {
    const audit = createAudit({ sinks: [memorySink()] })
    const calls = 2_000
    for (let i = 0; i < calls; i++) void audit.record(entry(i))
    const started = ownTime()
    for (let i = 0; i < calls; i++) {
      void audit.record(entry(i))
      void audit.record(entry(i, { phase: 'outcome' }))
    }
    // A generous limit; the benchmarks measure the actual time.
    expect(((ownTime() - started) * 1000) / calls).toBeLessThan(200)
  })
})

describe('the input of an audit', () => {
  it('is not a sink without a function', () => {
    expect(() => callbackSink(undefined as never)).toThrow('"append" of callbackSink() must be a function')
  })

  it('is recorded with a time, and without secrets in the path of the taint', async () => {
    const sink = memorySink()
    const token = `ghp_${'a1B2'.repeat(10)}`
    const taint = { label: 'restricted', callId: 'run-1', tool: 'read_file', path: `${token}.txt` } as const
    const audit = createAudit({ sinks: [sink] })
    void audit.record(entry(1, { timestamp: Number.NaN, taint }))
    const [record] = sink.records()
    expect(record).toMatchObject({ timestamp: '1970-01-01T00:00:00.000Z', taint: { label: 'restricted' } })
    expect(JSON.stringify(record)).not.toContain(token)
    const copy = memorySink()
    void copy.append(record as AuditRecord)
    expect(copy.records()).toEqual(sink.records())
  })

  it('reports a sink that fails to close', async () => {
    const closed: string[] = []
    const sinks: AuditSink[] = [
      { append() {}, close: () => Promise.reject(new Error('the disk at /x')) },
      { append() {}, close: () => void closed.push('second') },
    ]
    const audit = createAudit({ sinks })
    await expect(audit.close()).rejects.toMatchObject({ code: 'AUDIT_FAILED' })
    expect(closed).toEqual(['second'])
    await audit.close()
  })

  it('must start with a record if it continues another chain', () => {
    const [first, second] = chainOf(2) as [AuditRecord, AuditRecord]
    expect(verifyAudit([second], { after: first })).toMatchObject({ ok: true, count: 1 })
    for (const none of ['text', null, {}, { ...second, sequence: 1.5 }, { ...second, actor: 1n }]) {
      expect(verifyAudit([none as never], { after: first })).toMatchObject({ ok: false, at: 0 })
    }
    expect(verifyAudit([{ ...second, actor: 1n } as never], { after: first })).toMatchObject({
      reason: 'It is not a record',
    })
  })
})

describe('the diff of a change set', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const file = (content: Uint8Array) => ({ type: 'file', bytes: content }) as const
  const link = { type: 'link', target: 'there' } as const
  const binary = file(Uint8Array.of(1, 0, 2))
  const latin = file(Uint8Array.of(0x61, 0xe9))
  it.each([
    ['a.bin', null, binary, /^diff --git a\/a\.bin b\/a\.bin\nnew file/],
    ['a.bin', binary, null, /deleted file[\s\S]*Binary files/],
    ['a.bin', link, binary, /deleted file mode 120000[\s\S]*new file mode 100644\nBinary files \/dev.* differ/],
    ['a.txt', latin, file(bytes('b\n')), /Binary files a.* differ/],
    ['a.txt', link, { ...link, target: 'elsewhere' }, /-there[\s\S]*\+elsewhere/],
    ['.env', file(bytes('A=1')), file(bytes('A=2')), /^Protected file \.env changed\n$/],
    ['.env', file(bytes('A=1')), null, /^Protected file \.env deleted\n$/],
    ['.git/index', null, binary, /^Git's own data changed\n$/],
    ['d', null, { type: 'directory' } as const, /^$/],
  ])('of %s names and shows it', (path, before, to, expected) => {
    expect(diffOfChanges([{ change: { path: path as never, expect: 'any', to }, before }])).toMatch(expected)
  })
})
