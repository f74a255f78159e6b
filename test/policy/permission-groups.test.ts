import { describe, expect, it } from 'vitest'
import { classifyPath } from '../../src/files/classify/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { strength } from '../../src/policy/evaluation.ts'
import { type Permission, permissions, revealingPermissions } from '../../src/policy/permissions.ts'
import { compilePolicy } from '../../src/policy/policy.ts'

const changing = [
  ...['file:write:create', 'file:write:replace', 'file:append', 'file:delete', 'file:move', 'file:copy'],
  ...['file:patch:apply', 'memory:write'],
]
const viewing = ['file:list', 'file:read', 'file:search', 'file:info', 'file:diff', 'memory:read']

function decide(group: string, permission: Permission, isSource?: true): string {
  const policy = compilePolicy({
    preset: 'autonomous',
    rules: [{ name: 'a', action: 'deny', permissions: [group], paths: ['docs/**'] }],
  })
  const path = 'docs/a.md' as Path
  const access = { permission, asked: path, path, classification: classifyPath(path), recursive: false }
  return policy.evaluate({ tool: 'x', input: {}, accesses: [isSource ? { ...access, isSource } : access] }).decision
}

describe.each([
  ['file:change', changing],
  ['file:view', viewing],
] as const)('%s', (group, covered) => {
  it.each(permissions)('covers %s exactly if the permission is of its group', (permission) => {
    expect(decide(group, permission)).toBe((covered as readonly string[]).includes(permission) ? 'deny' : 'allow')
  })

  it('covers the target of a copy as a change, and its source as a view', () => {
    expect(decide(group, 'file:copy')).toBe(group === 'file:change' ? 'deny' : 'allow')
    expect(decide(group, 'file:copy', true)).toBe(group === 'file:view' ? 'deny' : 'allow')
  })
})

it('file:copy and its wildcards cover both paths of a copy', () => {
  for (const pattern of ['file:copy', 'file:*', '*']) {
    expect([decide(pattern, 'file:copy'), decide(pattern, 'file:copy', true)]).toEqual(['deny', 'deny'])
  }
})

it.each([
  ['file:chnage', 'file:change'],
  ['file:views', 'file:view'],
  ['file:wirte:*', 'file:write:*'],
  ['file:deletee', 'file:delete'],
])('the unknown permission %s is refused with the nearest one', (pattern, nearest) => {
  expect(() => decide(pattern, 'file:read')).toThrow(`did you mean "${nearest}"?`)
})

describe('a change that reveals content', () => {
  const presets = [undefined, 'readOnly', 'supervised', 'autonomous'] as const
  const actions = ['allow', 'ask', 'deny'] as const

  it.each([...revealingPermissions])('is decided like %s and reading together', (permission) => {
    const reading = permission === 'memory:write' ? 'memory:read' : 'file:read'
    const decisions = new Set<string>()
    for (const preset of presets) {
      for (const onChange of [undefined, ...actions]) {
        for (const onReading of [undefined, ...actions]) {
          const rules = [
            ...(onChange === undefined ? [] : [{ name: 'change', action: onChange, permissions: [permission] }]),
            ...(onReading === undefined ? [] : [{ name: 'reading', action: onReading, permissions: [reading] }]),
          ]
          const policy = compilePolicy({ ...(preset === undefined ? {} : { preset }), rules })
          const path = 'docs/a.md' as Path
          const facts = { asked: path, path, classification: classifyPath(path), recursive: false }
          const evaluate = (access: { permission: Permission; reveals?: true }) =>
            policy.evaluate({ tool: 'x', input: {}, accesses: [{ ...facts, ...access }] })
          const separate = [evaluate({ permission }).decision, evaluate({ permission: reading }).decision]
          const stricter = separate.sort((a, b) => strength[b] - strength[a])[0]
          const { decision, rules: contributions } = evaluate({ permission, reveals: true })
          expect(decision, JSON.stringify({ preset, rules })).toBe(stricter)
          expect(new Set(contributions.map((rule) => JSON.stringify(rule))).size).toBe(contributions.length)
          decisions.add(decision)
        }
      }
    }
    expect([...decisions].sort()).toEqual(['allow', 'ask', 'deny'])
  })
})
