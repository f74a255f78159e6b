import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ToolError } from '../../src/errors.ts'
import { type Path, parsePath } from '../../src/paths/logical-path.ts'
import type { Change, EntryState } from '../../src/storage/backend.ts'
import { applyOrder, validateChanges } from '../../src/storage/change-set.ts'
import { linkTarget } from '../../src/storage/link-target.ts'
import { times } from '../counts.ts'
import { ownTime } from '../own-time.ts'

const file: EntryState = { type: 'file', bytes: new Uint8Array(0) }
const directory: EntryState = { type: 'directory' }
const change = (path: string, to: EntryState): Change => ({ path: path as Path, expect: 'any', to })

function codeOf(action: () => unknown): string {
  try {
    action()
    return 'ok'
  } catch (error) {
    expect(error).toBeInstanceOf(ToolError)
    return (error as ToolError).code
  }
}

describe('linkTarget', () => {
  it.each([
    ['l', 'f', 'f'],
    ['d/l', 'f', 'd/f'],
    ['d/l', '../f', 'f'],
    ['d/l', '..', ''],
    ['l', '.', ''],
    ['d/e/l', '../../x/y', 'x/y'],
    ['d/e/l', './.././../x//y/', 'x/y'],
    ['l', '..foo', '..foo'],
    ['l', '...', '...'],
    ['l', '~/x', '~/x'],
    ['l', '%2e%2e/x', '%2e%2e/x'],
  ])('takes %s to %s as %s', (path, target, expected) => {
    expect(linkTarget(parsePath(path), target)).toBe(expected)
  })

  it.each([
    ['l', ''],
    ['l', '/'],
    ['l', '/f'],
    ['l', '//x'],
    ['l', '..'],
    ['l', '../f'],
    ['l', './..'],
    ['d/l', '../..'],
    ['d/l', '../../d/f'],
    ['l', 'd/..'],
    ['l', 'd/../f'],
    ['d/l', '../d/../../f'],
    ['l', 'a\\..\\b'],
    ['l', 'c:x'],
    ['l', 'file:x'],
    ['l', 'a\0'],
    ['l', 'a\nb'],
    ['l', '\u202ea'],
    ['l', '\ud800'],
    ['l', 'n'.repeat(256)],
    ['l', 'n/'.repeat(3000)],
    ['l', ' '],
  ])('refuses %s to %j', (path, target) => {
    expect(codeOf(() => linkTarget(parsePath(path), target))).toBe('PATH_REJECTED')
  })

  it('never leads outside on a real disk, for any combination of links', () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const depth = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
    const target = fc
      .array(fc.oneof(name, fc.constantFrom('..', '.', '')), { minLength: 1, maxLength: 6 })
      .map((names) => names.join('/'))
    const links = fc.array(fc.tuple(depth, target), { minLength: 1, maxLength: 12 })
    let accepted = 0
    fc.assert(
      fc.property(links, fc.array(depth, { maxLength: 8 }), (planned, directories) => {
        const base = realpathSync(mkdtempSync(join(tmpdir(), 'links-')))
        const root = join(base, 'x', 'root')
        mkdirSync(root, { recursive: true })
        try {
          const paths: string[] = []
          for (const path of directories) quietly(() => mkdirSync(join(root, path), { recursive: true }))
          for (const [path, to] of planned) {
            if (codeOf(() => linkTarget(parsePath(path), to)) !== 'ok') continue
            // Backends receive canonical paths only, so the parent of the link must be a real directory.
            const parent = dirname(join(root, path))
            quietly(() => mkdirSync(parent, { recursive: true }))
            if (!quietly(() => realpathSync(parent) === parent)) continue
            if (!quietly(() => symlinkSync(to, join(root, path)) === undefined)) continue
            paths.push(path)
            accepted += 1
          }
          for (const path of paths) {
            for (const below of ['', '/a', '/b', '/c', '/a/b', '/../a', '/b/../..']) {
              const physical = quietly(() => realpathSync(`${root}/${path}${below.replaceAll('..', '.')}`))
              if (physical) expect(physical === root || physical.startsWith(`${root}/`)).toBe(true)
            }
            expect(lstatSync(join(root, path)).isSymbolicLink()).toBe(true)
          }
        } finally {
          rmSync(base, { recursive: true })
        }
      }),
      { numRuns: times(75, 400) },
    )
    expect(accepted).toBeGreaterThan(times(20, 200))
  })
})

describe('validateChanges', () => {
  it('accepts a valid set in any order', () => {
    const set = [change('a/b', file), change('a', directory), change('c', null), change('c/d', null)]
    expect(codeOf(() => validateChanges(set))).toBe('ok')
    expect(codeOf(() => validateChanges([...set].reverse()))).toBe('ok')
    expect(codeOf(() => validateChanges([]))).toBe('ok')
  })

  it('accepts deletions below a path that becomes a file, which replaces a directory', () => {
    expect(codeOf(() => validateChanges([change('d', file), change('d/x', null), change('d/e/y', null)]))).toBe('ok')
  })

  it('checks all ancestors, not only the parent', () => {
    expect(codeOf(() => validateChanges([change('d', file), change('d/e/f/g', file)]))).toBe('NOT_A_DIRECTORY')
    expect(codeOf(() => validateChanges([change('d', null), change('d/e/f/g', directory)]))).toBe('NOT_FOUND')
    expect(codeOf(() => validateChanges([change('d', null), change('de/f', file)]))).toBe('ok')
  })

  it('takes linear time for large sets', () => {
    const set = Array.from({ length: 20_000 }, (_, i) => change(`d${i % 10}/f${i}`, file))
    const start = ownTime()
    validateChanges(set)
    expect(ownTime() - start).toBeLessThan(2000)
  })

  it.each([10, 100, 1000, 2000])('checks each directory once in a set of %i nested directories', (depth) => {
    const paths = Array.from({ length: depth }, (_, i) => 'd/'.repeat(i + 1).slice(0, -1))
    const set = [...paths.map((path) => change(path, directory)), change(`${paths.at(-1)}/f`, file)]
    // Each step from a directory to its parent calls lastIndexOf once.
    const steps = vi.spyOn(String.prototype, 'lastIndexOf')
    try {
      validateChanges(set)
      expect(steps.mock.calls.length).toBeLessThanOrEqual(3 * set.length)
    } finally {
      steps.mockRestore()
    }
  })

  it.each([
    [['a', 'a/b/c/d', 'a/b/c/e', 'x/y'], 'a'],
    [['a/b/c/d', 'a/b/c/e', 'a/b'], 'a/b'],
  ])('names the nearest file in the way of %j', (paths, obstacle) => {
    expect(() => validateChanges(paths.map((path) => change(path, file)))).toThrow(`"${obstacle}" is not a directory`)
  })
})

describe('applyOrder', () => {
  it('deletes children before parents, then creates parents before children, for any order of the set', () => {
    const set = [
      change('old', null),
      change('old/a', null),
      change('old/a/b', null),
      change('old-er', null),
      change('new/a/f', file),
      change('new/a', directory),
      change('new', directory),
      change('aaa', { type: 'link', target: 'x' }),
    ]
    const expected = ['old/a/b', 'old/a', 'old-er', 'old', 'new', 'new/a', 'aaa', 'new/a/f']
    fc.assert(
      fc.property(fc.shuffledSubarray(set, { minLength: set.length }), (shuffled) => {
        expect(applyOrder(shuffled).map(({ path }) => path)).toEqual(expected)
      }),
    )
  })
})

function quietly<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
