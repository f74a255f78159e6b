import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileGlob } from '../../src/paths/glob.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { times } from '../counts.ts'

describe('an absolute path pattern', () => {
  const names = ['home', 'me', 'ws', 'a', 'b', '*', '**', 'm?', '[hm]*', '{a,me}', 'w*']
  const name = fc.constantFrom(...names)
  const plain = fc.constantFrom('home', 'me', 'ws', 'a', 'b')
  const path = fc.array(plain, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  const pattern = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
  const root = fc.array(plain, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`)

  /** Whether a policy denies a path, with the meaning of its patterns. */
  function denies(patterns: readonly string[], path: string): boolean {
    const plainEnd = (pattern: string) => !/[*?]/.test(pattern.slice(pattern.lastIndexOf('/') + 1))
    return patterns.some((one) => {
      const base = one.replace(/\/$/, '')
      const below = plainEnd(base) || one.endsWith('/')
      return compileGlob(base).matches(path) || (below && compileGlob(`${base}/**`).matches(path))
    })
  }

  it('has the same meaning below a root as on the whole disk', () => {
    fc.assert(
      fc.property(pattern, root, fc.constantFrom('', 'p', 'p/q'), path, (pattern, root, directory, path) => {
        const onDisk = denies([pattern.slice(1)], `${root.slice(1)}/${path}`)
        let placed: readonly string[] = []
        try {
          const policy = { preset: 'autonomous', deniedPaths: [pattern] }
          placed = compilePolicy(policy, { roots: { [root]: directory } }).data.deniedPaths ?? []
        } catch (error) {
          expect(String(error)).toContain('outside of every root')
          // One alternative outside of the root is enough for a difference.
          if (pattern.includes('{')) return
        }
        const logical = directory === '' ? path : `${directory}/${path}`
        expect(denies(placed, logical), `${pattern} below ${root}: ${placed.join(' ')}`).toBe(onDisk)
      }),
      { numRuns: times(500, 100_000) },
    )
  })
})

describe('an absolute path', () => {
  const roots = { '/home/me/ws': '', '/notes': 'n' }
  it.each<[string, object, object]>([
    ['allowedPaths', { allowedPaths: ['/home/me/ws'] }, { allowedPaths: ['**'] }],
    ['deniedPaths', { deniedPaths: ['/notes/a.md'] }, { deniedPaths: ['n/a.md'] }],
    ['readOnlyPaths', { readOnlyPaths: ['/notes'] }, { readOnlyPaths: ['n'] }],
    ['several roots', { deniedPaths: ['/**/x'] }, { deniedPaths: ['**/x', 'x', 'n/**/x', 'n/x'] }],
    ['rules', rule({ paths: ['/notes/*'] }), rule({ paths: ['n/*'] })],
    ['args', rule({ args: { path: ['/notes/a'], query: ['/x'] } }), rule({ args: { path: ['n/a'], query: ['/x'] } })],
    ['label sources', labels('sources', '/notes/a'), labels('sources', 'n/a')],
    ['label sinks', labels('sinks', '/home/me/ws/b/'), labels('sinks', 'b/')],
    ['memory.path', { memory: { path: '/notes/m' } }, { memory: { path: 'n/m' } }],
  ])('is placed below its root in %s', (_, input, placed) => {
    expect(compilePolicy({ preset: 'autonomous', ...input }, { roots }).data).toEqual({
      preset: 'autonomous',
      ...placed,
    })
  })

  function rule(fields: object): object {
    return { rules: [{ name: 'a', action: 'deny', ...fields }] }
  }

  function labels(field: 'sources' | 'sinks', path: string): object {
    const item = field === 'sources' ? { label: 'internal' } : { name: 'a', ceiling: 'public' }
    return { labels: { [field]: [{ ...item, paths: [path] }] } }
  }
})
