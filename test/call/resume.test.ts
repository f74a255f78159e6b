import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import {
  createWorkspace,
  type Failure,
  type ParkedCall,
  type ParkedCalls,
  type Success,
  type WorkspaceOptions,
} from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { directoryParking } from '../../src/policy/directory-parking.ts'

/** Stores parked calls as text, as another process would read them. */
function storage(): ParkedCalls & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>()
  return {
    texts,
    put: (call) => void texts.set(call.id, JSON.stringify(call)),
    take(id) {
      const text = texts.get(id)
      texts.delete(id)
      return text === undefined ? undefined : (JSON.parse(text) as ParkedCall)
    },
  }
}

const files = () => memory({ 'a.txt': 'one\n', 'b.txt': 'two\n', 'src/app.ts': 'export const answer = 41\n' })

function open(options: Partial<WorkspaceOptions> = {}) {
  return createWorkspace({ backend: files(), policy: 'supervised', ...options })
}

type Result = Success | Failure

function approvalOf(result: Result): string {
  expect(result).toMatchObject({ ok: false, code: 'APPROVAL_REQUIRED' })
  return String((result as Failure).approvalId)
}

const text = async (backend: ReturnType<typeof memory>, path: string) =>
  new TextDecoder().decode((await backend.read(path as Path)).bytes)

const edit = { path: 'a.txt', oldText: 'one', newText: 'uno' }

describe('a parked call', () => {
  it('runs when it is allowed, and only once', async () => {
    const backend = files()
    const workspace = await open({ backend })
    const id = approvalOf(await workspace.call('edit_file', edit))
    expect(await text(backend, 'a.txt')).toBe('one\n')
    expect(await workspace.resume(id, 'allow')).toMatchObject({ ok: true, path: 'a.txt' })
    expect(await text(backend, 'a.txt')).toBe('uno\n')
    expect(await workspace.resume(id, 'allow')).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect(await workspace.resume(id, { deny: 'too late' })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect(workspace.auditRecords().map(({ toolName, code }) => [toolName, code])).toEqual([
      ['edit_file', 'APPROVAL_REQUIRED'],
      ['edit_file', undefined],
      ['edit_file', undefined],
      ['resume', 'NOT_FOUND'],
      ['resume', 'NOT_FOUND'],
    ])
  })

  it('resumes if the files are unchanged, however large they are', async () => {
    const large = memory({ 'large.txt': 'x\n'.repeat(2000), 'other.txt': 'y\n'.repeat(2000) })
    const workspace = await open({ backend: large, limits: { textFileBytes: 1000 } })
    const id = approvalOf(await workspace.call('delete_file', { path: 'large.txt' }))
    const stale = approvalOf(await workspace.call('delete_file', { path: 'other.txt' }))
    await large.commit(
      [
        {
          path: 'other.txt' as Path,
          expect: 'any',
          to: { type: 'file', bytes: new TextEncoder().encode(`${'y\n'.repeat(1999)}z\n`) },
        },
      ],
      { durability: 'durable' },
    )
    expect(await workspace.resume(stale, 'allow')).toMatchObject({ code: 'WRITE_CONFLICT', path: 'other.txt' })
    expect(await workspace.resume(id, 'allow')).toMatchObject({ ok: true })
    expect(await large.stat('large.txt' as Path)).toBeUndefined()
  })

  it('runs once, however many answers arrive at the same time', async () => {
    const parked = storage()
    const backend = files()
    const first = await open({ backend, parked })
    const second = await open({ backend, parked })
    const id = approvalOf(await first.call('append_file', { path: 'a.txt', content: 'more\n' }))
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? first : second).resume(id, 'allow')),
    )
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    expect(await text(backend, 'a.txt')).toBe('one\nmore\n')
  })

  it('is refused with the reason of the denial', async () => {
    const backend = files()
    const workspace = await open({ backend })
    const id = approvalOf(await workspace.call('delete_file', { path: 'a.txt' }))
    expect(await workspace.resume(id, { deny: 'we need it' })).toMatchObject({
      ok: false,
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('we need it'),
    })
    expect(await text(backend, 'a.txt')).toBe('one\n')
    expect(await workspace.resume(id, 'allow')).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('stays parked after an invalid answer', async () => {
    const workspace = await open()
    const id = approvalOf(await workspace.call('edit_file', edit))
    for (const answer of [undefined, null, true, 'yes', {}, { deny: 1 }]) {
      expect(await workspace.resume(id, answer as 'allow')).toMatchObject({ code: 'INVALID_INPUT' })
    }
    expect(await workspace.resume(id, 'allow')).toMatchObject({ ok: true })
  })

  it('is stored as data, with everything that an approver must see', async () => {
    const parked = storage()
    const workspace = await open({ parked, run: { id: 'r', actor: 'tester' } })
    const id = approvalOf(await workspace.call('edit_file', edit))
    const call = JSON.parse(parked.texts.get(id) ?? '') as ParkedCall
    expect(call).toMatchObject({ id, runId: 'r', actor: 'tester', tool: 'edit_file', input: edit })
    expect(call.request.diff).toContain('+uno')
    expect(call.request.verdict.decision).toBe('ask')
    expect(call.effect).toMatchObject([
      { path: 'a.txt', before: { type: 'file', size: 4 }, after: { type: 'file', size: 4 } },
    ])
  })

  it('is not created for a call that needs no approval or is denied', async () => {
    const parked = storage()
    const workspace = await open({
      parked,
      policy: { preset: 'supervised', deniedPaths: ['b.txt'] },
    })
    await workspace.call('read_file', { path: 'a.txt' })
    await workspace.call('edit_file', { ...edit, path: 'b.txt' })
    await workspace.call('edit_file', { ...edit, oldText: 'absent' })
    expect(parked.texts.size).toBe(0)
  })
})

describe('a parked call in another process', () => {
  it('runs if the files are unchanged', async () => {
    const backend = files()
    const parked = storage()
    const before = await open({ backend, parked })
    // The run has seen the file, so no version is needed, also after a resume.
    await before.call('read_file', { path: 'a.txt' })
    const id = approvalOf(await before.call('write_file', { path: 'a.txt', content: 'new\n' }))
    const after = await open({ backend, parked })
    expect(await after.call('write_file', { path: 'b.txt', content: 'new\n' })).toMatchObject({
      code: 'WRITE_CONFLICT',
    })
    expect(await after.resume(id, 'allow')).toMatchObject({ ok: true })
    expect(await text(backend, 'a.txt')).toBe('new\n')
    expect(await before.resume(id, 'allow')).toMatchObject({ code: 'NOT_FOUND' })
  })

  const changes: Readonly<Record<string, (backend: ReturnType<typeof memory>) => Promise<unknown>>> = {
    'was changed': (backend) => put(backend, { type: 'file', bytes: new TextEncoder().encode('one!\n') }),
    'was changed so that the edit still applies': (backend) =>
      put(backend, { type: 'file', bytes: new TextEncoder().encode('zero\none\n') }),
    'was deleted': (backend) => put(backend, null),
    'became a link': (backend) => put(backend, { type: 'link', target: 'b.txt' }),
    'became executable': (backend) =>
      put(backend, { type: 'file', bytes: new TextEncoder().encode('one\n'), mode: 0o755 }),
  }
  for (const [label, change] of Object.entries(changes)) {
    it(`is a conflict if the file ${label}`, async () => {
      const backend = files()
      const parked = storage()
      const id = approvalOf(await (await open({ backend, parked })).call('edit_file', edit))
      await change(backend)
      const before = backend.tree()
      const workspace = await open({ backend, parked })
      expect(await workspace.resume(id, 'allow')).toMatchObject({
        ok: false,
        code: expect.stringMatching(/^(WRITE_CONFLICT|NOT_FOUND)$/),
      })
      expect(backend.tree()).toBe(before)
    })
  }

  it('is evaluated again: a policy that now denies it refuses it', async () => {
    const backend = files()
    const parked = storage()
    const id = approvalOf(await (await open({ backend, parked })).call('edit_file', edit))
    const stricter = await open({ backend, parked, policy: { preset: 'supervised', deniedPaths: ['a.txt'] } })
    expect(await stricter.resume(id, 'allow')).toMatchObject({ code: 'POLICY_DENIED' })
    const readOnly = await open({ backend, parked, policy: 'readOnly' })
    const other = approvalOf(await (await open({ backend, parked })).call('edit_file', edit))
    expect(await readOnly.resume(other, 'allow')).toMatchObject({ code: 'READ_ONLY' })
    expect(await text(backend, 'a.txt')).toBe('one\n')
  })

  it('is parked again if another rule now asks', async () => {
    const backend = files()
    const parked = storage()
    const id = approvalOf(await (await open({ backend, parked })).call('edit_file', edit))
    const rule = { name: 'notes are precious', action: 'ask', paths: ['*.txt'] } as const
    const other = await open({ backend, parked, policy: { preset: 'supervised', rules: [rule] } })
    const again = approvalOf(await other.resume(id, 'allow'))
    expect(again).not.toBe(id)
    expect(await text(backend, 'a.txt')).toBe('one\n')
    expect(await other.resume(again, 'allow')).toMatchObject({ ok: true })
  })

  it('needs a new approval if its record was changed', async () => {
    const backend = files()
    const parked = storage()
    const workspace = await open({ backend, parked })
    const id = approvalOf(await workspace.call('edit_file', edit))
    parked.texts.set(id, (parked.texts.get(id) ?? '').replace('"newText":"uno"', '"newText":"evil"'))
    approvalOf(await workspace.resume(id, 'allow'))
    expect(await text(backend, 'a.txt')).toBe('one\n')
  })
})

describe('the storage of parked calls', () => {
  it('is separate in a fork: a call of the fork cannot be resumed in its origin', async () => {
    const parked = storage()
    const backend = files()
    const workspace = await open({ backend, parked })
    const fork = await workspace.fork()
    const id = approvalOf(await fork.call('edit_file', edit))
    expect(await workspace.resume(id, 'allow')).toMatchObject({ code: 'NOT_FOUND' })
    expect(await fork.resume(id, 'allow')).toMatchObject({ ok: true })
    expect(await text(backend, 'a.txt')).toBe('one\n')
  })

  it('refuses the call if it fails', async () => {
    const broken: ParkedCalls = {
      put: () => Promise.reject(new Error('the disk at /var/x is gone')),
      take: () => Promise.reject(new Error('the disk at /var/x is gone')),
    }
    const workspace = await open({ parked: broken })
    const refused = await workspace.call('edit_file', edit)
    expect(refused).toMatchObject({ ok: false, code: 'BACKEND_ERROR' })
    expect(JSON.stringify(refused)).not.toContain('/var/x')
    expect(JSON.stringify(await workspace.resume('any', 'allow'))).not.toContain('/var/x')
  })

  it('cannot answer for a call with another call', async () => {
    const parked = storage()
    const backend = files()
    const workspace = await open({ backend, parked })
    const seen = approvalOf(await workspace.call('edit_file', edit))
    const other = approvalOf(await workspace.call('delete_file', { path: 'b.txt' }))
    parked.texts.set(seen, parked.texts.get(other) as string)
    expect(await workspace.resume(seen, 'allow')).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect(await text(backend, 'b.txt')).toBe('two\n')
  })

  it('keeps the run of a call: allow-run applies to that run only', async () => {
    const workspace = await open()
    const one = workspace.run({ id: 'one' })
    const two = workspace.run({ id: 'two' })
    const id = approvalOf(await one.call('edit_file', edit))
    expect(await workspace.resume(id, 'allow-run')).toMatchObject({ ok: true, callId: 'one-2' })
    expect(await one.call('edit_file', { path: 'a.txt', oldText: 'uno', newText: 'eins' })).toMatchObject({ ok: true })
    approvalOf(await two.call('edit_file', { path: 'a.txt', oldText: 'eins', newText: 'un' }))
  })

  it('is not used for operations of the workspace itself, such as undo', async () => {
    const parked = storage()
    const workspace = await open({ parked })
    const edited = await workspace.resume(approvalOf(await workspace.call('edit_file', edit)), 'allow')
    approvalOf(await workspace.undo(String((edited as Success).callId)))
    expect(parked.texts.size).toBe(0)
  })
})

function put(backend: ReturnType<typeof memory>, to: Parameters<typeof backend.commit>[0][number]['to']) {
  return backend.commit([{ path: 'a.txt' as Path, expect: 'any', to }], { durability: 'relaxed' })
}

describe('directoryParking', () => {
  it('lists calls in order and returns each once, and ignores other files in the directory', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'parked-'))
    try {
      let now = 10
      const parked = directoryParking(join(directory, 'waiting'))
      const workspace = await open({ parked, clock: () => (now += 1) })
      const first = approvalOf(await workspace.call('edit_file', edit))
      const second = approvalOf(await workspace.call('edit_file', { ...edit, path: 'b.txt', oldText: 'two' }))
      const takenPath = join(parked.directory, 'taken.json')
      symlinkSync('gone', takenPath)
      writeFileSync(join(parked.directory, 'half.tmp'), '{')
      expect(parked.list().map(({ id }) => id)).toEqual([first, second])
      const [call] = parked.list()
      if (call === undefined) throw new Error('No call is waiting')
      expect(await parked.take(first)).toEqual(call)
      expect(await parked.take(first)).toBeUndefined()
      expect(parked.list().map(({ id }) => id)).toEqual([second])
      rmSync(takenPath)
      mkdirSync(takenPath)
      expect(() => parked.list()).toThrow('it is not a regular file')
      rmSync(takenPath, { recursive: true })
      await parked.put(call)
      // A directory already exists under the name of the file to write.
      for (const name of readdirSync(parked.directory).filter((one) => one.endsWith('.json'))) {
        rmSync(join(parked.directory, name))
        mkdirSync(join(parked.directory, name, 'full'), { recursive: true })
      }
      expect(() => parked.put(call)).toThrow('rename')
      expect(readdirSync(parked.directory).filter((name) => name.endsWith('.tmp'))).toEqual(['half.tmp'])
      rmSync(parked.directory, { recursive: true })
      writeFileSync(parked.directory, '')
      expect(() => parked.take(second)).toThrow('ENOTDIR')
      expect(existsSync(parked.directory)).toBe(true)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
