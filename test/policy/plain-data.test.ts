import { describe, expect, it } from 'vitest'
import { compilePolicy } from '../../src/policy/policy.ts'

/** A valid policy with every object and every list that a policy can contain. */
const full = {
  preset: 'supervised',
  allowedPaths: ['src/**'],
  deniedPaths: ['a'],
  readOnlyPaths: ['b'],
  tools: { x: 'deny' },
  rules: [
    {
      name: 'a',
      action: 'deny',
      tools: ['a'],
      permissions: ['file:*'],
      paths: ['a'],
      kinds: ['BINARY'],
      args: { q: ['a'] },
      risk: ['a'],
    },
    { name: 'c', action: 'deny', commands: ['a'] },
    { name: 'b', action: 'allow', overrides: ['secret'] },
  ],
  commands: { allow: ['a'], deny: ['b'], deniedOperators: ['|'] },
  limits: { callsPerMinute: 1, toolCallsPerMinute: { x: 1 } },
  labels: {
    sources: [{ label: 'internal', paths: ['a'], commands: ['b'] }],
    sinks: [{ name: 'a', ceiling: 'public', paths: ['a'], commands: ['b'], hosts: ['c'] }],
  },
  network: { hosts: ['example.org'] },
  memory: { path: 'notes', acl: true },
  requireApprovalIf: ['deletesFile'],
  requireReason: true,
}

/** Policies of other systems, with their objects and lists. */
const imported = [
  { tools: { file: { enabled: true, allowed_paths: ['src'], read_only: true }, x: 'deny' } },
  {
    security: {
      tool_policy: { tools: { x: 'deny' } },
      policy: { rules: [{ name: 'a', action: 'deny', args: { q: ['a'] } }], default_action: 'deny' },
    },
  },
  { patchBudget: { maxFilesTouched: 1, requireApprovalIf: ['deletesFile'] } },
]

type Place = readonly (string | number)[]

/** The places of all objects and lists in a value, without the value itself. */
function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.entries(value).flatMap(([key, item]) =>
    placesIn(item, [...place, Array.isArray(value) ? Number(key) : key]),
  )
  return place.length === 0 ? below : [place, ...below]
}

function replaceAt(value: unknown, [key, ...rest]: Place, change: (value: unknown) => unknown): unknown {
  if (key === undefined) return change(value)
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>
  copy[key] = replaceAt(copy[key], rest, change)
  return copy
}

const fieldOf = (place: Place) =>
  place.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('')

class Settings {}

const entriesOf = (value: unknown) => Object.entries(value as object)

/** Values that carry the same settings in a form whose own enumerable fields are not the settings. */
const forms: Readonly<Record<string, (value: unknown) => unknown>> = {
  Map: (value) => new Map(entriesOf(value)),
  'empty Map': () => new Map(),
  Set: (value) => new Set(Object.values(value as object)),
  Date: () => new Date(0),
  Promise: (value) => Promise.resolve(value),
  RegExp: () => /a/,
  Error: () => new Error('a'),
  'class instance': (value) => Object.assign(new Settings(), value),
  'empty class instance': () => new Settings(),
  'object with inherited fields': (value) => Object.create(value as object),
  'object with inherited fields without a root': (value) => Object.create(Object.assign(Object.create(null), value)),
  function: () => () => undefined,
  'typed array': () => new Uint8Array(1),
  'iterator of entries': (value) => entriesOf(value)[Symbol.iterator](),
  'hidden fields': (value) =>
    Array.isArray(value)
      ? Object.defineProperty([...value], 'hidden', { value: 1 })
      : Object.defineProperty({ ...(value as object) }, 'hidden', { value: 1 }),
  'symbol as a field': (value) =>
    Object.assign(Array.isArray(value) ? [...value] : { ...(value as object) }, { [Symbol('s')]: 1 }),
  'the other of list and object': (value) => (Array.isArray(value) ? { ...value } : Object.values(value as object)),
}

describe('a policy', () => {
  const policies = [full, ...imported]
  const cases = policies.flatMap((policy) =>
    placesIn(policy).map((place) => ({ policy, place, field: fieldOf(place) })),
  )

  it.each(policies)('of the enumeration is valid: %#', (policy) => {
    expect(() => compilePolicy(policy)).not.toThrow()
  })

  it.each(cases)('names $field if it is not plain data', ({ policy, place, field }) => {
    for (const [form, change] of Object.entries(forms)) {
      const name = field.replace(/[[\]]/g, '\\$&')
      const compile = () => compilePolicy(replaceAt(policy, place, change))
      expect(compile, form).toThrow(TypeError)
      expect(compile, form).toThrow(new RegExp(`^Policy field "${name}["[.]`))
    }
  })

  it.each(Object.keys(forms))('is refused as a whole: %s', (form) => {
    expect(() => compilePolicy(forms[form]?.(full))).toThrow(TypeError)
  })

  it('may have objects without a prototype', () => {
    const bare = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(bare)
      if (typeof value !== 'object' || value === null) return value
      return Object.assign(
        Object.create(null),
        Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bare(item)])),
      )
    }
    expect(compilePolicy(bare(full)).revision).toBe(compilePolicy(full).revision)
  })

  it('is read once: a getter has no second answer', () => {
    let reads = 0
    const policy = {
      preset: 'autonomous',
      get commands() {
        reads++
        return reads === 1 ? { deny: ['ls'] } : new Map()
      },
    }
    expect(compilePolicy(policy).data.commands).toEqual({ deny: ['ls'] })
  })
})
