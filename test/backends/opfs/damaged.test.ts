import { describe, expect, it } from 'vitest'
import { createFs } from '../../../src/adapters/fs/index.ts'
import { openPacked } from '../../../src/backends/opfs/packed.ts'
import { sha256Cached } from '../../../src/files/hash/sha256.ts'
import { createWorkspace, type Workspace } from '../../../src/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { bytesOf, change, directory, file, textAt } from '../../../src/testing/backend/case.ts'
import { faultyDisk, onlyOne } from './faulty-slots.ts'

const options = { clock: () => 0, random: () => 7, maxBytes: 1e9, keptBytes: 0 }
const CONTENT = 'a'.repeat(900)
const DAMAGED = 'its content is broken'

interface Damaged {
  readonly workspace: Workspace
  /** The version of the damaged file. */
  readonly sha256: string
  /** The call that wrote its content over `old`, and the checkpoint before it. */
  readonly callId: string
  readonly checkpoint: string
}

/**
 * Opens a workspace whose file `d/a` is damaged. With `isKnown`, it has written the file itself, whose content is no longer in
 * memory; otherwise it was opened anew, and the hash of the file was never computed.
 */
async function openDamaged(isKnown: boolean): Promise<Damaged & { readonly text: () => Promise<string> }> {
  const disk = faultyDisk()
  let backend = await openPacked(onlyOne(disk), options)
  const durable = { durability: 'durable' } as const
  await backend.commit([change('d', directory), change('d/a', file('old')), change('b', file('b'))], durable)
  const workspace = await createWorkspace({ backend, policy: 'autonomous', shell: bash() })
  const checkpoint = await workspace.checkpoint('before')
  let callId = ''
  if (isKnown) {
    const { sha256 } = await workspace.files.read('d/a')
    const written = await workspace.call('write_file', { path: 'd/a', content: CONTENT, expectedSha256: sha256 })
    if (written.ok) callId = written.callId
    await workspace.files.write('other', 'It takes the room in memory.')
  } else await backend.commit([change('d/a', file(CONTENT))], durable)
  if (!isKnown) backend = await openPacked(onlyOne(disk), options)
  const opened = isKnown ? workspace : await createWorkspace({ backend, policy: 'autonomous', shell: bash() })
  const bytes = disk.bytes(0)
  const run = bytesOf(CONTENT)
  const where = bytes.findIndex((_, at) => at + 900 <= bytes.length && run.every((one, i) => bytes[at + i] === one))
  expect(where).toBeGreaterThan(0)
  bytes[where + 5] = 'x'.charCodeAt(0)
  // Of a content that nobody has hashed, the version is that of what is left.
  const sha256 = sha256Cached(isKnown ? run : bytes.slice(where, where + 900))
  const text = () => textAt(backend, 'd/a').catch((error: Error) => error.message)
  return { workspace: opened, sha256, callId, checkpoint: checkpoint.id, text }
}

const call = async (result: Promise<{ readonly ok: boolean; readonly message?: string }>): Promise<unknown> => {
  const { ok, message } = await result
  if (!ok) throw new Error(message)
  return result
}
const shell = ({ workspace }: Damaged, command: string) =>
  workspace.call('run_command', { command }).then((result) => {
    if (!result.ok || result.exitCode !== 0) throw new Error(result.ok ? result.stderr : result.message)
  })

/** Ways to delete or replace the file, with the text that is there afterwards. */
const ways: Readonly<Record<string, readonly [text: string | undefined, act: (given: Damaged) => Promise<unknown>]>> = {
  'files.delete': [undefined, ({ workspace }) => workspace.files.delete('d/a')],
  'files.delete of its directory': [undefined, ({ workspace }) => workspace.files.delete('d', { recursive: true })],
  'files.write': ['new', ({ workspace }) => workspace.files.write('d/a', 'new')],
  'files.write of the version': [
    'new',
    ({ workspace, sha256 }) => workspace.files.write('d/a', 'new', { expectedSha256: sha256 }),
  ],
  'files.rename over it': ['b', ({ workspace }) => workspace.files.rename('b', 'd/a', { overwrite: true })],
  'files.copy over it': ['b', ({ workspace }) => workspace.files.copy('b', 'd/a', { overwrite: true })],
  'files.batch': ['new', ({ workspace }) => workspace.files.batch((tx) => tx.write('d/a', 'new'))],
  'fs.unlink': [undefined, ({ workspace }) => createFs(workspace).promises.unlink('/d/a')],
  'fs.rm': [undefined, ({ workspace }) => createFs(workspace).promises.rm('/d', { recursive: true })],
  'fs.rename': ['b', ({ workspace }) => createFs(workspace).promises.rename('/b', '/d/a')],
  'fs.writeFile': ['new', ({ workspace }) => createFs(workspace).promises.writeFile('/d/a', 'new')],
  'fs.cp': ['b', ({ workspace }) => createFs(workspace).promises.cp('/b', '/d/a')],
  delete_file: [
    undefined,
    ({ workspace, sha256 }) => call(workspace.call('delete_file', { path: 'd/a', expectedSha256: sha256 })),
  ],
  write_file: [
    'new',
    ({ workspace, sha256 }) =>
      call(workspace.call('write_file', { path: 'd/a', content: 'new', expectedSha256: sha256 })),
  ],
  rm: [undefined, (given) => shell(given, 'rm d/a')],
  'rm -r': [undefined, (given) => shell(given, 'rm -r d')],
  'a redirection': ['new', (given) => shell(given, 'printf new > d/a')],
  mv: ['b', (given) => shell(given, 'mv b d/a')],
  cp: ['b', (given) => shell(given, 'cp b d/a')],
}

/** Ways that need the content. They fail, and nothing changes. */
const readings: Readonly<Record<string, (given: Damaged) => Promise<unknown>>> = {
  'files.readText': ({ workspace }) => workspace.files.readText('d/a'),
  'files.copy of it': ({ workspace }) => workspace.files.copy('d/a', 'c'),
  'files.rename of it': ({ workspace }) => workspace.files.rename('d/a', 'c'),
  'files.append': ({ workspace }) => workspace.files.append('d/a', '!'),
  'fs.readFile': ({ workspace }) => createFs(workspace).promises.readFile('/d/a'),
  read_file: ({ workspace }) => call(workspace.call('read_file', { path: 'd/a' })),
  edit_file: ({ workspace, sha256 }) =>
    call(
      workspace.call('edit_file', {
        path: 'd/a',
        expectedSha256: sha256,
        edits: [{ oldText: CONTENT, newText: 'b' }],
      }),
    ),
  cat: (given) => shell(given, 'cat d/a'),
  'mv of it': (given) => shell(given, 'mv d/a c'),
}

describe.each([true, false])('a damaged file of a packed workspace (its version is known: %s)', (isKnown) => {
  it.each(Object.entries(ways))('%s deletes or replaces it', async (_, [text, act]) => {
    const given = await openDamaged(isKnown)
    expect(await given.text()).toContain(DAMAGED)
    await act(given)
    const now = await given.text()
    if (text === undefined) expect(now).not.toContain(DAMAGED)
    else expect(now).toBe(text)
    expect(await given.workspace.files.exists('d/a')).toBe(text !== undefined)
    await given.workspace.close()
  })

  it.each(Object.entries(readings))('%s fails, and changes nothing', async (_, act) => {
    const given = await openDamaged(isKnown)
    await expect(act(given)).rejects.toThrow()
    expect(await given.text()).toContain(DAMAGED)
    expect(await given.workspace.files.exists('c')).toBe(false)
    await given.workspace.close()
  })

  it('says that a call which replaces it cannot be undone', async () => {
    const given = await openDamaged(isKnown)
    const { workspace, sha256 } = given
    const deleted = await workspace.call('delete_file', { path: 'd/a', expectedSha256: sha256 })
    expect(deleted).toMatchObject({ ok: true, warnings: [expect.stringContaining('cannot be undone')] })
    expect(deleted.ok && (await workspace.undo(deleted.callId))).toMatchObject({ ok: false })
    await workspace.close()
  })
})

describe('a damaged file of a packed workspace', () => {
  it.each([
    ['undo', ({ workspace, callId }: Damaged) => call(workspace.undo(callId))],
    ['rollback', ({ workspace, checkpoint }: Damaged) => call(workspace.rollback(checkpoint))],
  ])('%s of the call that wrote it restores what was there before', async (_, act) => {
    const given = await openDamaged(true)
    await act(given)
    expect(await given.text()).toBe('old')
    await given.workspace.close()
  })
})
