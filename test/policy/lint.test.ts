import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { checkPolicy } from '../../src/cli/check-policy.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Policy } from '../../src/policy/evaluation.ts'
import { lintPolicy } from '../../src/policy/lint.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { presetNames } from '../../src/policy/presets.ts'
import type { PolicyData, PolicyRule } from '../../src/policy/schema.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { times } from '../counts.ts'
import { extraRule, names, policies } from './generate.ts'

const lint = (policy: object) => checkPolicy({ preset: 'autonomous', ...policy }, { tools: builtinTools })
const rule = (fields: object) => ({ name: 'x', action: 'deny', ...fields })
const docs = ['docs/**']

type Name = typeof names extends fc.Arbitrary<infer T> ? T : never

/** Policies, and the parts of them that have no effect. */
const idlePolicies: readonly (readonly [policy: object, names: readonly string[]])[] = [
  ...Object.entries({
    'tools.write_file': { tools: { write_file: 'allow' } },
    'tools.run_command': { tools: { run_command: 'ask' } },
    readOnlyPaths: { readOnlyPaths: docs },
    requireReason: { requireReason: true },
    requireApprovalIf: { requireApprovalIf: ['deletesFile'] },
    'commands.allow': { commands: { allow: ['ls'] } },
    'network.hosts': { network: { hosts: ['example.org'] } },
    'limits.patchFiles': { limits: { patchFiles: 3 } },
    'limits.bytesWrittenPerRun': { limits: { bytesWrittenPerRun: 3 } },
    'limits.toolCallsPerMinute.edit_file': { limits: { toolCallsPerMinute: { edit_file: 3, read_file: 3 } } },
    x: { rules: [rule({ action: 'allow', commands: ['npm test'] })] },
  }).map(([name, policy]): [object, string[]] => [{ preset: 'readOnly', ...policy }, [name]]),
  [{ preset: 'autonomous', deniedPaths: ['a'], readOnlyPaths: ['a', 'a/b', 'b'] }, ['readOnlyPaths', 'readOnlyPaths']],
  [{ preset: 'autonomous', deniedPaths: ['a'], allowedPaths: ['a/*', 'b'] }, ['allowedPaths']],
  [{ preset: 'autonomous', deniedPaths: ['a/**'], rules: [rule({ paths: ['a/{b,c}'] })] }, ['x']],
  // Of two parts that cover each other, one is named: without both, the path would be open.
  [{ preset: 'autonomous', deniedPaths: ['a', 'a'] }, ['deniedPaths']],
  [{ preset: 'autonomous', deniedPaths: ['a'], rules: [rule({ paths: ['a'] })] }, ['deniedPaths']],
  [{ preset: 'autonomous', rules: [rule({ paths: ['a'] }), rule({ name: 'y', paths: ['a'] })] }, ['y']],
  [
    { preset: 'autonomous', tools: { delete_file: 'deny' }, rules: [rule({ tools: ['delete_file'] })] },
    ['tools.delete_file'],
  ],
  [{ rules: [rule({ action: 'allow', paths: ['a'] }), rule({ name: 'y', action: 'allow', paths: ['a'] })] }, ['y']],
  [{ preset: 'autonomous', deniedPaths: ['**'], requireReason: true }, ['deniedPaths']],
  [{ deniedPaths: ['b'] }, ['policy']],
  [{}, ['policy']],
  ...['tools', 'commands', 'limits', 'labels', 'network'].map((field): [object, string[]] => [
    { preset: 'autonomous', [field]: {} },
    [field],
  ]),
  [{ preset: 'autonomous', tools: { apply_patch: 'deny' }, limits: { patchBytes: 9 } }, ['limits.patchBytes']],
]

/** Policies that resemble these, all parts of which have an effect. */
const effectivePolicies: readonly object[] = [
  { preset: 'autonomous', deniedPaths: ['a/b'], readOnlyPaths: ['a'] },
  { preset: 'autonomous', deniedPaths: ['docs/*.md'], readOnlyPaths: ['docs/**'] },
  { preset: 'autonomous', deniedPaths: ['{a,b}/**', '.env', '.git'], readOnlyPaths: ['{b,c}'] },
  { preset: 'autonomous', deniedPaths: ['[a-z]*.md'], readOnlyPaths: ['./*.md'] },
  { deniedPaths: ['a/b'], rules: [rule({ action: 'allow', paths: ['a'], args: { path: ['a/b'] } })] },
  { readOnlyPaths: ['a/b'], rules: [rule({ action: 'allow', paths: ['a'], kinds: ['GENERATED'] })] },
  { allowedPaths: ['a'], deniedPaths: ['b'], readOnlyPaths: ['**/*.md'] },
  { allowedPaths: ['a'], tools: { read_file: 'allow' } },
  { preset: 'readOnly', allowedPaths: ['a'], limits: { callsPerMinute: 9, bytesReadPerRun: 9 } },
  {
    preset: 'supervised',
    requireApprovalIf: ['deletesFile'],
    requireReason: true,
    commands: { allow: ['ls'] },
    memory: {},
  },
]

describe('lintPolicy', () => {
  it.each([
    ['names in deniedPaths', { deniedPaths: ['*.csv'] }, '"*.csv" has no effect in directories below the root'],
    ['names in readOnlyPaths', { readOnlyPaths: ['*.csv'] }, '"*.csv" has no effect in directories below the root'],
    ['a rule on names', { rules: [rule({ paths: ['*.csv'] })] }, '"*.csv" has no effect in directories below the root'],
    ['a rule on names of directories', { deniedPaths: ['src/*'] }, '"src/*" leaves open what is in the directories'],
    [
      'an ask rule on names',
      { rules: [rule({ action: 'ask', paths: ['**/key*'] })] },
      '"**/key*" leaves open what is in',
    ],
    [
      'a rule on some of the changing permissions',
      { rules: [rule({ permissions: ['file:write:*'], paths: docs })] },
      'leaves open: file:append, file:delete, file:move, file:copy, file:patch:apply',
    ],
    [
      'an ask rule on some of the changing permissions',
      { rules: [rule({ action: 'ask', permissions: ['file:write:*', 'file:append'], paths: docs })] },
      'It asks about changes of docs/**, but leaves open: file:delete, file:move, file:copy, file:patch:apply',
    ],
    [
      'a rule on reading alone',
      { rules: [rule({ permissions: ['file:read'], paths: docs })] },
      'leaves open: file:search, file:diff',
    ],
    [
      'a rule on the file tools that concerns notes',
      { memory: {}, rules: [rule({ permissions: ['file:write:*', 'file:delete'], paths: ['memory/**'] })] },
      'leaves open: file:append, file:move, file:copy, file:patch:apply, memory:write',
    ],
    [
      'a rule on some of the changing tools',
      { rules: [rule({ tools: ['write_file', 'edit_file'], paths: docs })] },
      'other tools change it: replace_range, apply_patch, append_file, create_directory, copy_file, move_file, delete_file',
    ],
    [
      'an allow rule under a denial',
      { deniedPaths: docs, rules: [rule({ action: 'allow', paths: ['docs/a/**'], overrides: ['generated'] })] },
      'It never decides: everything that it allows is denied',
    ],
    [
      'an ask rule under a denial',
      { rules: [rule({ action: 'ask', paths: ['docs/a/**'] }), rule({ name: 'y', paths: docs })] },
      'everything that it asks about is denied',
    ],
    ['an allow rule for allowed calls', { rules: [rule({ action: 'allow', paths: docs })] }, 'It has no effect'],
    ['** within a name', { rules: [rule({ paths: ['src/**.ts'] })] }, 'matches no directories'],
    ['** within a name of a denied path', { deniedPaths: ['**.pem'] }, 'matches no directories'],
    [
      '* alone for a path',
      { rules: [rule({ args: { path: ['*'] } })] },
      'the names in the root of the workspace alone',
    ],
    ['run_command without start_command', { tools: { run_command: 'deny' } }, 'start_command runs the same lines'],
    [
      'an allowed tool without an allowed path',
      { preset: undefined, tools: { read_file: 'allow' } },
      'no path is allowed',
    ],
    ['a misspelled risk of tasks', { rules: [rule({ risk: ['hihg'] })] }, 'similar to "high"'],
    ['a risk of tasks in another letter case', { rules: [rule({ risk: ['High'] })] }, 'similar to "high"'],
    ['a misspelled risk of changes', { rules: [rule({ risk: ['deleteFile'] })] }, 'similar to "deletesFile"'],
    ['an allowed command in capital letters', { commands: { allow: ['LS'] } }, '"LS" does not match ls'],
    ['a denied command in capital letters', { commands: { deny: ['RM -rf'] } }, '"RM -rf" does not match rm'],
    ['a command of a rule in capital letters', { rules: [rule({ commands: ['Git push'] })] }, 'does not match git'],
    ['an empty allowlist', { commands: { allow: [] } }, 'every command is denied'],
    ['an empty list of allowed paths', { allowedPaths: [] }, 'every path is denied'],
    ...[
      ...['deniedPaths', 'readOnlyPaths', 'rules', 'requireApprovalIf'].map((field) => ({ [field]: [] })),
      ...['deny', 'deniedOperators'].map((field) => ({ commands: { [field]: [] } })),
      { network: { hosts: [] } },
      { labels: { sources: [] } },
      { labels: { sinks: [] } },
    ].map((policy): [string, object, string] => [JSON.stringify(policy), policy, 'has no effect: it has no entries']),
    ...['node_modules/notes', 'dist', 'secrets', '.ssh/notes'].map((path): [string, object, string] => [
      `notes in ${path}`,
      { memory: { path } },
      `Notes in ${path} cannot be used`,
    ]),
    [
      'run_command beside commands',
      { rules: [rule({ tools: ['run_command'], commands: ['git push *'] })] },
      'start_command runs the same lines',
    ],
    [
      'write_file without the other tools that write',
      { tools: { write_file: 'deny' } },
      'other tools change it: edit_file, replace_range, apply_patch, append_file',
    ],
    [
      'an argument of one tool of two',
      { rules: [rule({ tools: ['edit_file', 'read_file'], args: { newText: ['x'] } })] },
      'It matches no call of read_file, which have no newText',
    ],
    [
      'a command in both lists',
      { commands: { allow: ['npm  test'], deny: ['npm test'] } },
      '"npm  test" has no effect: commands.deny',
    ],
    [
      'an allowed command that continues a denied one',
      { commands: { allow: ['git push origin'], deny: ['git push'] } },
      '"git push origin" has no effect',
    ],
    [
      'an allowed command in a denied pattern',
      { commands: { allow: ['git push'], deny: ['git *'] } },
      '"git push" has no effect',
    ],
    [
      'a label without a sink',
      { labels: { sources: [{ label: 'internal', paths: docs }] } },
      'no sink has a ceiling below "internal"',
    ],
    [
      'a label that no sink is below',
      {
        labels: {
          sources: [{ label: 'internal', paths: docs }],
          sinks: [{ name: 's', ceiling: 'internal', paths: ['site'] }],
        },
      },
      'no sink has a ceiling below "internal"',
    ],
    ['a public label', { labels: { sources: [{ label: 'public', paths: docs }] } }, 'content is "public" without it'],
    [
      'a sink without a source',
      { labels: { sinks: [{ name: 's', ceiling: 'internal', paths: docs }] } },
      'no source has a label above "internal"',
    ],
    [
      'a sink for everything',
      { labels: { sinks: [{ name: 's', ceiling: 'restricted', paths: docs }] } },
      'no label is above "restricted"',
    ],
    ['notes in a denied directory', { memory: {}, deniedPaths: ['memory'] }, 'the policy denies reading there'],
  ])('names %s', (_, policy, message) => {
    const findings = lint(policy)
    expect(findings.map((finding) => finding.message).join('\n')).toContain(message)
    for (const { rule: name, hint } of findings) {
      expect(name).not.toBe('')
      expect(hint).toMatch(/\.$/)
    }
  })

  it.each([
    ['file:change and file:view', { rules: [rule({ permissions: ['file:change', 'file:view'], paths: docs })] }],
    ['commands of a rule without tools', { rules: [rule({ commands: ['git push'] })] }],
    ['file:view', { rules: [rule({ permissions: ['file:view'], paths: docs })] }],
    ['file:change', { rules: [rule({ action: 'ask', permissions: ['file:change'], paths: docs })] }],
    ['a rule without permissions', { rules: [rule({ paths: docs })] }],
    [
      'an ask rule that agrees with the preset',
      { preset: 'supervised', rules: [rule({ action: 'ask', permissions: ['file:delete'] })] },
    ],
    ['an allow rule that lifts a protection', { rules: [rule({ action: 'allow', overrides: ['generated'] })] }],
    [
      'an allow rule with the preset supervised',
      { preset: 'supervised', rules: [rule({ action: 'allow', paths: docs })] },
    ],
  ])('finds nothing in %s', (_, policy) => {
    expect(lint(policy)).toEqual([])
  })

  it.each([
    { readOnlyPaths: docs, rules: [rule({ permissions: ['file:write:*'], paths: docs })] },
    { preset: undefined, rules: [rule({ permissions: ['file:write:*'] })] },
  ])('finds nothing open in a rule whose other permissions are denied: %j', (policy) => {
    expect(lint(policy).filter(({ message }) => message.includes('leaves open'))).toEqual([])
  })

  it('names rules on commands and on git:write for tools that run none', () => {
    for (const tool of ['read_file', 'edit_file', 'search_text', 'delete_*', '*_file']) {
      for (const fields of [
        { commands: ['git push'] },
        { permissions: ['git:write'] },
        { permissions: ['git:push'] },
      ]) {
        const messages = lint({ rules: [rule({ tools: [tool], ...fields })] }).map(({ message }) => message)
        expect(messages.join('\n')).toMatch(/run no command, and the rule is about|asks for it/)
      }
    }
    for (const tool of ['run_command', 'start_command', '*', 'run_*']) {
      const rules = [
        rule({ tools: [tool, 'read_file'], commands: ['git push'] }),
        rule({ name: 'y', tools: [tool], permissions: ['git:write'] }),
      ]
      const open = { rule: 'x', message: 'It denies run_command, but start_command runs the same lines' }
      expect(lint({ rules })).toMatchObject(tool.startsWith('run_') ? [open] : [])
    }
  })

  it('names every other tool of a kind that a rule on one tool leaves open', () => {
    const groups = {
      change: /^file:(?:write|append|delete|move|copy|patch)/,
      show: /^file:(?:read|search|diff)$/,
    }
    let cases = 0
    for (const [verb, permissions] of Object.entries(groups)) {
      const group = builtinTools.filter(({ permission }) => permissions.test(permission)).map(({ name }) => name)
      expect(group.length).toBeGreaterThan(2)
      for (const name of group) {
        for (const action of ['ask', 'deny']) {
          const policy = { preset: 'autonomous', rules: [rule({ action, tools: [name], paths: docs })] }
          const others = group.filter((other) => other !== name).join(', ')
          const messages = lintPolicy(policy, { tools: builtinTools }).map(({ message }) => message)
          expect(messages).toContainEqual(expect.stringMatching(new RegExp(`but other tools ${verb} it: ${others}$`)))
          cases += 1
        }
      }
    }
    expect(cases).toBeGreaterThan(20)
  })

  it.each([
    { tools: { write_file: 'deny' } },
    { rules: [rule({ tools: ['write_file'] })] },
    { rules: [rule({ action: 'ask', tools: ['write_*'] })] },
  ])('names the other tools that write beside %j', (policy) => {
    const found = (more: object) =>
      lintPolicy({ preset: 'autonomous', ...policy, ...more }, { tools: builtinTools }).map(({ message }) => message)
    const message =
      /^It \w+ (?:about )?write_\S+ on every path, but other tools change it: edit_file, replace_range, apply_patch, append_file(?:, create_directory)?$/
    expect(found({})).toEqual([expect.stringMatching(message)])
    expect(found({ deniedPaths: ['**'] })).not.toContainEqual(expect.stringMatching(message))
  })

  it('names start_command beside a rule on run_command', () => {
    const policy = { preset: 'autonomous', rules: [rule({ tools: ['run_command'], commands: ['git push *'] })] }
    expect(lintPolicy(policy, { tools: builtinTools })).toMatchObject([
      { message: expect.stringContaining('start_command runs the same lines') },
    ])
  })

  it('names options whose other names are not known', () => {
    const rules = [
      rule({ action: 'ask', commands: ['frob -x *'] }),
      rule({ name: 'y', action: 'allow', commands: ['frob -x'] }),
    ]
    const findings = lint({
      commands: { deny: ['rm -rf', 'find * -delete', 'git push --force', 'frob a', './frob --x', 'fr* -x'] },
      rules,
    })
    expect(findings.map(({ message }) => message)).toEqual([
      '"./frob --x" does not match other names of --x: the options of ./frob are not known',
      '"frob -x *" does not match other names of -x: the options of frob are not known',
    ])
  })

  it('finds nothing in the presets', () => {
    for (const preset of presetNames) expect(checkPolicy(preset, { tools: builtinTools })).toEqual([])
  })

  it('throws for an invalid policy', () => {
    expect(() => checkPolicy({ rule: [] }, {})).toThrow(TypeError)
  })
})

describe('a rule that another one covers', () => {
  it.each([
    [{ paths: docs }, { paths: ['docs/a/**'], permissions: ['file:change'] }],
    [{ commands: ['git *'] }, { action: 'ask', commands: ['git push', 'git pull origin'] }],
    [
      { paths: ['**'], tools: ['*_file'] },
      { paths: ['src'], tools: ['edit_file'] },
    ],
    [{ args: { newText: ['a', 'b'] } }, { args: { newText: ['b'], path: ['src'] } }],
    [
      { commands: ['git'], risk: ['high', 'low'] },
      { commands: ['git'], risk: ['low'] },
    ],
    [
      { action: 'ask', paths: docs },
      { action: 'ask', paths: docs },
    ],
  ])('is named: %j covers %j', (wide, narrow) => {
    const isCovered = (name: string, rules: readonly object[]) =>
      lint({ rules }).some(({ rule, message }) => rule === name && message.includes('decides at least as strictly'))
    const [first, second] = [rule(wide), rule({ ...narrow, name: 'y' })]
    expect(isCovered('y', [first, second])).toBe(true)
    expect(isCovered('x', [first, second])).toBe(false)
    const isEqual = JSON.stringify(wide) === JSON.stringify(narrow)
    expect(isCovered('y', [second, first])).toBe(!isEqual)
    expect(isCovered('x', [second, first])).toBe(isEqual)
  })

  it.each([
    [{ permissions: ['file:change'], paths: docs }, { paths: docs }],
    [
      { action: 'ask', paths: docs },
      { paths: ['docs/a'], permissions: ['file:change'] },
    ],
    [{ paths: ['**'] }, { commands: ['git push'] }],
    [{ commands: ['git push origin'] }, { commands: ['git push'] }],
    [{ commands: ['git push'] }, { commands: ['git*'] }],
    [{ risk: ['low'] }, { permissions: ['file:change'] }],
  ])('is not found: %j beside %j', (wide, narrow) => {
    const messages = lint({ rules: [rule(wide), rule({ ...narrow, name: 'y' })] }).map(({ message }) => message)
    expect(messages.join()).not.toContain('the rule "x" decides')
  })
})

describe('a part that is named as one without an effect', () => {
  it('decides nothing, whatever the policy, alone and with all others that are named', () => {
    const count = { covered: 0, idle: 0, denied: 0, several: 0 }
    const property = (policy: PolicyData, extra: PolicyRule, calls: readonly Name[]) => {
      const data = { ...policy, rules: [...(policy.rules ?? []), extra] }
      const compiled = compilePolicy(data)
      const found = checkPolicy(data, {})
      const idle = found.filter(({ message }) => /never decides|without it|decides at least as strictly/.test(message))
      if (idle.length > 1) count.several++
      const rest = compilePolicy(
        idle.reduce<PolicyData>((left, { rule, message }) => withoutPart(left, rule, message), data),
      )
      for (const { tool, permission, path, classification } of calls) {
        const decide = (one: Policy) => one.forCall({ tool, input: {} }).decide(permission, path, classification)
        if (!/^(?:git|plan|memory|command):/.test(permission)) {
          const message = `${tool} ${permission} ${path} ${JSON.stringify(data)} ${JSON.stringify(idle)}`
          expect(decide(rest), message).toBe(decide(compiled))
        }
      }
      for (const { rule: name, message } of found) {
        const isCovered = message.includes('decides at least as strictly')
        const isDenied = message.startsWith('Every call is denied')
        if (isCovered) count.covered++
        else if (isDenied) count.denied++
        else if (/never decides|without it/.test(message)) count.idle++
        else continue
        const without = compilePolicy(withoutPart(data, name, message))
        for (const { tool, permission, path, classification } of calls) {
          // No call asks for these on such paths.
          if (/^(?:git|plan|memory):/.test(permission)) continue
          // Commands may start in the directories above allowed paths.
          if (name === 'allowedPaths' && permission.startsWith('command:')) continue
          const decide = (one: Policy) => one.forCall({ tool, input: {} }).decide(permission, path, classification)
          const expected = isDenied ? 'deny' : decide(without)
          expect(decide(compiled), `${name}: ${message} ${tool} ${permission} ${path} ${JSON.stringify(data)}`).toBe(
            expected,
          )
          const alone = (one: Policy) => one.evaluate({ tool, input: {}, accesses: [] }).decision
          if (isCovered) expect(alone(without)).toBe(alone(compiled))
        }
      }
    }
    fc.assert(fc.property(policies, extraRule, fc.array(names, { minLength: 20, maxLength: 20 }), property), {
      numRuns: times(50, 2000),
    })
    // A few policies can have few such parts.
    expect(count.covered).toBeGreaterThan(times(0, 40))
    expect(count.idle).toBeGreaterThan(times(3, 400))
    expect(count.denied).toBeGreaterThan(times(0, 40))
    expect(count.several).toBeGreaterThan(times(0, 100))
  })

  it.each(idlePolicies)('is found in %j', (policy, names) => {
    expect(lintPolicy(policy, { tools: builtinTools }).map(({ rule }) => rule)).toEqual(names)
  })

  it('is found in the arguments of tools, built-in and of a workspace', async () => {
    const { tools } = await createWorkspace({ backend: memory(), policy: 'autonomous' })
    for (const known of [builtinTools, tools]) {
      const found = (fields: object) =>
        lintPolicy({ preset: 'autonomous', rules: [rule(fields)] }, { tools: known }).map(({ message }) => message)
      expect(found({ tools: ['read_file'], args: { newText: ['x'] } })).toEqual([
        'It matches no call of read_file, which have no newText',
      ])
      expect(found({ args: { pth: ['x'] } })).toEqual(['It matches no call of *, which have no pth'])
      expect(found({ args: { newText: ['x'] } })).toEqual([])
    }
  })

  it.each(effectivePolicies)('is not found in %j', (policy) => {
    expect(lintPolicy(policy, { tools: builtinTools })).toEqual([])
  })
})

/** Removes a part that a finding names. */
function withoutPart(data: PolicyData, name: string, message: string): PolicyData {
  const [, entry = '""'] = /^("(?:[^"\\]|\\.)*") /.exec(message) ?? []
  const { [name.replace(/^tools\./, '')]: _, ...tools } = data.tools ?? {}
  const entries = (data as Readonly<Record<string, unknown>>)[name]
  return {
    ...{ ...data, tools, rules: (data.rules ?? []).filter((one) => one.name !== name) },
    ...(Array.isArray(entries) && { [name]: entries.filter((_, at) => at !== entries.indexOf(JSON.parse(entry))) }),
  }
}
