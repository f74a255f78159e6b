import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toModelText } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createReadHistory } from '../../src/history/read-history.ts'
import {
  createWorkspace,
  type Path,
  type ToolInput,
  type WorkspaceOptions,
  type WorkspaceRun,
} from '../../src/index.ts'

const text = 'one\ntwo\nthree\nfour\n'

async function open(options: Partial<WorkspaceOptions> = {}) {
  const backend = memory({ 'a.txt': text })
  const workspace = await createWorkspace({ backend, policy: 'autonomous', ids: () => 'r', ...options })
  return { backend, workspace, read: reader(workspace) }
}

/** Returns a function that reads the file and returns the content, the call that showed it, or the error code. */
function reader(run: Pick<WorkspaceRun, 'call'>) {
  return async (input: Partial<ToolInput<'read_file'>> = {}) => {
    const result = await run.call('read_file', { path: 'a.txt', ifChanged: true, ...input })
    return result.ok ? (result.unchangedSince ?? result.content) : result.code
  }
}

describe('read_file with ifChanged', () => {
  it('names the call that showed the same lines and version, in a short result', async () => {
    const { workspace, read } = await open()
    const first = await workspace.call('read_file', { path: 'a.txt' })
    const again = await workspace.call('read_file', { path: 'a.txt', ifChanged: true })
    expect(again).toEqual({
      ...first,
      summary: 'Unchanged since call 1: lines 1-4 of 4 of a.txt',
      content: '',
      unchangedSince: 'r-1',
      callId: 'r-2',
    })
    expect(toModelText('read_file', again)).toBe('Unchanged since call 1: lines 1-4 of 4 of a.txt')
    expect(await read({ ifChanged: false })).toBe(text)
    expect(await read()).toBe('r-3')
  })

  it('applies only if all of the lines were shown, in the same form', async () => {
    const { read } = await open()
    expect(await read({ startLine: 2, maxLines: 2 })).toBe('two\nthree\n')
    expect(await read({ startLine: 3, maxLines: 1 })).toBe('r-1')
    expect(await read({ startLine: 3, maxLines: 2 })).toBe('three\nfour\n')
    expect(await read({ startLine: 3, maxLines: 1, lineNumbers: true })).toBe('     3 | three\n')
    expect(await read()).toBe(text)
  })

  it('does not apply after a change by this run, by another run, or from outside', async () => {
    const { backend, workspace, read } = await open()
    expect(await read()).toBe(text)
    await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'eins' })
    expect(await read()).toContain('eins')
    expect(await read()).toBe('r-3')
    await workspace.run({ id: 's' }).call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'zwei' })
    expect(await read()).toContain('zwei')
    const path = 'a.txt' as Path
    const to = { type: 'file', bytes: new TextEncoder().encode('from outside\n') } as const
    await backend.commit([{ path, expect: 'any', to }], { durability: 'durable' })
    expect(await read()).toBe('from outside\n')
  })

  it('does not apply after an undo of this run, after a move onto the file, or in a fork', async () => {
    const { workspace, read } = await open()
    await read()
    const edit = await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'eins' })
    await workspace.undo(edit.ok ? edit.callId : '')
    expect(await read()).toBe(text)
    await workspace.call('move_file', { path: 'a.txt', to: 'b.txt' })
    await workspace.call('move_file', { path: 'b.txt', to: 'a.txt' })
    expect(await read()).toBe(text)
    const fork = await workspace.fork({ id: 'f' })
    expect(await reader(fork)()).toBe(text)
    expect(await reader(fork)()).toBe('f-1')
    await fork.call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'zwei' })
    expect(await reader(fork)()).toContain('zwei')
    expect(await read()).toMatch(/^r-\d+$/)
    expect(await reader(workspace.run({ id: 's' }))()).toBe(text)
  })

  it('does not apply if a hook or a size limit withheld the content', async () => {
    let withholds = true
    const postToolResponse = ({ result }: { result: object }) =>
      withholds ? { ...result, content: 'withheld' } : undefined
    const { read } = await open({ hooks: { postToolResponse } as never })
    expect(await read()).toBe('withheld')
    withholds = false
    expect(await read()).toBe(text)
    expect(await read()).toMatch(/^r-/)
    const cut = await open({ limits: { projectionBytes: 100 }, backend: memory({ 'a.txt': `${'x'.repeat(500)}\n` }) })
    const shortened = await cut.read()
    expect(shortened).toMatch(/^x+…$/)
    expect(await cut.read()).toBe(shortened)
    const within = await open({ limits: { readBytes: 10 }, backend: memory({ 'a.txt': 'y'.repeat(50) }) })
    expect(await within.read()).toBe('y'.repeat(10))
    expect(await within.read()).toBe('y'.repeat(10))
  })

  it('does not change which content may be replaced without a hash', async () => {
    const { workspace, read } = await open()
    await read({ maxLines: 2 })
    expect(await read({ maxLines: 2 })).toBe('r-1')
    const refused = await workspace.call('write_file', { path: 'a.txt', content: 'new\n' })
    expect(refused).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    await read()
    expect(await read()).toMatch(/^r-/)
    expect(await workspace.call('write_file', { path: 'a.txt', content: 'new\n' })).toMatchObject({ ok: true })
    expect(await read()).toBe('new\n')
  })

  it('has no effect on an artifact, which never changes', async () => {
    const { workspace, read } = await open()
    const edit = await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'eins' })
    const path = edit.ok ? String(edit.artifactUri) : ''
    for (let n = 0; n < 2; n++) expect(await read({ path, lineNumbers: true })).toContain('| +eins\n')
  })

  it('is correct after any sequence of reads, changes and undos', async () => {
    const step = fc.oneof(
      fc.record({ who: fc.constantFrom('own', 'other', 'outside'), text: fc.constantFrom('a\n', 'b\nc\n', text) }),
      fc.record({ startLine: fc.integer({ min: 1, max: 3 }), maxLines: fc.integer({ min: 1, max: 4 }) }),
      fc.constant('undo' as const),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { backend, workspace } = await open()
        const other = workspace.run({ id: 's' })
        const versions = new Map<string, string>()
        let last = ''
        for (const each of steps) {
          if (each === 'undo') {
            await workspace.undo(last)
          } else if ('startLine' in each) {
            const read = { path: 'a.txt', ...each }
            const result = await workspace.call('read_file', { ...read, ifChanged: true })
            if (!result.ok) continue
            const now = await other.call('read_file', read)
            const before = result.unchangedSince
            expect(
              (before === undefined ? result.content : versions.get(String(before)))?.includes(
                String(now.ok ? now.content : '-'),
              ),
            ).toBe(true)
            if (before === undefined) versions.set(String(result.callId), result.content)
          } else if (each.who === 'outside') {
            const to = { type: 'file', bytes: new TextEncoder().encode(each.text) } as const
            await backend.commit([{ path: 'a.txt' as Path, expect: 'any', to }], { durability: 'durable' })
          } else {
            const by = each.who === 'own' ? workspace : other
            const file = await by.call('file_info', { path: 'a.txt' })
            const expectedSha256 = file.ok ? (file.sha256 ?? null) : null
            const result = await by.call('write_file', { path: 'a.txt', content: each.text, expectedSha256 })
            if (result.ok) last = result.callId
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('the read history of a run', () => {
  const lines = (path: string, n = 1) => ({
    path: path as Path,
    sha256: 's',
    startLine: n,
    endLine: n,
    lineNumbers: false,
  })

  it('is limited to the latest files and the latest reads of each', () => {
    const reads = createReadHistory()
    for (let n = 0; n < 1001; n++) reads.noteLines(lines(`f${n}`), `c${n}`)
    expect([reads.findCall(lines('f0')), reads.findCall(lines('f1')), reads.findCall(lines('f1000'))]).toEqual([
      undefined,
      'c1',
      'c1000',
    ])
    for (let n = 1; n <= 65; n++) reads.noteLines(lines('f1', n), `n${n}`)
    expect([reads.findCall(lines('f1', 1)), reads.findCall(lines('f1', 2)), reads.findCall(lines('f1', 65))]).toEqual([
      undefined,
      'n2',
      'n65',
    ])
  })
})
