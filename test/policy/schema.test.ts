import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePolicy, policySchema } from '../../src/policy/policy.ts'
import { policies } from './generate.ts'

const allow = { name: 'a', action: 'allow' }
const deny = { name: 'a', action: 'deny' }

/** Each misconfiguration with what its error must name. */
const wrong: readonly [input: unknown, ...names: string[]][] = [
  [undefined, 'readOnly', 'supervised', 'autonomous'],
  [null, 'readOnly', 'supervised', 'autonomous'],
  ['', 'readOnly', 'supervised', 'autonomous'],
  ['readonly', '"readonly"', '"readOnly"'],
  ['__proto__', 'preset'],
  [5, 'object'],
  [true, 'object'],
  [[], 'object'],
  [() => 'allow', 'object'],
  [{ preset: 'auto' }, 'preset', 'autonomous'],
  [{ preset: null }, 'preset'],
  [{ rule: [] }, '"rule"', 'rules'],
  [{ network: { host: [] } }, 'network.host', 'the fields here are'],
  [{ memory: { other: 1 } }, 'memory.other', 'the fields here are'],
  [{ limits: { callsPerMinute: 1e300 } }, 'limits.callsPerMinute', 'too big'],
  [{ rules: [{ ...allow, name: 'x'.repeat(10_000) }] }, 'rules[0].name', 'too long'],
  [{ default_action: undefined, rules: [] }, 'default_action', 'not that'],
  [{ labels: { source: [] } }, 'labels.source', 'sources, sinks'],
  [{ labels: { sources: [{ label: 'internal', path: ['a'] }] } }, 'labels.sources[0].path', 'commands'],
  [{ labels: { sinks: [{ name: 'a', ceiling: 'public', path: ['a'] }] } }, 'labels.sinks[0].path', 'hosts'],
  [
    {
      labels: {
        sinks: [
          { name: 'a', ceiling: 'public', paths: ['a'] },
          { name: 'a', ceiling: 'public', paths: ['b'] },
        ],
      },
    },
    'labels.sinks[1].name',
    'unique',
  ],
  [{ labels: [] }, '"labels"'],
  [JSON.parse('{"__proto__": {"preset": "autonomous"}}'), '__proto__'],
  [JSON.parse('{"tools": {"__proto__": "allow"}}'), 'tools.__proto__'],
  [{ allowedPaths: 'src' }, 'allowedPaths', 'list'],
  [{ allowedPaths: [''] }, 'allowedPaths[0]', 'empty'],
  [{ allowedPaths: ['src', 5] }, 'allowedPaths[1]'],
  [{ allowedPaths: ['/etc'] }, 'allowedPaths[0]', 'glob'],
  [{ deniedPaths: ['../x'] }, 'deniedPaths[0]', 'glob'],
  [{ deniedPaths: ['/etc'] }, 'deniedPaths[0]', 'glob'],
  [{ readOnlyPaths: ['+(a|b)'] }, 'readOnlyPaths[0]', 'glob'],
  [{ allowedPaths: [`{${'a,'.repeat(1500)}b}`] }, 'allowedPaths[0]', 'glob'],
  [{ tools: { x: true } }, 'tools.x', 'allow'],
  [{ tools: { x: 'Allow' } }, 'tools.x', 'allow'],
  [{ tools: { '': 'allow' } }, 'tools'],
  [{ tools: ['read_file'] }, 'tools'],
  [{ rules: {} }, 'rules', 'list'],
  [{ rules: [null] }, 'rules[0]'],
  [{ rules: [{ action: 'allow' }] }, 'rules[0].name'],
  [{ rules: [{ name: 'a' }] }, 'rules[0].action'],
  [{ rules: [{ ...allow, name: '' }] }, 'rules[0].name', 'empty'],
  [{ rules: [{ ...allow, name: '   ' }] }, 'rules[0].name'],
  [{ rules: [{ ...allow, name: 'a\nb' }] }, 'rules[0].name'],
  [{ rules: [{ ...allow, name: 'a\u202eb' }] }, 'rules[0].name'],
  [{ rules: [{ ...allow, name: 'x'.repeat(201) }] }, 'rules[0].name'],
  [{ rules: [allow, deny] }, 'rules[1].name', 'rules[0]'],
  [{ rules: [{ ...allow, name: 'deniedPaths' }] }, 'rules[0].name', 'short form'],
  [{ rules: [{ ...allow, action: 'maybe' }] }, 'rules[0].action', 'ask'],
  [{ rules: [{ ...allow, path: ['x'] }] }, 'rules[0].path', 'paths'],
  [{ rules: [{ ...allow, paths: [] }] }, 'rules[0].paths', 'empty'],
  [{ rules: [{ ...allow, tools: [] }] }, 'rules[0].tools', 'empty'],
  [{ rules: [{ ...allow, paths: ['a', '!b'] }] }, 'rules[0].paths[1]', 'glob'],
  [{ rules: [{ ...allow, paths: 'a' }] }, 'rules[0].paths', 'list'],
  [{ rules: [{ ...allow, permissions: ['file:write'] }] }, 'rules[0].permissions[0]', 'file:write:*'],
  [{ rules: [{ ...allow, permissions: ['file:wirte:*'] }] }, 'rules[0].permissions[0]', 'file:write:create, file:'],
  [{ rules: [{ ...allow, permissions: ['File:*'] }] }, 'rules[0].permissions[0]'],
  [{ rules: [{ ...allow, permissions: ['file:read:*'] }] }, 'rules[0].permissions[0]'],
  [{ rules: [{ ...allow, kinds: ['SECRET'] }] }, 'rules[0].kinds[0]', 'SECRET_LIKE'],
  [{ rules: [{ ...allow, args: { mode: 'x' } }] }, 'rules[0].args.mode'],
  [{ rules: [{ ...allow, args: { path: ['../x'] } }] }, 'rules[0].args.path[0]', 'glob'],
  [{ rules: [{ ...allow, args: { q: ['*'.repeat(5000)] } }] }, 'rules[0].args.q[0]'],
  [{ rules: [{ ...allow, overrides: ['git'] }] }, 'rules[0].overrides[0]', 'git'],
  [{ rules: [{ ...allow, overrides: ['secrets'] }] }, 'rules[0].overrides[0]', 'secret'],
  [{ rules: [{ ...deny, overrides: ['secret'] }] }, 'rules[0].overrides', 'allow'],
  [{ limits: { callsPerMinute: true } }, 'limits.callsPerMinute'],
  [{ limits: { callsPerMinute: '5' } }, 'limits.callsPerMinute'],
  [{ limits: { callsPerMinute: 0 } }, 'limits.callsPerMinute', 'positive'],
  [{ limits: { callsPerMinute: -1 } }, 'limits.callsPerMinute', 'positive'],
  [{ limits: { callsPerMinute: 1.5 } }, 'limits.callsPerMinute', 'whole'],
  [{ limits: { callsPerMinute: Number.NaN } }, 'limits.callsPerMinute'],
  [{ limits: { callsPerMinute: 2 ** 60 } }, 'limits.callsPerMinute'],
  [{ limits: { toolCallsPerMinute: { x: false } } }, 'limits.toolCallsPerMinute.x'],
  [{ limits: { calls: 5 } }, 'limits.calls', 'callsPerMinute'],
  [{ commands: { allowed: [] } }, 'commands.allowed', 'deniedOperators'],
]

describe('a wrong policy', () => {
  it.each(wrong)('%j is a TypeError that names %j', (input, ...names) => {
    let error: unknown
    try {
      compilePolicy(input)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(TypeError)
    for (const name of names) expect((error as TypeError).message).toContain(name)
    expect((error as TypeError).message.length).toBeLessThan(800)
  })
})

describe('a policy', () => {
  it('is frozen, and what the caller changes later changes nothing', () => {
    const input = { preset: 'autonomous', deniedPaths: ['a'], rules: [{ ...deny, paths: ['b'] }] }
    const policy = compilePolicy(input)
    const before = JSON.stringify(policy.data)
    input.deniedPaths.push('c')
    input.rules[0]?.paths.push('c')
    expect(JSON.stringify(policy.data)).toBe(before)
    expect(() => (policy.data.rules as unknown[]).push(1)).toThrow(TypeError)
    expect(Object.isFrozen(policy.data.rules?.[0]?.paths)).toBe(true)
  })

  it('is the same from code and from JSON', () => {
    fc.assert(
      fc.property(policies, (input) => {
        const fromCode = compilePolicy(input)
        const fromJson = compilePolicy(JSON.parse(JSON.stringify(input)))
        expect(fromJson.revision).toBe(fromCode.revision)
        expect(policySchema.safeParse(input).success).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  it('has another revision when it says something else', () => {
    const revisions = [
      'readOnly',
      'supervised',
      {},
      { allowedPaths: ['a'] },
      { allowedPaths: ['b'] },
      { rules: [allow] },
      { rules: [deny] },
    ]
    expect(new Set(revisions.map((input) => compilePolicy(input).revision)).size).toBe(revisions.length)
    expect(compilePolicy('readOnly').revision).toBe(compilePolicy({ preset: 'readOnly' }).revision)
    expect(compilePolicy('readOnly').revision).toBe(compilePolicy({ preset: 'readOnly', rules: [] }).revision)
  })

  it('has the revision that other processes know it by, in any order of its rules', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, action: 'deny' }))
    for (const rules of [
      [a, b, c],
      [c, b, a],
      [b, a, c],
      [b, c, a],
    ]) {
      expect(compilePolicy({ rules }).revision).toBe('b4314f01ec64ecd6')
    }
  })

  it('takes undefined for a field that is left out', () => {
    expect(compilePolicy({ preset: 'autonomous', rules: undefined, tools: undefined }).data.preset).toBe('autonomous')
  })
})
