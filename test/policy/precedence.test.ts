import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyDirectory, classifyPath } from '../../src/files/classify/index.ts'
import type { Classification } from '../../src/files/classify/types.ts'
import type { LogicalPath, Path } from '../../src/paths/logical-path.ts'
import type { GuardedAccess } from '../../src/policy/access.ts'
import { combineVerdicts, deniedError, type Verdict } from '../../src/policy/evaluation.ts'
import { type Permission, permissions } from '../../src/policy/permissions.ts'
import { planVerdict } from '../../src/policy/plan.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import type { PolicyData } from '../../src/policy/schema.ts'
import type { Decision } from '../../src/policy/types.ts'
import { times } from '../counts.ts'
import { extraRule, names, paths, policies } from './generate.ts'
import { type Name, referenceDecision, referenceProtection } from './reference.ts'

const strength = { allow: 0, ask: 1, deny: 2 }
const runs = { numRuns: times(10, 150) }

function access(permission: Permission, path: string, more: Partial<GuardedAccess> = {}): GuardedAccess {
  const classification = classifyPath(path as LogicalPath)
  return { permission, asked: path as LogicalPath, path: path as Path, classification, recursive: false, ...more }
}

function judge(policy: PolicyData | string, tool: string, ...accesses: GuardedAccess[]): Verdict {
  return compilePolicy(policy).evaluate({ tool, input: {}, accesses })
}

function single(policy: PolicyData, { tool, permission, path }: Name): Verdict {
  return judge(policy, tool, access(permission, path))
}

describe('precedence', () => {
  const choices = [undefined, 'allow', 'ask', 'deny'] as const
  /** The actions of a rule, and an allow rule that overrides every protection. */
  const rules = [...choices, 'lift'] as const
  const subjects = [
    ['file:write:replace', 'src/a.ts', undefined],
    ['file:write:replace', 'package-lock.json', 'ask'],
    ['file:write:replace', 'dist/a.js', 'deny'],
    ['file:read', 'src/a.ts', undefined],
    ['file:read', 'package-lock.json', undefined],
    ['file:read', '.env', 'deny'],
  ] as const

  it.each(subjects)('is correct for every combination on %s of %s, protection: %s', (permission, path, protection) => {
    const writes = permission !== 'file:read'
    let checked = 0
    for (const tool of choices) {
      for (const first of rules) {
        for (const second of rules) {
          for (const preset of [undefined, 'readOnly', 'supervised', 'autonomous'] as const) {
            const policy: PolicyData = {
              ...(preset === undefined ? {} : { preset }),
              ...(tool === undefined ? {} : { tools: { any: tool } }),
              rules: [first, second].flatMap((choice, index) => {
                if (choice === undefined) return []
                const rule = { name: `rule ${index}`, paths: ['**'] }
                const overrides = ['secret', 'generated', 'lockfile'] as const
                return [choice === 'lift' ? { ...rule, action: 'allow', overrides } : { ...rule, action: choice }]
              }),
            }
            const lifted = first === 'lift' || second === 'lift'
            const allowed = lifted || first === 'allow' || second === 'allow'
            const isAsked = first === 'ask' || second === 'ask'
            const contributions = [tool, first, second, lifted ? undefined : protection]
            const hasDecision = preset !== undefined || allowed || isAsked
            let expected: Decision = 'allow'
            if (contributions.includes('deny') || (preset === 'readOnly' && writes) || !hasDecision) expected = 'deny'
            else if (contributions.includes('ask')) expected = 'ask'
            else if (preset === 'supervised' && writes && !allowed && tool !== 'allow') expected = 'ask'
            const { decision, rules: took } = judge(policy, 'any', access(permission, path))
            expect(decision, JSON.stringify(policy)).toBe(expected)
            // The deciding contribution comes first, and all contributions are listed.
            expect(took[0]?.action).toBe(expected)
            const names = took.map(({ name }) => name)
            for (const [index, choice] of [first, second].entries()) {
              expect(names.includes(`rule ${index}`)).toBe(choice !== undefined)
            }
            expect(names.includes('any')).toBe(tool !== undefined)
            checked += 1
          }
        }
      }
    }
    expect(checked).toBe(400)
  })
})

/** Changes of a secret that a rule allows, while another rule asks about reading it or denies that. */
const restrictedReading = (['git:write', 'memory:write', 'file:append'] as const).flatMap((permission) =>
  (['ask', 'deny'] as const).map((action): [PolicyData, Name] => [
    {
      rules: [
        { name: 'rule 0', action: 'allow', overrides: ['secret'] },
        { name: 'rule 1', action, permissions: ['file:read', 'memory:read'] },
      ],
    },
    { tool: 'read_file', permission, path: '.env', classification: classifyPath('.env' as LogicalPath) },
  ]),
)

describe('evaluate', () => {
  it('agrees with the reference implementation', () => {
    fc.assert(
      fc.property(policies, names, (policy, name) => {
        // A command may run in a directory above the allowlist, which another test covers.
        fc.pre(policy.allowedPaths === undefined || !name.permission.startsWith('command:'))
        expect(single(policy, name).decision).toBe(referenceDecision(policy, name))
      }),
      { numRuns: times(50, 50_000), examples: restrictedReading },
    )
  })

  it('agrees with decide, in any order of calls', () => {
    fc.assert(
      fc.property(policies, fc.array(names, { minLength: 1, maxLength: 12 }), (policy, list) => {
        const compiled = compilePolicy(policy)
        for (const name of [...list, ...list]) {
          const { tool, permission, path, classification } = name
          const evaluated = compiled.evaluate({ tool, input: {}, accesses: [access(permission, path)] }).decision
          expect(compiled.decide(tool, permission, path as LogicalPath, classification)).toBe(evaluated)
          expect(compiled.forCall({ tool, input: {} }).decide(permission, path as LogicalPath, classification)).toBe(
            evaluated,
          )
        }
      }),
      runs,
    )
  })

  it('does not depend on the order of the rules', () => {
    fc.assert(
      fc.property(policies, names, fc.nat(), (policy, name, seed) => {
        const rules = [...(policy.rules ?? [])].sort(
          (a, b) => ((seed * 31 + a.name.charCodeAt(5)) % 7) - ((seed + b.name.charCodeAt(5)) % 7),
        )
        const other = { ...policy, rules }
        expect(single(other, name)).toEqual(single(policy, name))
        expect(compilePolicy(other).revision).toBe(compilePolicy(policy).revision)
      }),
      runs,
    )
  })

  it('never allows more with a deny rule added', () => {
    fc.assert(
      fc.property(policies, extraRule, names, (policy, extra, name) => {
        const { overrides: _, ...rule } = { ...extra, action: 'deny' as const }
        const more = { ...policy, rules: [...(policy.rules ?? []), rule] }
        expect(strength[single(more, name).decision]).toBeGreaterThanOrEqual(strength[single(policy, name).decision])
      }),
      runs,
    )
  })

  it('lifts a protection only by an allow rule that names it', () => {
    fc.assert(
      fc.property(policies, extraRule, names, (policy, extra, name) => {
        const protection = referenceProtection(name.permission, name.classification)
        fc.pre(protection !== undefined)
        const others = extra.overrides?.filter((override) => override !== protection?.name)
        const { overrides: _, ...rest } = extra
        const rule = { ...rest, action: 'allow' as const, ...(others?.length ? { overrides: others } : {}) }
        const rules = (policy.rules ?? []).filter((rule) => !rule.overrides?.includes(protection?.name as never))
        const decision = single({ ...policy, rules: [...rules, rule] }, name).decision
        expect(strength[decision]).toBeGreaterThanOrEqual(strength[protection?.decision ?? 'allow'])
      }),
      runs,
    )
  })

  it('is the stricter verdict of both names', () => {
    fc.assert(
      fc.property(policies, names, paths, (policy, name, other) => {
        const { tool, permission, path, classification } = name
        const both = judge(policy, tool, access(permission, path, { asked: other, classification }))
        const byPath = judge(policy, tool, access(permission, path, { classification })).decision
        const two = judge(policy, tool, access(permission, other, { classification })).decision
        expect(strength[both.decision]).toBe(Math.max(strength[byPath], strength[two]))
      }),
      runs,
    )
  })

  it('is the strictest verdict of all accesses', () => {
    fc.assert(
      fc.property(policies, fc.array(names, { minLength: 1, maxLength: 5 }), (policy, list) => {
        const tool = list[0]?.tool ?? ''
        const accesses = list.map(({ permission, path }) => access(permission, path))
        const each = accesses.map((item) => strength[judge(policy, tool, item).decision])
        expect(strength[judge(policy, tool, ...accesses).decision]).toBe(Math.max(...each))
      }),
      runs,
    )
  })

  it('mayContainAllowed is true above everything visible', () => {
    fc.assert(
      fc.property(policies, names, (policy, { tool, permission, path, classification }) => {
        const compiled = compilePolicy(policy)
        fc.pre(compiled.decide(tool, permission, path, classification) !== 'deny')
        let above = path as string
        do {
          above = above.slice(0, Math.max(0, above.lastIndexOf('/')))
          expect(compiled.mayContainAllowed(tool, permission, above as LogicalPath)).toBe(true)
        } while (above !== '')
      }),
      runs,
    )
  })
})

describe('protections', () => {
  it('show that a secret exists, and nothing else', () => {
    const verdictOn = (permission: Permission) => judge('autonomous', 'x', access(permission, '.env'))
    expect(verdictOn('file:list').decision).toBe('allow')
    expect(verdictOn('file:info').decision).toBe('allow')
    for (const permission of [
      'file:read',
      'file:search',
      'file:diff',
      'file:delete',
      'file:move',
      'file:copy',
    ] as const) {
      expect(verdictOn(permission)).toMatchObject({ decision: 'deny', code: 'POLICY_DENIED_SECRET', path: '.env' })
    }
  })

  it('hide a secret outside of the allowlist', () => {
    expect(judge({ preset: 'autonomous', allowedPaths: ['src/**'] }, 'x', access('file:list', '.env')).decision).toBe(
      'deny',
    )
  })

  it.each([
    ['secret', '.env', 'file:read'],
    ['generated', 'dist/a.js', 'file:write:replace'],
    ['lockfile', 'yarn.lock', 'file:write:replace'],
  ] as const)('is lifted only by a matching rule that names it: %s', (override, path, permission) => {
    const policy = (paths: string[], overrides: string[]) =>
      compilePolicy({ preset: 'autonomous', rules: [{ name: 'lift', action: 'allow', paths, overrides }] })
    const decide = (paths: string[], overrides: string[]) =>
      policy(paths, overrides).evaluate({ tool: 'x', input: {}, accesses: [access(permission, path)] }).decision
    expect(decide([path], [override])).toBe('allow')
    expect(decide(['**'], [override])).toBe('allow')
    expect(decide(['other/**'], [override])).not.toBe('allow')
    expect(decide([path], ['binary'])).not.toBe('allow')
  })

  describe('of a secret also need permission to read it for a change that reveals content', () => {
    type Lift = Omit<NonNullable<PolicyData['rules']>[number], 'name' | 'action'>
    const lift = (permission: Permission, more: readonly Lift[], denied: readonly Lift[] = []): Decision => {
      const lifting: Lift = { permissions: [permission], paths: ['.env'], overrides: ['secret'] }
      const policy = compilePolicy({
        preset: 'autonomous',
        rules: [
          ...[lifting, ...more].map((rule, index) => ({ ...rule, name: `lift ${index}`, action: 'allow' })),
          ...denied.map((rule, index) => ({ ...rule, name: `deny ${index}`, action: 'deny' })),
        ],
      })
      const secret = access(permission, '.env')
      const { decision } = policy.evaluate({ tool: 'x', input: {}, accesses: [secret] })
      expect(policy.decide('x', permission, secret.path, secret.classification)).toBe(decision)
      return decision
    }
    const read: Lift = { permissions: ['file:read'], overrides: ['secret'] }

    it.each(['file:write:replace', 'file:append', 'file:move', 'file:copy', 'file:patch:apply'] as const)(
      '%s',
      (permission) => {
        expect(lift(permission, [])).toBe('deny')
        expect(lift(permission, [read])).toBe('allow')
        expect(lift(permission, [{ ...read, paths: ['.env'], kinds: ['SECRET_LIKE'] }])).toBe('allow')
        expect(lift(permission, [{ ...read, paths: ['other'] }])).toBe('deny')
        expect(lift(permission, [{ ...read, kinds: ['TEXT_SOURCE'] }])).toBe('deny')
        expect(lift(permission, [{ ...read, overrides: ['generated'] }])).toBe('deny')
        expect(lift(permission, [{ permissions: ['file:read'] }])).toBe('deny')
        expect(lift(permission, [{ ...read, permissions: ['file:info'] }])).toBe('deny')
        expect(lift(permission, [read], [{ permissions: ['file:read'] }])).toBe('deny')
        expect(lift(permission, [read], [{ permissions: ['file:read'], paths: ['other'] }])).toBe('allow')
        expect(lift(permission, [read], [{ permissions: ['file:read'], kinds: ['TEXT_SOURCE'] }])).toBe('allow')
        expect(lift(permission, [read], [{ permissions: ['file:info'] }])).toBe('allow')
      },
    )

    it.each(['file:write:create', 'file:delete', 'file:search', 'file:diff'] as const)(
      'but not for %s',
      (permission) => {
        expect(lift(permission, [])).toBe('allow')
      },
    )
  })

  const changes = permissions.filter((permission) =>
    /^file:(?:write|append|delete|move|copy|patch)|^memory:write|^git/.test(permission),
  )
  it.each<[Partial<Classification>, string, Decision, string, readonly Permission[]]>([
    [
      { kind: 'GIT_INTERNAL' },
      'git',
      'deny',
      'POLICY_DENIED',
      permissions.filter((permission) => !permission.startsWith('git:')),
    ],
    [
      { kind: 'SECRET_LIKE' },
      'secret',
      'deny',
      'POLICY_DENIED_SECRET',
      permissions.filter((permission) => permission !== 'file:list' && permission !== 'file:info'),
    ],
    [{ protection: 'secret' }, 'secret', 'deny', 'POLICY_DENIED_SECRET', permissions.slice(1, 3)],
    [{ protection: 'generated' }, 'generated', 'deny', 'POLICY_DENIED', changes],
    [{ protection: 'vendored' }, 'vendored', 'deny', 'POLICY_DENIED', changes],
    [{ protection: 'lockfile' }, 'lockfile', 'ask', 'POLICY_DENIED', changes],
    [{ protection: 'mode' }, 'mode', 'deny', 'POLICY_DENIED', ['file:patch:apply']],
    [{ protection: 'binary' }, 'binary', 'deny', 'POLICY_DENIED', ['file:patch:apply']],
  ])('of %j equals that of %s: %s as %s', (classification, name, decision, code, concerned) => {
    const expected = classification.protection === 'secret' ? concerned : permissions
    for (const permission of expected) {
      const generated = access(permission, 'a.ts', {
        classification: { ...classifyPath('a.ts' as LogicalPath), ...classification },
      })
      const verdict = judge('autonomous', 'x', generated)
      const took = verdict.rules.filter(({ source }) => source === 'protection')
      const isConcerned = concerned.includes(permission)
      expect([permission, took]).toEqual([
        permission,
        isConcerned ? [{ name, action: decision, source: 'protection', path: 'a.ts' }] : [],
      ])
      expect([permission, verdict.decision]).toEqual([permission, isConcerned ? decision : 'allow'])
      if (isConcerned && decision === 'deny') expect(verdict.code).toBe(code)
      const lift = (override: string) =>
        judge(
          {
            preset: 'autonomous',
            rules: [{ name: 'lift', action: 'allow', overrides: [override] as never }],
          },
          'x',
          generated,
        ).decision
      if (name !== 'git') expect([permission, lift(name)]).toEqual([permission, 'allow'])
      if (isConcerned) expect(lift(name === 'mode' ? 'binary' : 'mode')).toBe(decision)
    }
  })

  it('never open files internal to git', () => {
    const all = ['secret', 'generated', 'vendored', 'lockfile', 'binary', 'mode'] as const
    const policy = {
      preset: 'autonomous',
      rules: [{ name: 'all', action: 'allow', paths: ['**'], overrides: all }],
    } as const
    for (const permission of ['file:list', 'file:info', 'file:read', 'file:write:create'] as const) {
      expect(judge(policy, 'x', access(permission, '.git/config')).decision).toBe('deny')
      expect(judge(policy, 'x', access(permission, 'a/.GIT/hooks/pre-commit')).decision).toBe('deny')
    }
  })

  it('cover a secret that a harmless name links to', () => {
    const policy = {
      preset: 'autonomous',
      rules: [{ name: 'open', action: 'allow', paths: ['.env'], overrides: ['secret'] }],
    } as const
    const link = access('file:read', '.env', { asked: 'config' as LogicalPath })
    expect(judge(policy, 'read_file', link)).toMatchObject({
      decision: 'deny',
      code: 'POLICY_DENIED_SECRET',
      path: 'config',
    })
  })

  it('allow a command to run in a directory of generated files', () => {
    const dist = { classification: classifyDirectory('dist' as LogicalPath) }
    expect(judge('autonomous', 'run_command', access('command:run', 'dist', dist)).decision).toBe('allow')
  })
})

describe('codes and reasons', () => {
  it('name the preset, the short form, the rule and the tool', () => {
    const write = access('file:write:create', 'src/a.ts')
    expect(judge('readOnly', 'write_file', write)).toMatchObject({
      code: 'READ_ONLY',
      reason: expect.stringContaining('preset "readOnly"'),
    })
    expect(judge({ preset: 'autonomous', readOnlyPaths: ['src'] }, 'write_file', write)).toMatchObject({
      code: 'READ_ONLY',
    })
    expect(
      judge({ preset: 'autonomous', readOnlyPaths: ['src'] }, 'read_file', access('file:read', 'src/a.ts')).decision,
    ).toBe('allow')
    expect(judge({ preset: 'autonomous', deniedPaths: ['src'] }, 'write_file', write)).toMatchObject({
      code: 'POLICY_DENIED',
      reason: expect.stringContaining('deniedPaths'),
      rules: [
        { name: 'deniedPaths', action: 'deny', source: 'rule', path: 'src/a.ts' },
        { name: 'autonomous', action: 'allow', source: 'preset', path: 'src/a.ts' },
      ],
    })
    expect(judge({ preset: 'autonomous', tools: { write_file: 'deny' } }, 'write_file', write).reason).toContain(
      'write_file',
    )
    expect(judge({}, 'write_file', write)).toMatchObject({
      code: 'POLICY_DENIED',
      rules: [{ name: 'default', source: 'default' }],
    })
    const noCommands = {
      preset: 'autonomous',
      rules: [{ name: 'no commands', action: 'deny', permissions: ['command:*'] }],
    } as const
    expect(judge(noCommands, 'run_command', access('command:run', ''))).toMatchObject({ code: 'COMMAND_DENIED' })
  })

  it('report a secret as such, even if something else denies too', () => {
    const policy = { preset: 'readOnly', deniedPaths: ['**'], tools: { write_file: 'deny' } } as const
    expect(judge(policy, 'write_file', access('file:write:create', '.env')).code).toBe('POLICY_DENIED_SECRET')
  })

  it('do not reveal the target of a path', () => {
    const link = access('file:read', 'private/x.ts', { asked: 'open.ts' as LogicalPath })
    const verdict = judge({ preset: 'autonomous', deniedPaths: ['private'] }, 'read_file', link)
    expect(verdict.decision).toBe('deny')
    expect(verdict.reason).not.toContain('private')
    expect(verdict.path).toBe('open.ts')
  })
})

describe('allowlists and walks', () => {
  const policy = compilePolicy({ preset: 'autonomous', allowedPaths: ['src/app/**'], deniedPaths: ['src/app/private'] })
  const directory = (path: string, recursive = true) =>
    policy.evaluate({
      tool: 'list_directory',
      input: {},
      accesses: [access('file:list', path, { classification: classifyDirectory(path as LogicalPath), recursive })],
    }).decision

  it('allow walks to start at directories above allowed paths', () => {
    expect(['', 'src', 'src/app', 'src/app/deep'].map((path) => directory(path))).toEqual(Array(4).fill('allow'))
    expect(['docs', 'src/app/private', 'src/other', 'src/app/private/deep'].map((path) => directory(path))).toEqual(
      Array(4).fill('deny'),
    )
    expect(
      ['', 'src', 'docs', 'src/app/private'].map((path) =>
        policy.mayContainAllowed('x', 'file:list', path as LogicalPath),
      ),
    ).toEqual([true, true, false, false])
  })

  it('do not treat a file as a directory above allowed paths', () => {
    const list = compilePolicy({ preset: 'autonomous', allowedPaths: ['src/app/*.ts'] })
    const file = classifyPath('src' as LogicalPath)
    expect(list.decide('x', 'file:list', 'src' as LogicalPath, file)).toBe('deny')
    expect(list.forCall({ tool: 'x', input: {} }).decide('file:list', 'src' as LogicalPath, file)).toBe('deny')
    expect(list.decide('x', 'file:list', 'src' as LogicalPath, classifyDirectory('src' as LogicalPath))).toBe('allow')
  })

  it('hide files outside', () => {
    const sees = (path: string) =>
      policy.decide('x', 'file:list', path as LogicalPath, classifyPath(path as LogicalPath))
    expect(['src/app/a.ts', 'src/a.ts', 'a.ts', 'src/app/private/a.ts'].map(sees)).toEqual([
      'allow',
      'deny',
      'deny',
      'deny',
    ])
  })

  it('distinguish directories with names of equal length', () => {
    const denied = compilePolicy({ preset: 'autonomous', deniedPaths: ['aa/*.ts'] })
    const plain = classifyPath('x.ts' as LogicalPath)
    const sees = (path: string) => denied.decide('x', 'file:read', path as LogicalPath, plain)
    expect(['aa/x.ts', 'bb/x.ts', 'aa/x.ts', 'x.ts', 'aa/b/x.ts'].map(sees)).toEqual([
      'deny',
      'allow',
      'deny',
      'allow',
      'allow',
    ])
    const open = compilePolicy({ preset: 'autonomous', deniedPaths: ['aa'] })
    const opens = (path: string) => open.decide('x', 'file:read', path as LogicalPath, plain)
    expect(['aa/x.ts', 'bb/x.ts', 'aa/x.ts'].map(opens)).toEqual(['deny', 'allow', 'deny'])
  })

  it.each<[string[], string, Decision]>([
    [['aab'], 'aa/x.ts', 'allow'],
    [['aab'], 'aab/x.ts', 'deny'],
    [['aa/b'], 'aa/x.ts', 'allow'],
    [['aa/b'], 'aa/b/x.ts', 'deny'],
    [['bb'], 'aa/x.ts', 'allow'],
    [['bb'], 'bb/aa', 'deny'],
    [['x.ts'], 'aa/x.ts', 'allow'],
    [['x.ts'], 'x.ts', 'deny'],
    [['aa/*.ts'], 'aa/b.md', 'allow'],
    [['aa/*.ts'], 'aa/b.ts', 'deny'],
  ])('never confuse directories: without %j, %s: %s', (deniedPaths, path, expected) => {
    const others = ['aa/y.ts', 'aab/y.ts', 'aa/b/y.ts', 'bb/y.ts', 'bb/aa/y.ts', 'y.ts', 'a/y.ts', 'aa']
    const plain = classifyPath('x.ts' as LogicalPath)
    for (const other of others) {
      const fast = compilePolicy({ preset: 'autonomous', deniedPaths })
      const sees = (name: string) => fast.decide('x', 'file:read', name as LogicalPath, plain)
      sees(other)
      expect([other, sees(path)]).toEqual([other, expected])
      sees(other)
      expect([other, sees(path)]).toEqual([other, expected])
    }
  })

  it('do not lift the protection of a directory because a path below it is readable', () => {
    const rules = [{ name: 'key', action: 'allow', paths: ['.ssh/id.pub'], overrides: ['secret'] }] as const
    const search = access('file:search', '.ssh', {
      classification: classifyDirectory('.ssh' as LogicalPath),
      recursive: true,
    })
    expect(judge({ preset: 'autonomous', rules }, 'search_text', search).decision).toBe('deny')
  })

  it('allow no change of a directory above allowed paths', () => {
    const remove = access('file:delete', 'src', {
      classification: classifyDirectory('src' as LogicalPath),
      recursive: true,
    })
    expect(policy.evaluate({ tool: 'x', input: {}, accesses: [remove] }).decision).toBe('deny')
  })

  it('do not let an ask rule open paths outside of the list', () => {
    const policy = { preset: 'supervised', allowedPaths: ['src/**'], tools: { write_file: 'ask' } } as const
    expect(judge(policy, 'write_file', access('file:write:create', 'docs/a.md')).decision).toBe('deny')
    expect(judge(policy, 'write_file', access('file:write:create', 'package-lock.json')).decision).toBe('deny')
    expect(judge(policy, 'write_file', access('file:write:create', 'src/a.ts')).decision).toBe('ask')
  })

  it('allow commands above allowed paths only with a preset', () => {
    const root = access('command:run', '', { classification: classifyDirectory('' as LogicalPath) })
    const docs = access('command:run', 'docs', { classification: classifyDirectory('docs' as LogicalPath) })
    expect(policy.evaluate({ tool: 'run_command', input: {}, accesses: [root] }).decision).toBe('allow')
    expect(policy.evaluate({ tool: 'run_command', input: {}, accesses: [docs] }).decision).toBe('deny')
    expect(judge({ allowedPaths: ['src/**'] }, 'run_command', root).decision).toBe('deny')
  })

  it('allow nothing with an empty list', () => {
    expect(judge({ preset: 'autonomous', allowedPaths: [] }, 'x', access('file:read', 'a.ts')).decision).toBe('deny')
  })
})

describe('forCall', () => {
  it.each<[PolicyData, boolean]>([
    [{ preset: 'autonomous' }, true],
    [{ preset: 'autonomous', tools: { x: 'ask' } }, true],
    [{ preset: 'autonomous', rules: [{ name: 'r', action: 'deny', tools: ['x'] }] }, true],
    [
      { preset: 'autonomous', rules: [{ name: 'r', action: 'deny', permissions: ['file:write:*'], paths: ['a'] }] },
      true,
    ],
    [{ preset: 'autonomous', rules: [{ name: 'r', action: 'deny', paths: ['a'] }] }, false],
    [{ preset: 'autonomous', rules: [{ name: 'r', action: 'deny', kinds: ['TEXT_DOC'] }] }, false],
    [{ preset: 'autonomous', allowedPaths: ['**'] }, false],
    [{ preset: 'autonomous', deniedPaths: ['a'] }, false],
    [{ preset: 'autonomous', readOnlyPaths: ['a'] }, true],
  ])('%j has one decision for reading any name: %j', (policy, isUniform) => {
    expect(compilePolicy(policy).forCall({ tool: 'x', input: {} }).isUniform('file:read')).toBe(isUniform)
  })

  it.each<[string, PolicyData, string, boolean]>([
    ['a preset', { preset: 'autonomous' }, 'a', true],
    ['no preset', {}, 'a', false],
    ['a closed tool', { preset: 'autonomous', tools: { x: 'deny' } }, 'a', false],
    ['a gated tool', { preset: 'autonomous', tools: { x: 'ask' } }, 'a', true],
    ['a list', { allowedPaths: ['a/b/**'] }, 'a', true],
    ['a list, elsewhere', { allowedPaths: ['a/b/**'] }, 'c', false],
    ['a list for another tool', { allowedPaths: ['a/b/**'], tools: { y: 'allow' } }, 'a', false],
    ['a list for this tool', { allowedPaths: ['a/b/**'], tools: { x: 'allow' } }, 'a', true],
    ['a preset and a list', { preset: 'autonomous', allowedPaths: ['a/b'] }, 'c', false],
    ['a rule', { rules: [{ name: 'r', action: 'allow', paths: ['a/b'] }] }, 'a', true],
    ['a question', { rules: [{ name: 'r', action: 'ask', paths: ['a/b'] }] }, 'a', true],
    ['a rule, elsewhere', { rules: [{ name: 'r', action: 'allow', paths: ['a/b'] }] }, 'c', false],
    ['a rule on everything', { rules: [{ name: 'r', action: 'allow' }] }, 'a', true],
    ['a rule on changes', { rules: [{ name: 'r', action: 'allow', permissions: ['file:append'] }] }, 'a', false],
    ['a denial', { rules: [{ name: 'r', action: 'deny', paths: ['a/b'] }] }, 'a', false],
    ['a denial of part of it', { preset: 'autonomous', deniedPaths: ['a/b'] }, 'a', true],
    ['a denial of all of it', { preset: 'autonomous', deniedPaths: ['a'] }, 'a', false],
    ['a denial of everything', { preset: 'autonomous', rules: [{ name: 'r', action: 'deny' }] }, 'a', false],
    [
      'a denial of one kind',
      { preset: 'autonomous', rules: [{ name: 'r', action: 'deny', kinds: ['TEXT_DOC'], paths: ['a'] }] },
      'a',
      true,
    ],
  ])('%s decides whether a directory may be entered', (_, policy, directory, leads) => {
    const compiled = compilePolicy(policy)
    const call = compiled.forCall({ tool: 'x', input: {} })
    expect(call.mayContainAllowed('file:read', directory as LogicalPath)).toBe(leads)
    expect(compiled.mayContainAllowed('x', 'file:read', directory as LogicalPath)).toBe(leads)
    const changes = compilePolicy({ ...policy, preset: 'readOnly' })
    expect(changes.mayContainAllowed('x', 'file:append', directory as LogicalPath)).toBe(false)
  })
})

describe('decide', () => {
  const plain = classifyPath('x.ts' as LogicalPath)
  const secret = classifyPath('.env' as LogicalPath)
  const decides = (policy: PolicyData, permission: Permission, classification: Classification, ...list: string[]) => {
    const compiled = compilePolicy(policy)
    return list.map((path) => compiled.decide('x', permission, path as LogicalPath, classification))
  }

  it('distinguishes names of one directory, in any order', () => {
    const names = ['src/a.ts', 'src/b.ts', 'src/a.ts', 'src/deep/a.ts', 'a.ts', 'docs/a.ts']
    const expected = ['allow', 'deny', 'allow', 'deny', 'deny', 'deny']
    expect(decides({ preset: 'autonomous', allowedPaths: ['src/a.ts'] }, 'file:read', plain, ...names)).toEqual(
      expected,
    )
    expect(decides({ allowedPaths: ['src/a.*'] }, 'file:read', plain, ...names)).toEqual(expected)
    const rules = [{ name: 'r', action: 'allow', paths: ['src/a.ts'] }] as const
    expect(decides({ rules }, 'file:append', plain, ...names)).toEqual(expected)
    expect(decides({ preset: 'supervised', rules }, 'file:append', plain, ...names)).toEqual(
      expected.map((decision) => (decision === 'deny' ? 'ask' : decision)),
    )
    expect(decides({ preset: 'autonomous', allowedPaths: [] }, 'file:read', plain, 'a', 'b/c')).toEqual([
      'deny',
      'deny',
    ])
  })

  it('distinguishes kinds in one directory', () => {
    const policy = compilePolicy({
      preset: 'autonomous',
      tools: { x: 'allow' },
      rules: [{ name: 'r', action: 'deny', kinds: ['TEXT_DOC'], paths: ['docs/**'] }],
    })
    const decide = (path: string) =>
      policy.decide('x', 'file:read', path as LogicalPath, classifyPath(path as LogicalPath))
    expect(['docs/a.md', 'docs/a.ts', 'docs/b.md', 'a.md', 'docs/.env'].map(decide)).toEqual([
      ...['deny', 'allow', 'deny', 'allow', 'deny'],
    ])
  })

  it('evaluates reading for each secret if a change reveals content', () => {
    const rules = [
      { name: 'change', action: 'allow', permissions: ['file:append', 'file:write:create'], overrides: ['secret'] },
      { name: 'read', action: 'allow', permissions: ['file:read'], paths: ['a/.env'], overrides: ['secret'] },
      { name: 'look', action: 'ask', permissions: ['file:read'], paths: ['a/.npmrc'] },
    ] as const
    const names = ['a/.env', 'a/.npmrc', 'a/id_rsa', 'a/.env']
    expect(decides({ rules }, 'file:append', secret, ...names)).toEqual(['allow', 'deny', 'deny', 'allow'])
    expect(decides({ rules }, 'file:write:create', secret, ...names)).toEqual(Array(4).fill('allow'))
  })

  it('combines the decision for the tool with rules and protections', () => {
    const names = ['a.ts', 'b.ts']
    const both = (decision: Decision) => [decision, decision]
    expect(decides({ preset: 'autonomous', tools: { x: 'ask' } }, 'file:read', plain, ...names)).toEqual(both('ask'))
    expect(decides({ preset: 'autonomous', tools: { x: 'deny' } }, 'file:read', plain, ...names)).toEqual(both('deny'))
    expect(decides({ preset: 'autonomous', tools: { x: 'allow' } }, 'file:read', secret, ...names)).toEqual(
      both('deny'),
    )
    expect(decides({ rules: [{ name: 'r', action: 'allow' }] }, 'file:read', secret, ...names)).toEqual(both('deny'))
    const lock = classifyPath('yarn.lock' as LogicalPath)
    expect(decides({ preset: 'autonomous' }, 'file:append', lock, ...names)).toEqual(both('ask'))
    expect(decides({ tools: { x: 'allow' } }, 'file:append', plain, ...names)).toEqual(both('deny'))
    expect(decides({ preset: 'supervised' }, 'file:append', plain, ...names)).toEqual(both('ask'))
    expect(decides({ preset: 'supervised' }, 'file:read', plain, ...names)).toEqual(both('allow'))
    expect(decides({ preset: 'supervised', tools: { x: 'allow' } }, 'file:append', plain, ...names)).toEqual(
      both('allow'),
    )
    expect(decides({ rules: [{ name: 'r', action: 'ask' }] }, 'file:append', plain, ...names)).toEqual(both('ask'))
  })

  it('enters a directory if a rule allows something below, and shows nothing else there', () => {
    const directory = classifyDirectory('src' as LogicalPath)
    const only = (action: Decision) => ({ rules: [{ name: 'r', action, paths: ['src/a/*.ts'] }] })
    expect(decides(only('allow'), 'file:list', directory, 'src', 'src/a', 'docs', '')).toEqual([
      ...['allow', 'allow', 'deny', 'allow'],
    ])
    expect(decides(only('ask'), 'file:list', directory, 'src', 'src/a')).toEqual(['deny', 'deny'])
    expect(decides(only('allow'), 'file:delete', directory, 'src', 'src/a')).toEqual(['deny', 'deny'])
    expect(decides({ rules: [{ name: 'r', action: 'allow' }] }, 'file:list', directory, 'src')).toEqual(['allow'])
    const all = { preset: 'autonomous', rules: [{ name: 'r', action: 'deny', kinds: ['TEXT_DOC'] }] } as const
    expect(decides(all, 'file:list', directory, 'src')).toEqual(['allow'])
  })

  it('allows a command above allowed paths, and nothing else', () => {
    const directory = classifyDirectory('src' as LogicalPath)
    for (const permission of ['command:run', 'command:background'] as const) {
      const policy = { preset: 'autonomous', allowedPaths: ['src/app/*.ts'] } as const
      expect(decides(policy, permission, directory, 'src', 'docs', 'src/app')).toEqual(['allow', 'deny', 'allow'])
      expect(decides({ ...policy, preset: 'supervised' }, permission, directory, 'src')).toEqual(['ask'])
      expect(decides({ ...policy, preset: 'readOnly' }, permission, directory, 'src')).toEqual(['deny'])
    }
  })

  it('agrees with the rules that evaluate lists', () => {
    const names = (policy: PolicyData, permission: Permission, path = 'src/a.ts') =>
      judge(policy, 'x', access(permission, path)).rules.map(({ action, source, name }) => [action, source, name])
    expect(names({ allowedPaths: ['src'] }, 'file:read')).toEqual([['allow', 'rule', 'allowedPaths']])
    expect(names({ allowedPaths: ['src'] }, 'file:read', 'a')).toEqual([['deny', 'default', 'default']])
    expect(names({ preset: 'readOnly', allowedPaths: ['src'] }, 'file:append', 'a')).toEqual([
      ['deny', 'preset', 'readOnly'],
    ])
    expect(names({ preset: 'supervised', tools: { x: 'allow' } }, 'file:append')).toEqual([['allow', 'tool', 'x']])
    expect(names({ preset: 'supervised', rules: [{ name: 'r', action: 'allow' }] }, 'file:append')).toEqual([
      ['allow', 'rule', 'r'],
    ])
    expect(names({ preset: 'supervised', rules: [{ name: 'r', action: 'allow' }] }, 'file:read')).toEqual([
      ['allow', 'rule', 'r'],
      ['allow', 'preset', 'supervised'],
    ])
    expect(names({ preset: 'autonomous' }, 'file:append')).toEqual([['allow', 'preset', 'autonomous']])
  })
})

describe('the network', () => {
  const reaches = (hosts: string[] | undefined, ...urls: string[]) => {
    const policy = compilePolicy(hosts === undefined ? {} : { network: { hosts } })
    return urls.map((url) => policy.mayReach(new URL(url)))
  }

  it('reaches only the listed hosts, over http and https', () => {
    const hosts = ['Example.org', '*.example.net', 'localhost:8080']
    expect(
      reaches(
        hosts,
        ...['https://example.org/a', 'http://EXAMPLE.org', 'https://a.example.net', 'http://localhost:8080'],
        'https://example.org:443',
      ),
    ).toEqual(Array(5).fill(true))
    expect(
      reaches(
        hosts,
        ...['ftp://example.org', 'ws://example.org', 'https://example.org:8443', 'http://localhost', 'file:///a'],
        ...['https://example.net', 'https://example.org.evil', 'https://an-example.org'],
      ),
    ).toEqual(Array(8).fill(false))
    expect(reaches(undefined, 'https://example.org')).toEqual([false])
    expect(reaches([], 'https://example.org')).toEqual([false])
    expect(reaches(['*'], 'https://example.org', 'http://a', 'ftp://a')).toEqual([true, true, false])
  })
})

describe('combineVerdicts', () => {
  const allow: Verdict = { decision: 'allow', reason: 'a', rules: [{ name: 'a', action: 'allow', source: 'rule' }] }
  const ask: Verdict = { decision: 'ask', reason: 'b', rules: [{ name: 'b', action: 'ask', source: 'rule' }] }
  const deny: Verdict = { decision: 'deny', reason: 'c', path: 'p', hint: 'h', code: 'READ_ONLY', rules: [] }

  it('returns the stricter verdict, or the first of equal ones, with the rules of both in order', () => {
    expect(combineVerdicts(allow, ask)).toEqual({ ...ask, rules: [...allow.rules, ...ask.rules] })
    expect(combineVerdicts(ask, allow)).toEqual({ ...ask, rules: [...ask.rules, ...allow.rules] })
    expect(combineVerdicts(ask, deny)).toEqual({ ...deny, rules: ask.rules })
    expect(combineVerdicts(deny, ask)).toEqual({ ...deny, rules: ask.rules })
    expect(combineVerdicts(ask, { ...ask, reason: 'other' }).reason).toBe('b')
  })

  it('asks about a plan even if policy allows the call', () => {
    const { decision, reason, rules } = combineVerdicts(allow, planVerdict)
    expect([decision, reason, rules]).toEqual([
      'ask',
      'A plan needs an approval',
      [...allow.rules, { name: 'plan', action: 'ask', source: 'plan' }],
    ])
  })

  it('deniedError repeats the denial', () => {
    expect(deniedError(deny)).toMatchObject({ code: 'READ_ONLY', message: 'c', details: { path: 'p', hint: 'h' } })
    const { path: _path, hint: _hint, ...bare } = deny
    expect(Object.keys(deniedError(bare).details)).toEqual([])
  })
})

describe('the fields of a verdict', () => {
  const reason = (policy: PolicyData | string, tool: string, ...accesses: GuardedAccess[]) =>
    judge(policy, tool, ...accesses).reason
  const write = access('file:write:create', 'src/a.ts')
  const rules = (action: Decision, name = 'r') => ({ preset: 'autonomous', rules: [{ name, action }] }) as const

  it.each([
    ['Policy allows file:write:create of "src/a.ts": preset "autonomous"', () => reason('autonomous', 'x', write)],
    ['Policy asks about file:write:create of "src/a.ts": preset "supervised"', () => reason('supervised', 'x', write)],
    ['Policy denies file:write of "src/a.ts": preset "readOnly"', () => reason('readOnly', 'x', write)],
    ['Policy denies file:write of "src/a.ts": rule "r"', () => reason(rules('deny'), 'x', write)],
    ['Policy asks about file:write:create of "src/a.ts": rule "r"', () => reason(rules('ask'), 'x', write)],
    ['Policy denies file:write of "src/a.ts": deniedPaths', () => reason({ deniedPaths: ['src'] }, 'x', write)],
    ['Policy denies file:write of "src/a.ts": readOnlyPaths', () => reason({ readOnlyPaths: ['src'] }, 'x', write)],
    [
      'Policy allows file:write:create of "src/a.ts": allowedPaths',
      () => reason({ allowedPaths: ['src'] }, 'x', write),
    ],
    ['Policy denies file:write of "src/a.ts": nothing allows it', () => reason({}, 'x', write)],
    ['Policy denies x: the tool x is set to "deny"', () => reason({ tools: { x: 'deny' } }, 'x')],
    ['Policy denies x: nothing allows it', () => reason({}, 'x')],
    ['Policy allows x: preset "autonomous"', () => reason('autonomous', 'x')],
    ['Policy asks about x: rule "r"', () => reason(rules('ask'), 'x')],
  ])('%s', (expected, message) => {
    expect(message()).toBe(expected)
  })

  it('contain no undefined fields', () => {
    const reads = access('file:read', 'src/a.ts')
    expect(judge('autonomous', 'x', reads)).toStrictEqual({
      decision: 'allow',
      reason: 'Policy allows file:read of "src/a.ts": preset "autonomous"',
      rules: [{ name: 'autonomous', action: 'allow', source: 'preset', path: 'src/a.ts' }],
    })
    expect(judge({ rules: [{ name: 'r', action: 'ask' }], tools: { x: 'ask' } }, 'x', reads, write)).toStrictEqual({
      decision: 'ask',
      reason: 'Policy asks about x: the tool x is set to "ask"',
      rules: [
        { name: 'x', action: 'ask', source: 'tool' },
        { name: 'r', action: 'ask', source: 'rule', path: 'src/a.ts' },
        { name: 'r', action: 'ask', source: 'rule', path: 'src/a.ts' },
      ],
    })
    expect(judge('supervised', 'x', write)).toStrictEqual({
      decision: 'ask',
      reason: 'Policy asks about file:write:create of "src/a.ts": preset "supervised"',
      rules: [{ name: 'supervised', action: 'ask', source: 'preset', path: 'src/a.ts' }],
      path: 'src/a.ts',
    })
    expect(judge('autonomous', 'x').rules).toStrictEqual([{ name: 'autonomous', action: 'allow', source: 'preset' }])
    expect(judge({}, 'x').rules).toStrictEqual([{ name: 'default', action: 'deny', source: 'default' }])
    expect(judge({ tools: { x: 'deny' } }, 'x', reads, write).rules).toStrictEqual([
      { name: 'x', action: 'deny', source: 'tool' },
    ])
    expect(judge({ tools: { x: 'deny' } }, 'x')).toStrictEqual({
      decision: 'deny',
      code: 'POLICY_DENIED',
      reason: 'Policy denies x: the tool x is set to "deny"',
      rules: [{ name: 'x', action: 'deny', source: 'tool' }],
    })
  })

  it('contain the hint of a protection only if it denies', () => {
    const generated = access('file:write:replace', 'dist/a.js')
    const { hint } = generated.classification
    expect(hint).toContain('source')
    expect(judge('autonomous', 'x', generated)).toStrictEqual({
      decision: 'deny',
      code: 'POLICY_DENIED',
      reason: `Policy denies file:write of "dist/a.js": ${generated.classification.reason}`,
      rules: [
        { name: 'generated', action: 'deny', source: 'protection', path: 'dist/a.js' },
        { name: 'autonomous', action: 'allow', source: 'preset', path: 'dist/a.js' },
      ],
      path: 'dist/a.js',
      hint,
    })
    expect(judge({ deniedPaths: ['dist'] }, 'x', generated)).not.toHaveProperty('hint')
    expect(judge({ tools: { x: 'deny' } }, 'x', generated)).not.toHaveProperty('hint')
    const git = access('file:read', '.git/config')
    expect(judge('autonomous', 'x', git)).toMatchObject({ reason: expect.stringContaining(git.classification.reason) })
  })

  it('list rules in order, and paths of one rule in the order of the call', () => {
    const rules = ['a', 'b', 'c'].map((name) => ({ name, action: 'ask' as const, paths: [`${name}*`] }))
    const policy: PolicyData = { preset: 'autonomous', rules }
    const accesses = ['c1', 'b2', 'a1', 'b1', 'c2'].map((path) => access('file:read', path))
    expect(
      judge(policy, 'x', ...accesses)
        .rules.filter(({ source }) => source === 'rule')
        .map(({ path }) => path),
    ).toEqual(['a1', 'b2', 'b1', 'c1', 'c2'])
  })

  it('list the protection of git before that of secrets, and both before the tool', () => {
    const accesses = ['.env', 'a.ts', '.git/config'].map((path) => access('file:read', path))
    const { rules: took, code } = judge({ tools: { x: 'deny' }, deniedPaths: ['**'] }, 'x', ...accesses)
    expect(took.map(({ name }) => name)).toEqual(['git', 'secret', 'x', 'deniedPaths', 'deniedPaths', 'deniedPaths'])
    expect(code).toBe('POLICY_DENIED')
  })

  it('list denials before questions, and within both the protections of git and secrets, the tool, and rules by name', () => {
    const policy = {
      preset: 'supervised',
      tools: { x: 'ask' },
      rules: [
        { name: 'b', action: 'ask' },
        { name: 'a', action: 'ask' },
        { name: 'open', action: 'allow', permissions: ['file:list'] },
        { name: 'no', action: 'deny', paths: ['yarn.lock'], permissions: ['file:append'] },
      ],
    } as const
    const accesses = [
      access('file:write:create', 'yarn.lock'),
      access('file:append', 'yarn.lock'),
      access('file:read', '.env'),
    ]
    const { rules: took } = judge(policy, 'x', ...accesses)
    const order = took.map(({ action, source, name }) => `${action} ${source} ${name}`)
    expect([...new Set(order)]).toEqual([
      'deny protection secret',
      'deny rule no',
      'ask tool x',
      'ask rule a',
      'ask rule b',
      'ask protection lockfile',
      'ask preset supervised',
      'allow preset supervised',
    ])
    expect(order.filter((entry) => entry === 'ask tool x')).toHaveLength(1)
    expect(took[0]).toMatchObject({ path: '.env' })
  })
})

describe('rules on calls', () => {
  const call = (rule: object, input: Record<string, unknown>, more: object = {}) =>
    compilePolicy({ preset: 'autonomous', rules: [{ name: 'rule', action: 'deny', ...rule }] }).evaluate({
      tool: 'write_file',
      input,
      accesses: [access('file:write:create', 'a.txt')],
      ...more,
    }).decision

  it('match input fields, and paths in any spelling', () => {
    expect(call({ args: { mode: ['REPLACE_*'] } }, { mode: 'REPLACE_EXISTING' })).toBe('deny')
    expect(call({ args: { mode: ['REPLACE_*'] } }, { mode: 'CREATE_NEW' })).toBe('allow')
    expect(call({ args: { mode: ['*'] } }, {})).toBe('allow')
    expect(call({ args: { url: ['https://x/*'] } }, { url: 'https://x/a/b' })).toBe('deny')
    expect(call({ args: { path: ['src/*'] } }, { path: './docs/.././src//a.ts' })).toBe('deny')
    expect(call({ args: { count: ['3'] } }, { count: 3 })).toBe('deny')
    expect(call({ args: { edits: ['*rm*'] } }, { edits: [{ newText: 'a' }, { newText: 'x rm y' }] })).toBe('deny')
    expect(call({ args: { toString: ['*'] } }, {})).toBe('allow')
  })

  it('match if every value matches for allow rules, and any value for deny rules', () => {
    const open = { rules: [{ name: 'open', action: 'allow', args: { names: ['a*'] } }] }
    const decide = (names: string[]) =>
      compilePolicy(open).evaluate({ tool: 'x', input: { names }, accesses: [access('file:read', 'f')] }).decision
    expect(decide(['a1', 'a2'])).toBe('allow')
    expect(decide(['a1', 'b'])).toBe('deny')
    expect(decide([])).toBe('deny')
  })

  it('match commands and the risk of the task', () => {
    expect(call({ commands: ['npm publish*'] }, { command: 'npm publish --tag x' })).toBe('deny')
    expect(call({ commands: ['npm publish*'] }, { command: 'true' }, { commands: ['true', 'npm publish'] })).toBe(
      'deny',
    )
    expect(call({ commands: ['npm publish*'] }, { command: 'npm test' })).toBe('allow')
    expect(call({ risk: ['high'] }, {}, { task: { risk: 'high' } })).toBe('deny')
    expect(call({ risk: ['high'] }, {}, { task: {} })).toBe('allow')
  })

  it('match tools by name, together with rules on every tool', () => {
    const policy = compilePolicy({
      preset: 'autonomous',
      rules: [
        { name: 'a', action: 'deny', tools: ['write_*', 'x'] },
        { name: 'b', action: 'deny', args: { query: ['no'] } },
        { name: 'c', action: 'deny', paths: ['other'] },
      ],
    })
    const decide = (tool: string, query: string) =>
      policy.evaluate({ tool, input: { query }, accesses: [access('file:read', 'a.ts')] }).decision
    const expected = { write_file: 'deny', x: 'deny', read_file: 'allow', xy: 'allow' } as const
    for (const _ of [0, 1]) {
      for (const [tool, decision] of Object.entries(expected)) {
        expect([tool, decide(tool, 'yes')]).toEqual([tool, decision])
        expect([tool, decide(tool, 'no')]).toEqual([tool, 'deny'])
        expect(policy.decide(tool, 'file:read', 'a.ts' as LogicalPath, classifyPath('a.ts' as LogicalPath))).toBe(
          decision,
        )
      }
    }
  })

  it('have the same decision for a walk of the same call', () => {
    const policy = compilePolicy({
      preset: 'autonomous',
      rules: [{ name: 'r', action: 'deny', args: { query: ['*key*'] } }],
    })
    const plain = classifyPath('a.ts' as LogicalPath)
    const decide = (query: string) =>
      policy.forCall({ tool: 's', input: { query } }).decide('file:search', 'a.ts' as LogicalPath, plain)
    expect(decide('api key')).toBe('deny')
    expect(decide('name')).toBe('allow')
    expect(policy.forCall({ tool: 's', input: { query: 'a' } }).key).toBe(
      policy.forCall({ tool: 's', input: { query: 'b' } }).key,
    )
    expect(policy.forCall({ tool: 's', input: { query: 'a' } }).key).not.toBe(
      policy.forCall({ tool: 's', input: { query: 'key' } }).key,
    )
  })

  it('deny the notes to every tool but operations of the workspace if the ACL is on', () => {
    const read = (policy: PolicyData, tool: string, path: string, permission: Permission = 'file:read') =>
      judge({ preset: 'autonomous', ...policy }, tool, access(permission, path))
    const closed = read({ memory: { acl: true } }, 'read_file', 'memory/a.md')
    expect(closed).toMatchObject({ decision: 'deny', code: 'POLICY_DENIED', path: 'memory/a.md' })
    expect(closed.reason).toBe('Policy denies file:read of "memory/a.md": memory.acl')
    for (const tool of ['undo', 'rollback', 'commit', 'git_checkout']) {
      expect([tool, read({ memory: { acl: true } }, tool, 'memory/a.md').decision]).toEqual([tool, 'allow'])
    }
    const decisions = (policy: PolicyData) =>
      ['memory', 'memory/a', 'notes/a', 'a/memory/b'].map((path) => read(policy, 'write_file', path).decision)
    expect(decisions({ memory: { acl: true } })).toEqual(['deny', 'deny', 'allow', 'allow'])
    expect(decisions({ memory: { acl: true, path: './notes/' } })).toEqual(['allow', 'allow', 'deny', 'allow'])
    expect(decisions({ memory: { acl: false } })).toEqual(Array(4).fill('allow'))
    expect(decisions({ memory: {} })).toEqual(Array(4).fill('allow'))
    for (const permission of ['memory:read', 'command:run'] as const) {
      expect(read({ memory: { acl: true } }, 'x', 'memory/a', permission).decision).toBe('allow')
    }
  })

  it('need every line, every field and the risk to match for an allow rule', () => {
    const rule = { name: 'r', action: 'allow', commands: ['npm test*'], args: { cwd: ['src'] }, risk: ['low'] } as const
    const decide = (commands: string[] | undefined, cwd: string, risk: string, command?: string) =>
      compilePolicy({ rules: [rule] }).evaluate({
        tool: 'x',
        input: { cwd, command },
        accesses: [],
        task: { risk },
        ...(commands === undefined ? {} : { commands }),
      }).decision
    expect(decide(['npm test', 'npm test -- a'], 'src', 'low')).toBe('allow')
    expect(decide(undefined, 'src', 'low', 'npm test')).toBe('allow')
    expect(decide(['npm test', 'rm a'], 'src', 'low')).toBe('deny')
    expect(decide([], 'src', 'low', 'npm test')).toBe('deny')
    expect(decide(undefined, 'src', 'low')).toBe('deny')
    expect(decide(['npm test'], 'docs', 'low')).toBe('deny')
    expect(decide(['npm test'], 'src', 'high')).toBe('deny')
    expect(call({ commands: ['*'] }, {})).toBe('allow')
    expect(call({ commands: ['*'] }, { command: 5 })).toBe('allow')
    expect(judge({ rules: [{ name: 'r', action: 'deny' }] }, 'x', access('file:read', 'a')).code).toBe('POLICY_DENIED')
  })

  it.each<PolicyData>([
    { rules: [{ name: 'r', action: 'deny', paths: ['**'] }] },
    { rules: [{ name: 'r', action: 'deny', kinds: ['TEXT_SOURCE'] }] },
    { rules: [{ name: 'r', action: 'deny', permissions: ['*'] }] },
    { deniedPaths: ['**'] },
    { readOnlyPaths: ['**'] },
  ])('do not apply to a call without accesses if they restrict paths: %j', (policy) => {
    expect(judge({ preset: 'autonomous', ...policy }, 'submit_plan').decision).toBe('allow')
    expect(judge({ preset: 'autonomous', ...policy }, 'x', access('file:append', 'a.ts')).decision).toBe('deny')
  })

  it('allow a command to run in a read-only directory', () => {
    const policy = { preset: 'autonomous', readOnlyPaths: ['src'] } as const
    const runs = access('command:run', 'src', { classification: classifyDirectory('src' as LogicalPath) })
    expect(judge(policy, 'x', runs).decision).toBe('allow')
    expect(judge(policy, 'x', access('file:delete', 'src/a.ts')).code).toBe('READ_ONLY')
  })

  it('decide calls without accesses by tool, preset and rules on calls', () => {
    expect(judge('readOnly', 'submit_plan').decision).toBe('allow')
    expect(judge({}, 'submit_plan').decision).toBe('deny')
    expect(judge({ tools: { submit_plan: 'allow' } }, 'submit_plan').decision).toBe('allow')
    expect(judge({ rules: [{ name: 'r', action: 'allow', paths: ['**'] }] }, 'submit_plan').decision).toBe('deny')
    expect(judge({ rules: [{ name: 'r', action: 'ask', tools: ['submit_*'] }] }, 'submit_plan').decision).toBe('ask')
  })

  it('allow single tools without a preset', () => {
    const policy = { allowedPaths: ['src/**'], tools: { read_file: 'allow' } } as const
    expect(judge(policy, 'read_file', access('file:read', 'src/a.ts')).decision).toBe('allow')
    expect(judge(policy, 'write_file', access('file:write:create', 'src/a.ts')).decision).toBe('deny')
    expect(judge({ tools: { read_file: 'allow' } }, 'read_file', access('file:read', 'src/a.ts')).decision).toBe('deny')
  })
})

describe('many tools, rules and directories', () => {
  it('distinguish tools by their decision', () => {
    const tools = { a: 'allow', b: 'ask', c: 'deny' } as const
    const all = ['a', 'b', 'c', 'd', 'toString']
    for (const [policy, expected] of [
      [{ allowedPaths: ['src'], tools }, ['allow', 'ask', 'deny', 'deny', 'deny']],
      [{ preset: 'supervised', tools }, ['allow', 'ask', 'deny', 'ask', 'ask']],
    ] as const) {
      const compiled = compilePolicy(policy)
      const decide = (tool: string) => {
        const { decision } = compiled.evaluate({ tool, input: {}, accesses: [access('file:append', 'src/a.ts')] })
        return decision
      }
      expect(all.map(decide)).toEqual(expected)
      expect(all.toReversed().map(decide)).toEqual(expected.toReversed())
    }
  })

  it('distinguish calls that match rules 1 and 2 from calls that match rule 12', () => {
    const rules = Array.from('abcdefghijklm', (letter, i) => ({
      name: letter,
      action: i === 12 ? ('deny' as const) : ('ask' as const),
      args: { query: [`*${letter}*`] },
    }))
    const policy = compilePolicy({ preset: 'autonomous', rules })
    const decide = (query: string) =>
      policy.evaluate({ tool: 'x', input: { query }, accesses: [access('file:read', 'a.ts')] }).decision
    expect(['bc', 'm', 'bc', ''].map(decide)).toEqual(['ask', 'deny', 'ask', 'allow'])
  })

  const many = Array.from({ length: 1100 }, (_, i) => i)

  it('get the same decisions after the caches are cleared', () => {
    const tools = Object.fromEntries(
      many.slice(0, 500).map((i) => [`tool_${i}`, i % 2 === 0 ? 'ask' : 'deny'] as const),
    )
    const policy = compilePolicy({ preset: 'autonomous', tools })
    for (const round of [0, 1]) {
      for (const i of many) {
        const { decision } = policy.evaluate({ tool: `tool_${i}`, input: {}, accesses: [access('file:read', 'a.ts')] })
        expect([round, i, decision]).toEqual([round, i, i >= 500 ? 'allow' : i % 2 === 0 ? 'ask' : 'deny'])
      }
    }
  })

  it('get the same decisions for every combination of rules', () => {
    const rules = Array.from({ length: 11 }, (_, i) => ({
      name: `r${i}`,
      action: 'ask' as const,
      args: { query: [`*${'abcdefghijk'[i]}*`] },
    }))
    const policy = compilePolicy({ preset: 'autonomous', rules })
    for (let set = 0; set < 2048; set++) {
      const query = [...'abcdefghijk'].filter((_, i) => (set & (1 << i)) !== 0).join('')
      const verdict = policy.evaluate({ tool: 'search', input: { query }, accesses: [access('file:search', 'a.ts')] })
      expect([query, verdict.decision]).toEqual([query, set === 0 ? 'allow' : 'ask'])
    }
  })

  it('are distinguished in a tree with more directories than the cache can hold', () => {
    const policy = compilePolicy({ preset: 'autonomous', deniedPaths: ['**/secret/**', 'd7/**'] })
    for (let i = 0; i < 20_100; i++) policy.mayContainAllowed('search', 'file:read', `d${i}` as Path)
    expect(policy.mayContainAllowed('search', 'file:read', 'd7' as Path)).toBe(false)
    expect(policy.mayContainAllowed('search', 'file:read', 'd8' as Path)).toBe(true)
    expect(
      compilePolicy({ preset: 'autonomous', tools: { s: 'deny' } }).mayContainAllowed('s', 'file:read', 'a' as Path),
    ).toBe(false)
  })

  it('are denied with POLICY_DENIED by default', () => {
    expect(deniedError({ decision: 'deny', reason: 'no', rules: [] })).toMatchObject({
      code: 'POLICY_DENIED',
      details: {},
    })
  })
})
