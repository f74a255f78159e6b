import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { Volume } from 'memfs'
import { describe, expect, it } from 'vitest'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { ToolError } from '../../src/errors.ts'
import { type LogicalPath, type Path, parsePath } from '../../src/paths/logical-path.ts'
import { canonical, type LinkReads } from '../../src/storage/canonical-path.ts'
import { times } from '../counts.ts'
import { ownTime } from '../own-time.ts'

/** Reads a real disk without following links. */
function diskReads(root: string): LinkReads {
  return {
    async stat(path) {
      const full = path === '' ? root : join(root, path)
      if (path !== '' && quietly(() => realpathSync(dirname(full))) !== dirname(full)) return undefined
      const stats = quietly(() => lstatSync(full))
      if (stats === undefined) return undefined
      return { type: stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'directory' : 'file', size: 0, tag: '' }
    },
    readLink: async (path) => readlinkSync(join(root, path)),
  }
}

describe('canonical', () => {
  it('agrees with realpath on a real disk for any tree of links, also links to outside', async () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
    const target = fc.oneof(
      fc
        .array(fc.oneof({ weight: 3, arbitrary: name }, fc.constantFrom('..', '.', '')), { minLength: 1, maxLength: 5 })
        .map((names) => names.join('/')),
      fc.constantFrom('/etc', '/', '../../outside', '../../none', '/none'),
    )
    const entry = fc.tuple(
      path,
      fc.oneof(
        fc.constant('file'),
        fc.constant('directory'),
        target.map((to) => ({ to })),
      ),
    )
    const outcomes = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 10 }),
        fc.array(path, { minLength: 6, maxLength: 6 }),
        async (entries, probes) => {
          const base = realpathSync(mkdtempSync(join(tmpdir(), 'canonical-')))
          const root = join(base, 'x', 'root')
          mkdirSync(root, { recursive: true })
          mkdirSync(join(base, 'outside'))
          const volume = Volume.fromJSON({}, '/')
          volume.mkdirSync('/base/x/root', { recursive: true })
          volume.mkdirSync('/base/outside')
          try {
            for (const [where, subject] of entries) {
              const full = join(root, where)
              const parent = dirname(full)
              quietly(() => mkdirSync(parent, { recursive: true }))
              if (
                quietly(() => realpathSync(parent)) !== parent ||
                !lstatSync(parent).isDirectory() ||
                quietly(() => lstatSync(full))
              )
                continue
              const copy = `/base/x/root/${where}`
              volume.mkdirSync(dirname(copy), { recursive: true })
              if (subject === 'file') writeFileSync(full, '')
              else if (subject === 'directory') mkdirSync(full)
              else if (subject.to !== '') symlinkSync(subject.to, full)
              if (subject === 'file') volume.writeFileSync(copy, '')
              else if (subject === 'directory') volume.mkdirSync(copy)
              else if (subject.to !== '') volume.symlinkSync(subject.to, copy)
            }
            const inMemory = memfs(volume, { root: '/base/x/root' })
            for (const probe of probes) {
              const match = await outcome(() => canonical(diskReads(root), parsePath(probe)))
              expect(await outcome(() => inMemory.canonical(parsePath(probe)))).toEqual(match)
              const expected = realpathOutcome(root, probe)
              outcomes.set(expected, (outcomes.get(expected) ?? 0) + 1)
              // ENOENT from the kernel: canonical may return a path instead of refusing, but nothing may exist there.
              if (expected === 'ENOENT') {
                if (match !== 'PATH_REJECTED')
                  expect(
                    quietly(() => lstatSync(join(root, match))),
                    probe,
                  ).toBeUndefined()
              } else expect(match, `${probe} of ${JSON.stringify(entries)}`).toBe(expected)
            }
          } finally {
            rmSync(base, { recursive: true })
          }
        },
      ),
      { numRuns: times(60, 500) },
    )
    expect(outcomes.get('PATH_REJECTED')).toBeGreaterThan(times(0, 20))
    expect(outcomes.get('NOT_A_DIRECTORY')).toBeGreaterThan(times(0, 20))
  })

  it('follows at most 40 links', async () => {
    const chain = (length: number) =>
      memory({
        end: 'x',
        ...Object.fromEntries(Array.from({ length }, (_, i) => [`l${i}`, { link: i === 0 ? 'end' : `l${i - 1}` }])),
      })
    expect(await canonical(chain(40), 'l39' as LogicalPath)).toBe('end')
    expect(await outcome(() => canonical(chain(41), 'l40' as LogicalPath))).toBe('PATH_REJECTED')
    expect(await chain(40).canonical('l39' as LogicalPath)).toBe('end')
    expect(await outcome(() => chain(41).canonical('l40' as LogicalPath))).toBe('PATH_REJECTED')
  })

  it('calls stat once if the path contains no link', async () => {
    const backend = memory({ 'a/b/c/d/e': 'x' })
    let looks = 0
    const counting: LinkReads = {
      stat(path: Path) {
        looks += 1
        return backend.stat(path)
      },
      readLink: backend.readLink,
    }
    expect(await canonical(counting, 'a/b/c/d/e' as LogicalPath)).toBe('a/b/c/d/e')
    expect(looks).toBe(1)
  })

  it('refuses a target with names that parsePath refuses', async () => {
    const volume = Volume.fromJSON({ 'a\\b': 'x', 'c:d': 'x' }, '/')
    for (const [i, target] of ['a\\b', 'c:d', 'x\u007fy', 'none/\u202e', ' '].entries()) {
      volume.symlinkSync(target, `/l${i}`)
      expect(await outcome(() => memfs(volume).canonical(`l${i}` as LogicalPath)), target).toBe('PATH_REJECTED')
    }
  })

  it('refuses links that expand exponentially, in bounded time', async () => {
    const links = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`l${i + 1}`, { link: `l${i}/l${i}/l${i}` }]))
    const backend = memory({ ...links, l0: { link: '.' } })
    const start = ownTime()
    expect(await outcome(() => backend.canonical('l30' as LogicalPath))).toBe('PATH_REJECTED')
    expect(ownTime() - start).toBeLessThan(1000)
  })
})

async function outcome(action: () => Promise<string>): Promise<string> {
  try {
    return await action()
  } catch (error) {
    expect(error).toBeInstanceOf(ToolError)
    return (error as ToolError).code
  }
}

/** The result of realpath in the form of `canonical`: a relative path, or an error code. */
function realpathOutcome(root: string, path: string): string {
  try {
    const physical = realpathSync.native(join(root, path))
    if (physical === root) return ''
    return physical.startsWith(`${root}/`) && stays(root, path) ? physical.slice(root.length + 1) : 'PATH_REJECTED'
  } catch (error) {
    const { code } = error as { code: string }
    if (!stays(root, path)) return 'PATH_REJECTED'
    if (code === 'ELOOP') return 'PATH_REJECTED'
    if (code === 'ENOTDIR') return 'NOT_A_DIRECTORY'
    expect(code).toBe('ENOENT')
    return code
  }
}

/** Whether every step of the resolution, link by link, stays inside. A path that leaves and returns is outside. */
function stays(root: string, path: string): boolean {
  const rest = path.split('/').reverse()
  let here = root
  for (let steps = 0; rest.length > 0 && steps < 500; steps++) {
    const name = rest.pop() as string
    if (name === '' || name === '.') continue
    if (name === '..') {
      here = dirname(here)
      if (here.length < root.length) return false
      continue
    }
    const next = join(here, name)
    const target = quietly(() => readlinkSync(next))
    if (target === undefined) {
      if (!quietly(() => lstatSync(next))) return !escapesLexically(root, next, rest)
      here = next
    } else {
      if (target.startsWith('/')) return false
      rest.push(...target.split('/').reverse())
    }
  }
  return true
}

function escapesLexically(root: string, here: string, rest: readonly string[]): boolean {
  const end = join(here, ...[...rest].reverse())
  return end !== root && !end.startsWith(`${root}/`)
}

function quietly<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
