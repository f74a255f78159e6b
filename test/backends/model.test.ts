import fc from 'fast-check'
import { Volume } from 'memfs'
import { expect, it } from 'vitest'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { sha256 } from '../../src/files/hash/sha256.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend, Change, EntryState } from '../../src/storage/backend.ts'
import { mounts } from '../../src/storage/mounts.ts'
import { snapshot } from '../../src/testing/backend/case.ts'
import { times } from '../counts.ts'

/**
 * The reference: a plain Map from path to entry. A set is checked as a whole, by the tree that would result, and not
 * change by change.
 */
type Model = ReadonlyMap<string, Exclude<EntryState, null>>

type Expect = 'any' | 'absent' | 'present' | 'wrong'
interface Step {
  readonly path: string
  readonly expect: Expect
  readonly to: 'file1' | 'file2' | 'directory' | 'link' | 'absent'
}

const state: Readonly<Record<Step['to'], EntryState>> = {
  file1: { type: 'file', bytes: new TextEncoder().encode('one') },
  file2: { type: 'file', bytes: new TextEncoder().encode('two'), mode: 0o755 },
  directory: { type: 'directory' },
  link: { type: 'link', target: 'elsewhere' },
  absent: null,
}

function next(model: Model, steps: readonly Step[]): Model | undefined {
  const result = new Map(model)
  if (new Set(steps.map(({ path }) => path)).size < steps.length) return undefined
  for (const { path, expect, to } of steps) {
    const present = model.get(path)
    const target = state[to]
    if (expect === 'wrong') return undefined
    if (expect === 'absent' && present !== undefined) return undefined
    if (expect === 'present' && present === undefined) return undefined
    if (target === null) {
      result.delete(path)
      continue
    }
    const kinds = [present?.type, target.type]
    const overDirectory = kinds[0] === 'directory' && kinds[1] !== 'directory'
    const intoDirectory = kinds[0] !== undefined && kinds[0] !== 'directory' && kinds[1] === 'directory'
    if (expect === 'any' && (overDirectory || intoDirectory)) return undefined
    const mode =
      target.type === 'file' ? (target.mode ?? (present?.type === 'file' ? present.mode : undefined) ?? 0o644) : 0
    result.set(path, target.type === 'file' ? { ...target, mode } : target)
  }
  for (const path of result.keys()) {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    if (parent !== '' && result.get(parent)?.type !== 'directory') return undefined
  }
  return result
}

const describeModel = (model: Model) =>
  new Map(
    Array.from(model, ([path, one]) => {
      if (one.type === 'file')
        return [path, `file ${one.mode} ${one.bytes.length} ${new TextDecoder().decode(one.bytes)}`]
      return [path, one.type === 'link' ? `link ${one.target}` : 'directory']
    }),
  )

async function toChange(backend: Backend, { path, expect: expected, to }: Step): Promise<Change> {
  const at = path as Path
  const plain = (expect: Change['expect']): Change => ({ path: at, expect, to: state[to] })
  if (expected === 'any' || expected === 'absent') return plain(expected)
  if (expected === 'wrong') return plain({ tag: 'wrong' })
  const stat = await backend.stat(at)
  if (stat === undefined) return plain({ sha256: sha256(new Uint8Array([1])) })
  if (stat.type !== 'file') return plain({ tag: stat.tag })
  return plain({ sha256: sha256((await backend.read(at)).bytes) })
}

const names = ['a', 'b', '__proto__']
const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const step = fc.record<Step>({
  path,
  expect: fc.oneof(
    { weight: 6, arbitrary: fc.constant<Expect>('any') },
    { weight: 3, arbitrary: fc.constant<Expect>('present') },
    fc.constantFrom<Expect>('absent', 'wrong'),
  ),
  to: fc.constantFrom('file1', 'file2', 'directory', 'directory', 'link', 'absent', 'absent'),
})
const set = fc.oneof(
  fc.array(step, { minLength: 1, maxLength: 1 }),
  fc.uniqueArray(step, { minLength: 1, maxLength: 4, selector: (one) => one.path }),
  fc.array(step, { minLength: 1, maxLength: 6 }),
)
const sets = fc.array(set, { minLength: 1, maxLength: 30, size: 'max' })

it('memory, memfs and mounts agree with a plain Map on random change sets', async () => {
  const counts = { applied: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(sets, async (sequence) => {
      const backends = [memory(), memfs(new Volume()), mounts({ '': memory() })]
      let model: Model = new Map()
      for (const steps of sequence) {
        const expected = next(model, steps)
        const outcomes: string[] = []
        for (const backend of backends) {
          const changes = await Promise.all(steps.map((one) => toChange(backend, one)))
          const outcome = await backend.commit(changes, { durability: 'relaxed' }).then(
            ({ applied }) => JSON.stringify(applied),
            (error) => `${error.name} ${error.code}`,
          )
          outcomes.push(outcome)
          expect(outcome.startsWith('ToolError'), `${JSON.stringify(steps)}: ${outcome}`).toBe(expected === undefined)
        }
        // All backends return the same receipt or the same refusal.
        expect(new Set(outcomes).size, outcomes.join('\n')).toBe(1)
        counts[expected === undefined ? 'refused' : 'applied'] += 1
        model = expected ?? model
        for (const backend of backends) expect(await snapshot(backend)).toEqual(describeModel(model))
      }
    }),
    { numRuns: times(60, 150) },
  )
  expect(counts.applied).toBeGreaterThan(times(80, 200))
  expect(counts.refused).toBeGreaterThan(times(80, 200))
})
