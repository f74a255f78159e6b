import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MemoryBackend, memory } from '../../src/backends/memory/index.ts'
import { openPacked } from '../../src/backends/opfs/packed.ts'
import { objectId } from '../../src/files/hash/sha1.ts'
import { redact } from '../../src/files/secrets/index.ts'
import { redactChanged } from '../../src/git/redact-diff.ts'
import { WorkspaceChanges } from '../../src/git/workspace-changes.ts'
import { createWorkspaceDiffs } from '../../src/git/workspace-diff.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend, Change, DirectoryNode } from '../../src/storage/backend.ts'
import { type FaultyDisk, faultyDisk, onlyOne } from '../backends/opfs/faulty-slots.ts'
import { isLong, times } from '../counts.ts'
import { commitAll, entriesOf, newRepository } from './repositories.ts'

const everything = { wants: () => true, sees: () => true, knows: () => true, withBinary: () => true }

async function textOf(backend: Backend, diffs = createWorkspaceDiffs(backend)): Promise<string> {
  const { sections, insertions, deletions } = await diffs.diff(everything)
  return `${sections.map(({ text }) => text).join('')}+${insertions}-${deletions}`
}

function repository(): string {
  const root = newRepository()
  mkdirSync(join(root, 'a/deep'), { recursive: true })
  mkdirSync(join(root, 'b'))
  for (let i = 0; i < 150; i++) writeFileSync(join(root, `a/f${i}`), `${i}\n`)
  for (const path of ['a/deep/x.ts', 'a/deep/y.log', 'b/z', 'top']) writeFileSync(join(root, path), `${path}\nend\n`)
  writeFileSync(join(root, '.gitignore'), '*.tmp\n')
  commitAll(root)
  return root
}

/** States of a path: a file with one of a few contents (so that it can return to the base), a directory, or nothing. */
const names = [
  'a/f0',
  'a/f7',
  'a/f70',
  'a/f149',
  'a/new',
  'a/deep/x.ts',
  'a/deep/y.log',
  'a/deep/t.tmp',
  'b/z',
  'top',
  'a/sub/n',
]
const step = fc.record({
  path: fc.constantFrom(...names, '.gitignore', 'a/.gitignore', 'a/sub/.git/HEAD', 'a', 'b', 'a/deep'),
  to: fc.constantFrom('file', 'file', 'same size', 'base', 'executable', 'gone', 'directory', 'link'),
  ignore: fc.constantFrom('', '*.tmp\n', '*.log\n', 'deep/\n', '!t.tmp\n', 'f7*\n'),
})

describe('a repeated diff', () => {
  it('equals the diff of a new workspace, after any changes in between', async () => {
    const entries = entriesOf(repository())
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const backend = memory(entries)
        const diffs = createWorkspaceDiffs(backend)
        const original = memory(entries)
        for (const [i, { path, to, ignore }] of steps.entries()) {
          const changes = await changesFor(backend, original, path, to, ignore, i)
          await backend.commit(changes, { durability: 'relaxed' }).catch(() => undefined)
          expect(await textOf(backend, diffs)).toBe(await textOf(backend))
        }
      }),
      { numRuns: times(3, 25) },
    )
  })
})

describe('a diff of a packed workspace, whose contents are in its journal', () => {
  it.runIf(isLong)('equals that of the same files in memory, with a commit and without one', async () => {
    const all = entriesOf(repository())
    const alone = Object.fromEntries(Object.entries(all).filter(([path]) => !/^\.git(\/|$)/.test(path)))
    const kinds = [all, alone].map((entries) => ({ entries, original: memory(entries) }))
    const disks = await Promise.all(kinds.map(({ original }) => packedCopy(original)))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        for (const [at, { entries, original }] of kinds.entries()) {
          const expected = memory(entries)
          const packed = await openPacked(onlyOne((disks[at] as FaultyDisk).afterKill()), packedOptions)
          const [diffs, expectedDiffs] = [createWorkspaceDiffs(packed), createWorkspaceDiffs(expected)]
          for (const [i, { path, to, ignore }] of steps.entries()) {
            for (const backend of [packed, expected]) {
              const changes = await changesFor(backend, original, path, to, ignore, i)
              await backend.commit(changes, { durability: 'relaxed' }).catch(() => undefined)
            }
            expect(await textOf(packed, diffs)).toBe(await textOf(expected, expectedDiffs))
          }
        }
      }),
      { numRuns: times(3, 25) },
    )
  })
})

describe('the ids of a diff of a packed workspace', () => {
  it('are known when the contents have left memory', async () => {
    const backend = await openPacked(onlyOne(faultyDisk()), { ...packedOptions, keptBytes: 1_000 })
    const opened = backend.tree()
    const bytes = (name: string) => new TextEncoder().encode(name.repeat(300))
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) {
      const to = { type: 'file', bytes: bytes(name) } as const
      await backend.commit([{ path: name as Path, expect: 'absent', to }], { durability: 'relaxed' })
    }
    const changed = await new WorkspaceChanges(backend, opened).since(undefined)
    await backend.read('a' as Path)
    expect(changed.map(({ now }) => now?.id)).toEqual(names.map((name) => objectId('blob', bytes(name))))
  })
})

/** No content stays in memory, and every few commits are compacted. */
const packedOptions = { clock: () => 0, random: () => 7, maxBytes: 1e9, keptBytes: 0, slackBytes: -1e6 }

async function packedCopy(original: MemoryBackend): Promise<FaultyDisk> {
  const disk = faultyDisk()
  const packed = await openPacked(onlyOne(disk), packedOptions)
  const changes: Change[] = []
  const visit = (directory: DirectoryNode, prefix: string) => {
    for (const [name, node] of directory.entries()) {
      const path = `${prefix}${name}` as Path
      if (node.type === 'directory') {
        changes.push({ path, expect: 'absent', to: { type: 'directory' } })
        visit(node, `${path}/`)
      } else if (node.type === 'link') {
        changes.push({ path, expect: 'absent', to: { type: 'link', target: node.target } })
      } else {
        const to = { type: 'file', bytes: node.bytes as Uint8Array, mode: node.stat.mode as number } as const
        changes.push({ path, expect: 'absent', to })
      }
    }
  }
  visit(original.tree(), '')
  await packed.commit(changes, { durability: 'durable' })
  return disk
}

async function changesFor(
  backend: Backend,
  original: Backend,
  name: string,
  to: string,
  ignore: string,
  round: number,
): Promise<Change[]> {
  const path = name as Path
  const parents: Change[] = []
  for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1)) {
    parents.push({ path: name.slice(0, slash) as Path, expect: 'any', to: { type: 'directory' } })
  }
  const below = async (directory: Path): Promise<Change[]> => {
    const all: Change[] = []
    for (const { name: child, type } of await backend.list(directory)) {
      const at = `${directory}/${child}` as Path
      if (type === 'directory') all.push(...(await below(at)))
      all.push({ path: at, expect: { tag: (await backend.stat(at))?.tag as string }, to: null })
    }
    return all
  }
  const stat = await backend.stat(path)
  const cleared = stat?.type === 'directory' ? await below(path) : []
  const expect = stat === undefined ? ('absent' as const) : { tag: stat.tag }
  const bytes = (text: string) => new TextEncoder().encode(text)
  if (to === 'gone') return stat === undefined ? [] : [...cleared, { path, expect, to: null }]
  if (to === 'directory') return [...parents, { path, expect, to: { type: 'directory' } }]
  if (to === 'link') return [...parents, ...cleared, { path, expect, to: { type: 'link', target: 'top' } }]
  const base = (await original.stat(path))?.type === 'file' ? (await original.read(path)).bytes : bytes(`${name}\n`)
  const text = name.endsWith('.gitignore') ? bytes(ignore) : bytes(`${name} ${round}\nend\n`)
  const content =
    to === 'base' ? base : to === 'same size' ? base.map((byte, i) => (i === 0 ? 65 + (round % 26) : byte)) : text
  const mode = to === 'executable' ? 0o755 : 0o644
  return [...parents, ...cleared, { path, expect, to: { type: 'file', bytes: content, mode } }]
}

const token = `ghp_${'a1B2'.repeat(9)}`
const key = `-----BEGIN PRIVATE KEY-----\n${`${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n`.repeat(3)}-----END PRIVATE KEY-----\n`
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'const a = 1\n',
      '\n',
      'x',
      ' ',
      'a long line of plain words, and more of it\n',
      'é😀\r\n',
    ),
  },
  fc.constantFrom(
    token,
    `${token}\n`,
    token.slice(0, 9),
    token.slice(9),
    key,
    key.slice(0, 60),
    key.slice(60),
    key.slice(0, -26),
  ),
  fc.constantFrom(
    'postgres://u:',
    'hunter22@db\n',
    '- name: DB_PASSWORD\n',
    '  value: k7rTe2x9\n',
    'authorization: bearer ',
    'a1'.repeat(12),
    'aws_secret_access_key = ',
    'aB3/'.repeat(10),
    `${'-'.repeat(1100)}\n`,
  ),
)

describe('a text derived from another text', () => {
  it('has the same secrets hidden as after a complete scan', () => {
    let same = 0
    let hidden = 0
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(piece, { maxLength: 4 }),
        fc.nat(400),
        fc.nat(400),
        fc.nat(400),
        (old, fresh, from, length, other) => {
          const before = redact(old.join(''))
          const [start, end] = [old.join('').slice(0, from), old.join('').slice(from + length)]
          // Sometimes a second change, so that unchanged lines are between the two.
          const text =
            start + fresh.join('') + (other < 200 ? end : `${end.slice(0, other)}new\n${end.slice(other + 20)}`)
          const expected = redact(text)
          if (before.marks.length === 0) same += 1
          if (before.marks.length === 0 && expected.marks.length > 0) hidden += 1
          expect(redactChanged(text, before)).toEqual(expected)
        },
      ),
      { numRuns: times(500, 3000) },
    )
    expect(same).toBeGreaterThan(times(50, 500))
    expect(hidden).toBeGreaterThan(times(8, 100))
  })
})
