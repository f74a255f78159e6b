import { sha256 } from '../../files/hash/sha256.ts'
import type { Backend, EntryState, StagedContent, StoredContent } from '../../storage/backend.ts'
import { check, refused, same } from '../assert.ts'
import { at, type BackendCase, bytesOf, change, commit, directory, file, offers, snapshot, textOf } from './case.ts'

/** The optional method `stage`, and the refusal of a backend without it. */
export const stagedCases: readonly BackendCase[] = [
  {
    name: 'a content that is staged in parts shows nowhere before its commit, and whole after it',
    unless: offers('stage'),
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/old', file('old')))
      const before = await snapshot(backend)
      const content = await stage(backend, 'd/new', 'one ', '', 'two ', 'x'.repeat(70_000))
      const text = `one two ${'x'.repeat(70_000)}`
      same(content.size, text.length, 'size')
      same(content.sha256, sha256(bytesOf(text)), 'sha256')
      same(textOf(await content.read(4, 9)), 'two x', 'a range of it')
      same((await content.read(text.length - 1, text.length + 5)).length, 1, 'bytes at the end')
      same(await snapshot(backend), before, 'tree before the commit')
      const { applied } = await commit(
        backend,
        change('d/new', state(content)),
        change('d/old', state(await stage(backend, 'd/old', 'new'))),
      )
      await content.discard()
      same(textOf((await backend.read(at('d/new'))).bytes), text, 'content')
      same(textOf((await backend.read(at('d/old'))).bytes), 'new', 'replaced content')
      same([...(await snapshot(backend)).keys()], ['d', 'd/old', 'd/new'].sort(), 'paths')
      const { after } = applied[0] as (typeof applied)[number]
      check(after?.type === 'file', 'the receipt must have the version of a file')
      same([after.sha256, after.size], [content.sha256, content.size], 'version in the receipt')
    },
  },
  {
    name: 'a staged content is created with its directories, and keeps the bits of a file that it replaces',
    unless: offers('stage'),
    async test({ backend }) {
      const deep = await stage(backend, 'a/b/c', 'deep')
      await commit(backend, change('a', directory), change('a/b', directory), change('a/b/c', state(deep)))
      same(textOf((await backend.read(at('a/b/c'))).bytes), 'deep', 'content')
      await commit(backend, change('x', file('x', 0o700)))
      const { mode } = (await backend.stat(at('x'))) ?? {}
      await commit(backend, change('x', state(await stage(backend, 'x', 'y'))))
      same((await backend.stat(at('x')))?.mode, mode, 'permission bits')
      same(textOf((await backend.read(at('x'))).bytes), 'y', 'replaced content')
    },
  },
  {
    name: 'a refused commit of a staged content changes nothing, and what is discarded leaves nothing',
    unless: offers('stage'),
    async test({ backend }) {
      await commit(backend, change('a', file('a')))
      const before = await snapshot(backend)
      const content = await stage(backend, 'a', 'new')
      await refused('ALREADY_EXISTS', 'create over a file', () =>
        commit(backend, change('a', state(content), 'absent')),
      )
      same(await snapshot(backend), before, 'tree after the refusal')
      await content.discard()
      await refused('INVALID_INPUT', 'discarded content', () => commit(backend, change('a', state(content))))
      const sink = await backend.stage?.(at('b'))
      await sink?.write(bytesOf('half'))
      await sink?.discard()
      await sink?.discard()
      same(await snapshot(backend), before, 'tree after all')
    },
  },
  {
    name: 'a content is put in place once, and only by the storage that has it',
    unless: offers('stage'),
    async test({ backend }) {
      const content = await stage(backend, 'a', 'a')
      const twice = [change('a', state(content)), change('b', state(content))]
      await refused('INVALID_INPUT', 'the same content twice', () => commit(backend, ...twice))
      const copy = { size: content.size, sha256: content.sha256 }
      await refused('INVALID_INPUT', 'content of another storage', () => commit(backend, change('a', state(copy))))
      await commit(backend, change('a', state(content)))
      await refused('INVALID_INPUT', 'content in place already', () => commit(backend, change('b', state(content))))
      same([...(await snapshot(backend)).keys()], ['a'], 'paths')
    },
  },
  {
    name: 'a moved file is named by its size and version',
    unless: offers('stage'),
    async test({ backend }) {
      const bytes = bytesOf('moved')
      await commit(backend, change('a', file(bytes)), change('d', directory), change('d/old', file('old')))
      const moved = { size: bytes.length, sha256: sha256(bytes) }
      const other = { ...moved, sha256: sha256(bytesOf('other')) }
      const move = (content: StoredContent, to: string) => [change('a', null), change(to, state(content), 'any', 'a')]
      await refused('WRITE_CONFLICT', 'another version', () => commit(backend, ...move(other, 'd/b')))
      await commit(backend, ...move(moved, 'd/old'))
      same(textOf((await backend.read(at('d/old'))).bytes), 'moved', 'content')
      same([...(await snapshot(backend)).keys()], ['d', 'd/old'], 'paths')
    },
  },
  {
    name: 'a state that names a stored content is refused without stage',
    unless: ({ backend }) => (backend.stage === undefined ? undefined : 'the backend implements stage'),
    async test({ backend }) {
      const content = { size: 1, sha256: sha256(bytesOf('a')) }
      await commit(backend, change('from', file('a')))
      const move = [change('from', null), change('to', state(content), 'any', 'from')]
      for (const set of [[change('to', state(content))], move])
        await refused('INVALID_INPUT', 'stored content', () => commit(backend, ...set))
      same([...(await snapshot(backend)).keys()], ['from'], 'paths')
    },
  },
]

async function stage(backend: Backend, path: string, ...parts: string[]): Promise<StagedContent> {
  const sink = await backend.stage?.(at(path))
  check(sink !== undefined, 'stage() must return a sink')
  for (const part of parts) {
    const bytes = bytesOf(part)
    await sink.write(bytes)
    bytes.fill(0)
  }
  return sink.finish()
}

/** A state with the head of a content only, so that a backend which ignores the rest is found. */
function state(content: StoredContent): EntryState {
  return { type: 'file', bytes: new Uint8Array(), content }
}
