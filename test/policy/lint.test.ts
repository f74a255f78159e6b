import { describe, expect, it } from 'vitest'
import { lintPolicy } from '../../src/policy/lint.ts'
import { presetNames } from '../../src/policy/presets.ts'
import { builtinTools } from '../../src/tools/index.ts'

const lint = (policy: object) => lintPolicy({ preset: 'autonomous', ...policy }, { tools: builtinTools })
const rule = (fields: object) => ({ name: 'x', action: 'deny', ...fields })
const docs = ['docs/**']

describe('lintPolicy', () => {
  it.each([
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
      'a deny rule whose other permissions another field covers',
      { readOnlyPaths: docs, rules: [rule({ permissions: ['file:write:*'], paths: docs })] },
    ],
    [
      'an ask rule that agrees with the preset',
      { preset: 'supervised', rules: [rule({ action: 'ask', permissions: ['file:delete'] })] },
    ],
    [
      'a deny rule on calls that nothing allows',
      { preset: undefined, rules: [rule({ permissions: ['file:write:*'] })] },
    ],
    ['an allow rule that lifts a protection', { rules: [rule({ action: 'allow', overrides: ['generated'] })] }],
    [
      'an allow rule with the preset supervised',
      { preset: 'supervised', rules: [rule({ action: 'allow', paths: docs })] },
    ],
  ])('finds nothing in %s', (_, policy) => {
    expect(lint(policy)).toEqual([])
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
      expect(lint({ rules })).toEqual([])
    }
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
    for (const preset of presetNames) expect(lintPolicy(preset, { tools: builtinTools })).toEqual([])
  })

  it('throws for an invalid policy', () => {
    expect(() => lintPolicy({ rule: [] })).toThrow(TypeError)
  })
})
