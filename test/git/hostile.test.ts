import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, deflateRawSync, deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type MemoryEntry, memory } from '../../src/backends/memory/index.ts'
import { git as openGit } from '../../src/git/index.ts'
import { parseIndexFile } from '../../src/git/index-file.ts'
import { indexFile } from '../../src/git/index-writer.ts'
import { gitFs } from '../../src/git/isomorphic-fs.ts'
import type { Repository } from '../../src/git/provider.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { ownTime } from '../own-time.ts'
import type { Answer } from '../tools/setup.ts'
import { commitAll, entriesOf, git, loaded, newRepository } from './repositories.ts'

const text = (value: string) => new TextEncoder().encode(value)
const bytes = (...parts: readonly (Uint8Array | string | readonly number[])[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array))))
const idOf = (type: string, content: Uint8Array) =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')

/** A loose object. Pass `id` to store it under a wrong id. */
function loose(type: string, content: Uint8Array, id = idOf(type, content)): Record<string, MemoryEntry> {
  const whole = deflateSync(bytes(`${type} ${content.length}\0`, content))
  return { [`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`]: new Uint8Array(whole) }
}

const treeEntry = (mode: string, name: string, id: string) => bytes(`${mode} ${name}\0`, Buffer.from(id, 'hex'))
const commitOf = (tree: string, parent?: string) =>
  text(
    `tree ${tree}\n${parent === undefined ? '' : `parent ${parent}\n`}author A <a> 0 +0000\ncommitter A <a> 0 +0000\n\nx\n`,
  )

/** A repository whose HEAD is a commit with this tree. */
function withTree(tree: Uint8Array, more: Record<string, MemoryEntry> = {}, treeId = idOf('tree', tree)) {
  const commit = commitOf(treeId)
  return {
    '.git/HEAD': `${idOf('commit', commit)}\n`,
    ...loose('commit', commit),
    ...loose('tree', tree, treeId),
    ...more,
  }
}

/** A pack with its index. */
function packed(objects: readonly { id: string; raw: Uint8Array }[], alter: (index: Buffer) => void = () => undefined) {
  const offsets: number[] = []
  let pack = bytes('PACK', [0, 0, 0, 2, 0, 0, 0, objects.length])
  for (const { raw } of objects) {
    offsets.push(pack.length)
    pack = bytes(pack, raw)
  }
  pack = bytes(pack, createHash('sha1').update(pack).digest())
  const sorted = objects
    .map(({ id }, i) => ({ id, offset: offsets[i] as number }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const index = Buffer.alloc(8 + 1024 + 28 * sorted.length + 40)
  index.writeUInt32BE(0xff744f63, 0)
  index.writeUInt32BE(2, 4)
  for (let i = 0; i < 256; i++) {
    index.writeUInt32BE(sorted.filter(({ id }) => Number.parseInt(id.slice(0, 2), 16) <= i).length, 8 + 4 * i)
  }
  for (const [i, { id, offset }] of sorted.entries()) {
    index.write(id, 1032 + 20 * i, 'hex')
    index.writeUInt32BE(offset, 1032 + 24 * sorted.length + 4 * i)
  }
  alter(index)
  return { '.git/objects/pack/pack-1.idx': new Uint8Array(index), '.git/objects/pack/pack-1.pack': pack }
}

function header(type: number, size: number): number[] {
  const first = (type << 4) | (size % 16)
  const all = [first]
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    all[all.length - 1] = (all.at(-1) as number) | 0x80
    all.push(left % 128)
  }
  return all
}

function varint(size: number): number[] {
  const all = [size % 128]
  for (let left = Math.floor(size / 128); left > 0; left = Math.floor(left / 128)) {
    all[all.length - 1] = (all.at(-1) as number) | 0x80
    all.push(left % 128)
  }
  return all
}

async function diffOf(files: Record<string, MemoryEntry>, input = {}, maxMs = 8000): Promise<Answer> {
  const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
  const started = ownTime()
  const answer: Answer = await workspace.call('diff_workspace', input)
  await workspace.close()
  expect(ownTime() - started).toBeLessThan(maxMs)
  return answer
}

const A = 'a'.repeat(40)
const B = 'b'.repeat(40)
const commitA = { '.git/HEAD': `${A}\n` }
const BOMB = 300 * 1024 * 1024

/** A zlib stream of about 2 MB that starts with these bytes and inflates to 2 GB. */
function bombOf(start: Uint8Array): Uint8Array {
  const options = { finishFlush: constants.Z_FULL_FLUSH }
  const zeros = deflateRawSync(new Uint8Array(1024 * 1024), options)
  return bytes([0x78, 0x9c], deflateRawSync(start, options), ...Array.from({ length: 2048 }, () => zeros))
}

/** A zip bomb as a loose object with this header, under a wrong id. */
function looseBomb(head: string, id = A): Record<string, MemoryEntry> {
  return { [`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`]: bombOf(bytes(head, [0])) }
}

const index = (version: number, count: number, ...entries: Uint8Array[]) =>
  bytes('DIRC', [0, 0, 0, version], [count >>> 24, (count >>> 16) & 255, (count >>> 8) & 255, count & 255], ...entries)
const indexHead = (flags: number) => bytes(new Uint8Array(60), [flags >> 8, flags & 255])

const cases: Readonly<Record<string, () => Record<string, MemoryEntry>>> = {
  'a HEAD that refers to itself through refs': () => ({
    '.git/HEAD': 'ref: refs/heads/a\n',
    '.git/refs/heads/a': 'ref: refs/heads/b\n',
    '.git/refs/heads/b': 'ref: refs/heads/a\n',
  }),
  'a HEAD in an unknown format': () => ({ '.git/HEAD': 'hello\n' }),
  'SHA-256 ids': () => ({ '.git/HEAD': `${'a'.repeat(64)}\n` }),
  'refs in a reftable': () => ({ '.git/HEAD': 'ref: refs/heads/.invalid\n' }),
  'a commit that is missing': () => commitA,
  'a commit that is a blob': () => ({ ...commitA, ...loose('blob', text('x'), A) }),
  'a commit without a tree': () => ({ ...commitA, ...loose('commit', text('author A\n\nx'), A) }),
  'an object that is not a zlib stream': () => ({ ...commitA, [`.git/objects/aa/${A.slice(2)}`]: text('plain text') }),
  'an object that declares another size': () => ({
    ...commitA,
    [`.git/objects/aa/${A.slice(2)}`]: new Uint8Array(deflateSync(text('commit 3\0tree'))),
  }),
  'an object with an unterminated header': () => ({
    ...commitA,
    [`.git/objects/aa/${A.slice(2)}`]: new Uint8Array(deflateSync(Buffer.alloc(5_000_000, 'c'))),
  }),
  'a tree that contains itself': () => withTree(treeEntry('40000', 'again', A), {}, A),
  'a tree that ends in the middle': () => withTree(text('100644 a\0short')),
  'nested trees that expand to too many files': () => {
    let files: Record<string, MemoryEntry> = {}
    let tree: Uint8Array = treeEntry('100644', 'file', idOf('blob', text('x')))
    for (let depth = 0; depth < 40; depth++) {
      files = { ...files, ...loose('tree', tree) }
      const id = idOf('tree', tree)
      tree = bytes(treeEntry('40000', 'a', id), treeEntry('40000', 'b', id))
    }
    return withTree(tree, files)
  },
  'trees that contain only directories': () => {
    let files: Record<string, MemoryEntry> = {}
    let tree: Uint8Array = new Uint8Array()
    for (let depth = 0; depth < 40; depth++) {
      files = { ...files, ...loose('tree', tree) }
      const id = idOf('tree', tree)
      tree = bytes(treeEntry('40000', 'a', id), treeEntry('40000', 'b', id))
    }
    return withTree(tree, files)
  },
  'a delta of itself': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(7, 3), Buffer.from(A, 'hex'), deflateSync(Uint8Array.of(1, 1, 0))) }]),
  }),
  'two deltas that are based on each other': () => ({
    ...commitA,
    ...packed([
      { id: A, raw: bytes(header(7, 3), Buffer.from(B, 'hex'), deflateSync(Uint8Array.of(1, 1, 0))) },
      { id: B, raw: bytes(header(7, 3), Buffer.from(A, 'hex'), deflateSync(Uint8Array.of(1, 1, 0))) },
    ]),
  }),
  'a delta whose base comes after it': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(6, 3), [0x80, 0], deflateSync(Uint8Array.of(1, 1, 0))) }]),
  }),
  'a delta that reaches outside its base': () => ({
    ...commitA,
    ...packed([
      { id: B, raw: bytes(header(1, 4), deflateSync(text('tree'))) },
      {
        id: A,
        raw: bytes(header(7, 5), Buffer.from(B, 'hex'), deflateSync(Uint8Array.of(4, 9, 0x91, 2, 9))),
      },
    ]),
  }),
  'a delta with a result over the size limit': () => {
    const size = 2 ** 40
    const delta = bytes(varint(4), varint(size), [0x90, 4])
    return {
      ...commitA,
      ...packed([
        { id: B, raw: bytes(header(1, 4), deflateSync(text('tree'))) },
        { id: A, raw: bytes(header(7, delta.length), Buffer.from(B, 'hex'), deflateSync(delta)) },
      ]),
    }
  },
  'an object with far more content than it declares': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(1, 10), bombOf(bytes())) }]),
  }),
  'a loose object with far more content than it declares': () => ({ ...commitA, ...looseBomb('commit 10') }),
  'a loose object that declares two gigabytes': () => ({ ...commitA, ...looseBomb('commit 2147483648') }),
  'a loose object as large as it declares': () => ({ ...commitA, ...looseBomb('commit 300000000') }),
  'a loose object whose size is not a decimal number': () => ({ ...commitA, ...looseBomb('commit 1e1') }),
  'a loose object whose size is signed': () => ({ ...commitA, ...looseBomb('commit -1') }),
  'a loose object without a size': () => ({ ...commitA, ...looseBomb('commit') }),
  'a loose object without a header': () => ({ ...commitA, ...looseBomb('') }),
  'a loose object of an unknown type': () => ({ ...commitA, ...looseBomb('bomb 10') }),
  'a tree with far more content than it declares': () => withTree(new Uint8Array(), looseBomb('tree 10', B), B),
  'an object as large as it declares': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(1, BOMB), bombOf(bytes())) }]),
  }),
  'a small delta with a huge result': () => {
    const copies = Array.from({ length: BOMB / 0xffffff }, () => [0xf0, 0xff, 0xff, 0xff]).flat()
    const delta = bytes(varint(2 ** 24), varint(BOMB), copies)
    return {
      ...commitA,
      ...packed([
        { id: B, raw: bytes(header(1, 2 ** 24), deflateSync(Buffer.alloc(2 ** 24))) },
        { id: A, raw: bytes(header(7, delta.length), Buffer.from(B, 'hex'), deflateSync(delta)) },
      ]),
    }
  },
  'a delta with far more content than it declares': () => ({
    ...commitA,
    ...packed([
      { id: B, raw: bytes(header(1, 4), deflateSync(text('tree'))) },
      { id: A, raw: bytes(header(7, 10), Buffer.from(B, 'hex'), bombOf(bytes())) },
    ]),
  }),
  'a HEAD of many megabytes': () => ({ '.git/HEAD': new Uint8Array(8 * 1024 * 1024).fill(97) }),
  'a ref of many megabytes': () => ({
    '.git/HEAD': 'ref: refs/heads/a\n',
    '.git/refs/heads/a': new Uint8Array(8 * 1024 * 1024).fill(97),
  }),
  'an object of an enormous size': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(1, 2 ** 50), deflateSync(text('x'))) }]),
  }),
  'an unterminated size': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes([0x90], new Uint8Array(400).fill(0xff), [1], deflateSync(text('x'))) }]),
  }),
  'an object of an unknown type': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(5, 1), deflateSync(text('x'))) }]),
  }),
  'a pack index that counts backwards': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(1, 1), deflateSync(text('x'))) }], (one) =>
      one.writeUInt32BE(0xffffffff, 8 + 4 * 9),
    ),
  }),
  'a pack index that points outside its pack': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(1, 1), deflateSync(text('x'))) }], (one) =>
      one.writeUInt32BE(0x7fffffff, 1032 + 24),
    ),
  }),
  'a pack index that points outside itself': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(1, 1), deflateSync(text('x'))) }], (one) =>
      one.writeUInt32BE(0xffffffff, 1032 + 24),
    ),
  }),
  'a pack index that claims four billion objects': () => ({
    ...commitA,
    ...packed([{ id: A, raw: bytes(header(1, 1), deflateSync(text('x'))) }], (one) =>
      one.writeUInt32BE(0xffffffff, 8 + 4 * 255),
    ),
  }),
  'an index in an unknown format': () => ({
    ...withTree(new Uint8Array()),
    '.git/index': text('nothing of that kind'),
  }),
  'an index of four billion files': () => ({ ...withTree(new Uint8Array()), '.git/index': index(2, 0xffffffff) }),
  'an index with an unterminated name': () => ({
    ...withTree(new Uint8Array()),
    '.git/index': index(2, 1, indexHead(5), text('a'.repeat(100))),
  }),
  'an index whose names each extend the previous one': () => ({
    ...withTree(new Uint8Array()),
    '.git/index': index(
      4,
      20_000,
      ...Array.from({ length: 20_000 }, () => bytes(indexHead(0xfff), [0], '/'.repeat(100), [0])),
    ),
  }),
  'an index that removes more of the previous name than there is': () => ({
    ...withTree(new Uint8Array()),
    '.git/index': index(4, 1, indexHead(1), Uint8Array.of(0xff, 0xff, 0xff, 0x7f, 97, 0)),
  }),
}

describe('a malicious repository', () => {
  for (const [label, files] of Object.entries(cases)) {
    it(`is refused immediately: ${label}`, async () => {
      // Inflating a gigabyte of zeros takes longer than this limit.
      const answer = await diffOf(
        { 'file.txt': 'x\n', ...files() },
        {},
        /loose object|declares/.test(label) ? 600 : 8000,
      )
      expect(answer.ok).toBe(false)
      expect(answer.code).toBe('BACKEND_ERROR')
      expect(answer.message).toMatch(/^Cannot read the repository of the workspace: /)
    })
  }

  it('is not read by git log either', async () => {
    for (const [label, files] of Object.entries(cases).filter(([name]) =>
      /^(?!a tree).*(loose object|tells|delta)/.test(name),
    )) {
      const backend = memory({ 'file.txt': 'x\n', ...files() })
      const workspace = await createWorkspace({ backend, policy: 'autonomous', git: openGit() })
      const started = ownTime()
      await expect(workspace.git?.log(), label).rejects.toThrow(/^Cannot (read the repository|log)/)
      expect([label, ownTime() - started < 2000]).toEqual([label, true])
      await workspace.close()
    }
  })

  /** Stores a pack as isomorphic-git stores what a server has sent. */
  const receive = async (pack: Uint8Array) => {
    const backend = memory({ '.git/objects/pack': { directory: true } })
    const { writeFile } = gitFs(backend).promises as { writeFile(name: string, bytes: Uint8Array): Promise<void> }
    await writeFile('/.git/objects/pack/pack-1.pack', pack)
    return backend
  }

  const large = deflateSync(Buffer.alloc(2 ** 27))
  const sent = {
    ...Object.fromEntries(
      Object.entries(cases).flatMap(([label, files]) => {
        const pack = /declares|huge result|enormous/.test(label) && files()['.git/objects/pack/pack-1.pack']
        return pack instanceof Uint8Array ? [[label, pack]] : []
      }),
    ),
    'nine objects that unpack to more than a gigabyte': packed(
      Array.from({ length: 9 }, () => ({ id: A, raw: bytes(header(3, 2 ** 27), large) })),
    )['.git/objects/pack/pack-1.pack'] as Uint8Array,
    'a pack without objects that counts a million': bytes('PACK', [0, 0, 0, 2, 0, 15, 0, 0], [0x30], Buffer.alloc(20)),
    'a pack without an end': bytes('PACK'),
  }

  it.each(Object.entries(sent))('is refused before isomorphic-git reads it when a server sends %s', async (_, pack) => {
    const started = ownTime()
    await expect(receive(pack)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: expect.stringMatching(/^Cannot read the repository of the workspace: /),
    })
    expect(ownTime() - started).toBeLessThan(5000)
  })

  it('a pack of git is received as it is', async () => {
    const root = newRepository()
    for (let i = 0; i < 5; i++) {
      writeFileSync(
        `${root}/file`,
        Array.from({ length: 400 }, (_, n) => `line ${n} ${n === i ? 'new' : ''}`).join('\n'),
      )
      commitAll(root, `${i}`)
    }
    git(root, 'repack', '-adfq')
    const name = git(root, 'rev-parse', '--git-path', 'objects/pack').trim()
    const [file = ''] = readdirSync(`${root}/${name}`).filter((one) => one.endsWith('.pack'))
    const pack = new Uint8Array(readFileSync(`${root}/${name}/${file}`))
    const backend = await receive(pack)
    expect((await backend.read('.git/objects/pack/pack-1.pack' as Path)).bytes).toEqual(pack)
  })

  it('reads no file of the workspace as a ref', async () => {
    const tree = treeEntry('100644', 'x', idOf('blob', text('x')))
    const repository = withTree(tree)
    const id = repository['.git/HEAD']
    for (const ref of ['refs/../../stolen', 'refs/heads/../../../stolen', 'refs/heads/./x', 'refs//x']) {
      const answer = await diffOf({
        ...repository,
        stolen: id,
        '.git/refs/heads/x': id,
        '.git/refs/x': id,
        '.git/HEAD': `ref: ${ref}\n`,
      })
      expect(answer.ok && answer.baseCommit).toBe(null)
    }
  })

  it('is not read through links', async () => {
    const root = newRepository()
    commitAll(root)
    const files = entriesOf(root)
    const head = git(root, 'rev-parse', 'HEAD')
    for (const [name, at] of [
      ['.git/HEAD', head],
      ['.git/refs/heads/main', head],
      ['.git/packed-refs', `${head.trim()} refs/heads/main\n`],
    ] as const) {
      const linked = { ...files, 'elsewhere.txt': at }
      for (const gone of ['.git/refs/heads/main', name]) delete (linked as Record<string, unknown>)[gone]
      const answer = await diffOf({
        ...linked,
        [name]: { link: name.includes('heads') ? '../../../elsewhere.txt' : '../elsewhere.txt' },
      })
      expect(answer.ok && answer.baseCommit).toBe(null)
    }
  })

  /** Names that git refuses in a tree: those of its own files in each spelling, and those that lead elsewhere. */
  const refusedNames = ['.git', '.GIT', 'git~1', '.g\u200cit', '.git ', '.git::$INDEX_ALLOCATION', '..', '.', '']

  it('shows no invalid names: .git in any spelling, names with slashes, dots', async () => {
    const blob = text('x\n')
    const id = idOf('blob', blob)
    const others = ['.Git', 'a/b', '.git/config', '/etc/passwd', 'a\\b', 'c:d', 'new\nline']
    const names = [...refusedNames, ...others]
    const tree = bytes(...names.map((name) => treeEntry('100644', name, id)), treeEntry('100644', 'shown', id))
    const answer = await diffOf({ ...withTree(tree, loose('blob', blob)), 'a/keep': 'k\n' })
    expect(answer.ok).toBe(true)
    expect((answer.stat as { path: string }[]).map(({ path }) => path)).toEqual(['a/keep', 'shown'])
  })

  it('puts no path into the index that git refuses, whatever writes it', async () => {
    const blob = text('x\n')
    const id = idOf('blob', blob)
    const treeOf = (name: string) => treeEntry('40000', name, idOf('tree', treeEntry('100755', 'hook', id)))
    const refused = [...refusedNames, '../up', 'C:', '.git/hooks', '..\\up', 'sub\\.git', '/etc']
    const evil = bytes(treeEntry('100644', 'shown', id), ...refused.map(treeOf), treeEntry('100644', '.git\\x', id))
    const other = bytes(treeEntry('100644', 'shown', id), treeEntry('100644', '..', id))
    const plain = treeEntry('100644', 'shown', id)
    const [from, to, next] = [plain, evil, other].map((tree) => commitOf(idOf('tree', tree))) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ]
    const objects = {
      ...loose('tree', treeEntry('100755', 'hook', id)),
      ...loose('blob', blob),
      ...loose('tree', other),
    }
    const commits = { ...loose('commit', to), ...loose('commit', next), ...loose('tree', evil) }
    const hostileIndex = indexFile(
      new Map([...refused, 'shown'].map((path) => [path, { mode: 0o100644, id, size: 0 }])),
    )
    const ways: Readonly<Record<string, (own: Repository) => Promise<unknown>>> = {
      checkout: (own) => own.checkout(idOf('commit', to)),
      'a checkout from one to another': async (own) => {
        await own.checkout(idOf('commit', to))
        await own.checkout(idOf('commit', next))
      },
      'a forced checkout': (own) => own.checkout(idOf('commit', to), { force: true }),
      'a sparse checkout': (own) => own.checkout(idOf('commit', to), { sparse: ['sub'] }),
      restore: (own) => own.restore(['.'], { from: idOf('commit', to) }),
      'restore of the index': (own) => own.restore(['.'], { from: idOf('commit', to), only: 'index' }),
      stash: async (own) => {
        await own.checkout(idOf('commit', to))
        await own.stash({ untracked: true })
      },
      add: (own) => own.add('.'),
    }
    for (const [way, act] of Object.entries(ways)) {
      for (const index of [undefined, hostileIndex]) {
        const files = { ...withTree(plain, { ...objects, ...commits }), ...loose('commit', from), shown: 'x\n' }
        const backend = memory({ ...files, 'new.txt': 'n\n', ...(index && { '.git/index': index }) })
        const workspace = await createWorkspace({ backend, policy: 'autonomous', git: openGit() })
        await act(workspace.git as Repository)
        const { entries } = parseIndexFile((await backend.read('.git/index' as Path)).bytes)
        expect(
          [...entries.keys()].filter((path) => !['shown', 'new.txt'].includes(path)),
          way,
        ).toEqual([])
        await workspace.git?.commit({ message: 'after' })
        await workspace.close()
      }
    }
  })

  it('may have 10,000 packed branches, which cost no more than their number', async () => {
    const tree = new Uint8Array()
    const id = idOf('commit', commitOf(idOf('tree', tree)))
    const numbers = Array.from({ length: 10_000 }, (_, i) => String(i).padStart(5, '0'))
    const lines = ['heads/b', 'remotes/origin/b'].flatMap((ref) =>
      numbers.map((n) => `${id} refs/${ref}${n}\n^${id}\n`),
    )
    const packed = `# pack-refs with: peeled \nnot a ref refs/heads/x\n${lines.join('')}`
    const loose = { '.git/refs/heads/b00001': `${id}\n`, '.git/refs/heads/a/b': `${id}\n` }
    const backend = memory({ ...withTree(tree), ...loose, '.git/packed-refs': packed })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', git: openGit() })
    const own = workspace.git as Repository
    await own.status()
    const started = ownTime()
    await own.checkout('b00002')
    await own.deleteBranch('b00003')
    const branches = await own.branches()
    const remote = await own.remoteBranches()
    expect(ownTime() - started).toBeLessThan(4000)
    expect(branches).toEqual(['a/b', ...numbers.filter((n) => n !== '00003').map((n) => `b${n}`)])
    expect([remote.size, remote.get('b00007')]).toEqual([numbers.length, id])
    await workspace.close()
  })

  it('ends for a commit that is its own parent', async () => {
    const tree = new Uint8Array()
    const commit = commitOf(idOf('tree', tree), A)
    const files = { '.git/HEAD': `${A}\n`, ...loose('commit', commit, A), ...loose('tree', tree) }
    expect((await diffOf(files, { base: `HEAD${'~999999'.repeat(40)}` })).code).toBe('BACKEND_ERROR')
    expect((await diffOf(files, { base: 'HEAD~1' })).ok).toBe(true)
  })

  it('may have a long chain of deltas written by git, which is read', async () => {
    const root = newRepository()
    const { writeFileSync } = await import('node:fs')
    for (let i = 0; i < 30; i++) {
      writeFileSync(
        `${root}/file`,
        Array.from({ length: 400 }, (_, n) => `line ${n} ${n === i ? 'new' : ''}`).join('\n'),
      )
      commitAll(root, `${i}`)
    }
    git(root, 'repack', '-adfq', '--depth=200', '--window=50')
    const files = loaded(root)
    const workspace = await createWorkspace({ backend: files, policy: 'autonomous' })
    for (const base of ['HEAD~29', 'HEAD~15', 'HEAD']) {
      const answer: Answer = await workspace.call('diff_workspace', { base })
      expect(answer.ok && answer.baseCommit).toBe(git(root, 'rev-parse', base).trim())
      expect(answer.filesChanged).toBe(base === 'HEAD' ? 0 : 1)
    }
    await workspace.close()
  })
})

it('a commit with a split index is refused, since most of its entries are in another file', async () => {
  const root = newRepository()
  writeFileSync(`${root}/a.txt`, 'a\n')
  writeFileSync(`${root}/b.txt`, 'b\n')
  commitAll(root)
  git(root, 'update-index', '--split-index')
  const workspace = await createWorkspace({
    backend: loaded(root),
    policy: 'autonomous',
    git: openGit({ author: { name: 'A', email: 'a@example.com' } }),
  })
  await workspace.call('write_file', { path: 'c.txt', content: 'c\n' })
  await expect(workspace.git?.add('c.txt')).rejects.toThrow('its index is split')
  await expect(workspace.git?.commit({ message: 'c' })).rejects.toThrow('its index is split')
  expect(await workspace.git?.log()).toHaveLength(1)
})
