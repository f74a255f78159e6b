import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '../../src/policy/policy.ts'
import { riskFlags } from '../../src/policy/risk/flags.ts'
import { policySchema } from '../../src/policy/schema.ts'
import { policies } from './generate.ts'

const allow = { name: 'a', action: 'allow' }
const deny = { name: 'a', action: 'deny' }

/** Invalid policies with the texts that the error must contain. */
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
  [{ default_action: undefined, rules: [] }, 'default_action', 'not undefined'],
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
  ...[...riskFlags, 'DeletesFile', 'deletesfile'].map((flag): [unknown, string, string] => [
    { rules: [{ ...deny, risk: ['high', flag] }] },
    'rules[0].risk',
    'requireApprovalIf',
  ]),
  ...[
    'cat|sort',
    'cat; ls',
    '/^cat/',
    '"cat',
    '\t',
    'ca?',
    'cat,ls',
    'cat a|',
    '   ',
    '\n',
    "'a' b",
    'a && b',
    'a > b',
  ].flatMap((entry): [unknown, string, string][] => [
    [{ commands: { allow: [entry] } }, 'commands.allow[0]', 'matches no command'],
    [{ commands: { deny: ['ls', entry] } }, 'commands.deny[1]', 'matches no command'],
    [{ rules: [{ ...deny, commands: [entry] }] }, 'rules[0].commands[0]', 'matches no command'],
    [
      { labels: { sinks: [{ name: 'a', ceiling: 'public', commands: [entry] }] } },
      'labels.sinks[0].commands[0]',
      'matches no command',
    ],
  ]),
  // A rule that restricts commands by what else they touch would hold for the written line only.
  ...[{ paths: ['a'] }, { kinds: ['BINARY'] }, { permissions: ['file:*'] }, { permissions: ['git:push'] }].flatMap(
    (other) =>
      (['deny', 'ask'] as const).map((action): [unknown, string, string] => [
        { rules: [{ name: 'a', action, commands: ['rm'], ...other }] },
        'rules[0].commands',
        `beside "${Object.keys(other)[0]}"`,
      ]),
  ),
  ...['foo', '>>>', '&&&', '=>', ' >', '> ', '$', '||\n'].map((operator): [unknown, string, string, string] => [
    { commands: { deniedOperators: ['|', operator] } },
    'commands.deniedOperators[1]',
    JSON.stringify(operator),
    '"&&", "||"',
  ]),
  [{ commands: { denied_operators: ['foo'] } }, 'commands.denied_operators[0]'],
]

/** Invalid policies with the exact message of the error. */
const words: readonly [input: unknown, message: string][] = [
  [
    { default_action: ['allow'] },
    'Policy field "default_action" must be "allow" or "ask" or "supervised" or "deny", not ["allow"]',
  ],
  [undefined, 'A policy is required: one of the presets "readOnly", "supervised", "autonomous", or a policy object'],
  [null, 'A policy is required: one of the presets "readOnly", "supervised", "autonomous", or a policy object'],
  [
    'readonly',
    'Unknown policy preset "readonly"; the presets are "readOnly", "supervised", "autonomous"; did you mean "readOnly"?',
  ],
  [5, 'A policy must be an object, not 5'],
  [true, 'A policy must be an object, not true'],
  [[], 'A policy must be an object, not a list'],
  [() => 'allow', 'A policy must be an object, not a function'],
  [
    { preset: 'auto' },
    'Policy field "preset" must be "readOnly" or "supervised" or "autonomous", not "auto"; did you mean "autonomous"?',
  ],
  [{ preset: null }, 'Policy field "preset" must be "readOnly" or "supervised" or "autonomous", not null'],
  [{ preset: {} }, 'Policy field "preset" must be "readOnly" or "supervised" or "autonomous", not an object'],
  [{ preset: [] }, 'Policy field "preset" must be "readOnly" or "supervised" or "autonomous", not a list'],
  [{ preset: () => 1 }, 'Policy field "preset" must be "readOnly" or "supervised" or "autonomous", not a function'],
  [
    { commands: { allowed: [] } },
    'Policy field "commands.allowed" is unknown; the fields here are allow, deny, deniedOperators; did you mean "allow"?',
  ],
  [
    { limits: { calls: 5 } },
    'Policy field "limits.calls" is unknown; the fields here are callsPerMinute, bytesReadPerRun, bytesWrittenPerRun, patchFiles, patchDeletes, patchInsertions, patchDeletions, patchBytes, toolCallsPerMinute; did you mean "callsPerMinute"?',
  ],
  [
    { network: { host: [] } },
    'Policy field "network.host" is unknown; the fields here are hosts; did you mean "hosts"?',
  ],
  [{ memory: { other: 1 } }, 'Policy field "memory.other" is unknown; the fields here are path, acl'],
  [
    { labels: { source: [] } },
    'Policy field "labels.source" is unknown; the fields here are sources, sinks; did you mean "sources"?',
  ],
  [
    { labels: { sources: [{ label: 'internal', path: ['a'] }] } },
    'Policy field "labels.sources[0].path" is unknown; the fields here are label, paths, commands; did you mean "paths"?',
  ],
  [
    { labels: { sinks: [{ name: 'a', ceiling: 'public', path: ['a'] }] } },
    'Policy field "labels.sinks[0].path" is unknown; the fields here are name, ceiling, paths, commands, hosts, above; did you mean "paths"?',
  ],
  [
    { rules: [{ nme: 'a', action: 'allow' }] },
    'Policy field "rules[0].nme" is unknown; the fields here are name, action, tools, permissions, paths, kinds, args, commands, risk, overrides; did you mean "name"?',
  ],
  [
    { limits: { readLines: 5 } },
    'Policy field "limits.readLines" is unknown: readLines is a limit of the workspace; pass createWorkspace({ limits: { readLines: … } })',
  ],
  [
    { limits: { max_read_lines: 5 } },
    'Policy field "limits.max_read_lines" is unknown: readLines is a limit of the workspace; pass createWorkspace({ limits: { readLines: … } })',
  ],
  [
    { limits: { serchMatches: 5 } },
    'Policy field "limits.serchMatches" is unknown: searchMatches is a limit of the workspace; pass createWorkspace({ limits: { searchMatches: … } })',
  ],
  [
    { limits: { patch_file: 5 } },
    'Policy field "limits.patch_file" is unknown; the fields here are callsPerMinute, bytesReadPerRun, bytesWrittenPerRun, patchFiles, patchDeletes, patchInsertions, patchDeletions, patchBytes, toolCallsPerMinute; did you mean "patch_files"?',
  ],
  [
    { allowed_path: [] },
    'Policy field "allowed_path" is unknown; the fields here are preset, allowedPaths, deniedPaths, readOnlyPaths, tools, rules, commands, limits, labels, network, memory, requireApprovalIf, requireReason; did you mean "allowed_paths"?',
  ],
  [
    { securty: {} },
    'Policy field "securty" is unknown; the fields here are preset, allowedPaths, deniedPaths, readOnlyPaths, tools, rules, commands, limits, labels, network, memory, requireApprovalIf, requireReason; did you mean "security"?',
  ],
  [
    { acl_enable: true },
    'Policy field "acl_enable" is unknown; the fields here are preset, allowedPaths, deniedPaths, readOnlyPaths, tools, rules, commands, limits, labels, network, memory, requireApprovalIf, requireReason; did you mean "acl_enabled"?',
  ],
  [
    { memory: { acl_enable: true } },
    'Policy field "memory.acl_enable" is unknown; the fields here are path, acl; did you mean "acl_enabled"?',
  ],
  [
    { tools: { files: { enabled: true } } },
    'Policy field "tools.files" must be "allow" or "ask" or "deny", not an object; did you mean "file"?',
  ],
  [
    { tools: { FileOp: { enabled: true } } },
    'Policy field "tools.FileOp" must be "allow" or "ask" or "deny", not an object; did you mean "file_ops"?',
  ],
  [
    { default_Action: 1 },
    'Policy field "default_Action" is unknown; the fields here are preset, allowedPaths, deniedPaths, readOnlyPaths, tools, rules, commands, limits, labels, network, memory, requireApprovalIf, requireReason; did you mean "default_action"?',
  ],
  [
    { default_action_X: 1 },
    'Policy field "default_action_X" is unknown; the fields here are preset, allowedPaths, deniedPaths, readOnlyPaths, tools, rules, commands, limits, labels, network, memory, requireApprovalIf, requireReason; did you mean "default_action"?',
  ],
  [
    { Default_action: 1 },
    'Policy field "Default_action" is unknown; the fields here are preset, allowedPaths, deniedPaths, readOnlyPaths, tools, rules, commands, limits, labels, network, memory, requireApprovalIf, requireReason; did you mean "default_action"?',
  ],
  [
    { a_b_c: 1 },
    'Policy field "a_b_c" is unknown; the fields here are preset, allowedPaths, deniedPaths, readOnlyPaths, tools, rules, commands, limits, labels, network, memory, requireApprovalIf, requireReason',
  ],
  [{ allowedPaths: 'src' }, 'Policy field "allowedPaths" must be a list, not "src"'],
  [{ allowedPaths: [''] }, 'Policy field "allowedPaths[0]" must not be empty'],
  [{ allowedPaths: ['src', 5] }, 'Policy field "allowedPaths[1]" must be a text, not 5'],
  [{ tools: ['read_file'] }, 'Policy field "tools" must be an object, not a list'],
  [{ tools: { '': 'allow' } }, 'Policy field "tools." must be a plain name'],
  [
    { tools: { x: 'Supervised' } },
    'Policy field "tools.x" must be "allow" or "ask" or "deny", not "Supervised"; did you mean "ask"?',
  ],
  [{ tools: { x: 'supervise' } }, 'Policy field "tools.x" must be "allow" or "ask" or "deny", not "supervise"'],
  [{ rules: [null] }, 'Policy field "rules[0]" must be an object, not null'],
  [{ rules: [{ action: 'allow' }] }, 'Policy field "rules[0].name" is missing; it must be a text'],
  [{ rules: [{ name: 'a' }] }, 'Policy field "rules[0].action" is missing; it must be "allow" or "ask" or "deny"'],
  [{ rules: [{ ...allow, name: '' }] }, 'Policy field "rules[0].name" must not be empty'],
  [
    { rules: [{ ...allow, name: 'a\nb' }] },
    'Policy field "rules[0].name" must be a plain name without control characters, not "a\\nb"',
  ],
  [{ rules: [{ ...allow, name: 'x'.repeat(202) }] }, 'Policy field "rules[0].name" is too long; at most 200'],
  [
    { rules: [{ ...allow, name: `\n${'x'.repeat(79)}` }] },
    'Policy field "rules[0].name" must be a plain name without control characters, not "\\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
  ],
  [
    { rules: [{ ...allow, name: `\n${'x'.repeat(80)}` }] },
    'Policy field "rules[0].name" must be a plain name without control characters, not "\\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"',
  ],
  [{ rules: [allow, deny] }, 'Policy field "rules[1].name" must be unique, but rules[0] has the name "a" as well'],
  [
    { rules: [{ ...allow, name: 'memory.acl' }] },
    'Policy field "rules[0].name" must not be "memory.acl", the name of a short form',
  ],
  [
    { rules: [{ ...allow, name: 'allowedPaths' }] },
    'Policy field "rules[0].name" must not be "allowedPaths", the name of a short form',
  ],
  [
    { rules: [{ ...allow, name: 'readOnlyPaths' }] },
    'Policy field "rules[0].name" must not be "readOnlyPaths", the name of a short form',
  ],
  [
    { rules: [{ ...deny, overrides: ['secret'] }] },
    'Policy field "rules[0].overrides" needs the action "allow", not "deny"',
  ],
  [
    { rules: [{ ...allow, paths: [] }] },
    'Policy field "rules[0].paths" must not be empty; omit it to match everything',
  ],
  [{ rules: [{ ...allow, args: {} }] }, 'Policy field "rules[0].args" must not be empty; omit it to match everything'],
  [
    { rules: [{ ...allow, overrides: ['git'] }] },
    'Policy field "rules[0].overrides[0]" must be "secret" or "generated" or "vendored" or "lockfile" or "binary" or "mode", not "git": git-internal files cannot be opened',
  ],
  [
    { rules: [{ ...allow, overrides: ['x'] }] },
    'Policy field "rules[0].overrides[0]" must be "secret" or "generated" or "vendored" or "lockfile" or "binary" or "mode", not "x"',
  ],
  [
    { rules: [{ ...allow, tools: ['*'.repeat(5000)] }] },
    'Policy field "rules[0].tools[0]" is longer than 4096 characters',
  ],
  [
    { rules: [{ ...allow, commands: ['*'.repeat(5000)] }] },
    'Policy field "rules[0].commands[0]" is longer than 4096 characters',
  ],
  [
    { rules: [{ ...allow, risk: ['a', '*'.repeat(5000)] }] },
    'Policy field "rules[0].risk[1]" is longer than 4096 characters',
  ],
  [
    { rules: [{ ...allow, args: { q: ['*'.repeat(5000)] } }] },
    'Policy field "rules[0].args.q[0]" is longer than 4096 characters',
  ],
  [{ limits: { callsPerMinute: 0 } }, 'Policy field "limits.callsPerMinute" must be a positive whole number, not 0'],
  [{ limits: { callsPerMinute: 1.5 } }, 'Policy field "limits.callsPerMinute" must be a whole number, not 1.5'],
  [{ limits: { callsPerMinute: '5' } }, 'Policy field "limits.callsPerMinute" must be a number, not "5"'],
  [{ limits: { callsPerMinute: 1e300 } }, 'Policy field "limits.callsPerMinute" is too big; at most 9007199254740991'],
  [
    { limits: { calls_per_minute: 1, callsPerMinute: 2 } },
    'Policy field "limits.callsPerMinute" occurs twice, in two spellings; keep one',
  ],
  [{ requireReason: 'yes' }, 'Policy field "requireReason" must be a boolean, not "yes"'],
  [
    { requireApprovalIf: ['x'] },
    'Policy field "requireApprovalIf[0]" must be "touchesBuildFile" or "touchesSecuritySensitivePath" or "deletesFile" or "changesPublicApi" or "deletesOrSkipsTests", not "x"',
  ],
  [{ memory: { path: '' } }, 'Policy field "memory.path" must be the path of a directory below the root'],
  [{ memory: { path: '../a' } }, 'Policy field "memory.path" must be the path of a directory below the root'],
  [{ memory: { path: '.' } }, 'Policy field "memory.path" must be the path of a directory below the root'],
  [{ network: { hosts: [''] } }, 'Policy field "network.hosts[0]" must not be empty'],
  [{ network: { hosts: ['*'.repeat(5000)] } }, 'Policy field "network.hosts[0]" is longer than 4096 characters'],
  [{ labels: { sources: [{ label: 'internal' }] } }, 'Policy field "labels.sources[0]" needs paths or commands'],
  [
    { labels: { sinks: [{ name: 'a', ceiling: 'public' }] } },
    'Policy field "labels.sinks[0]" needs paths, commands or hosts',
  ],
  [
    { labels: { sinks: [{ name: '\na', ceiling: 'internal', hosts: ['a'] }] } },
    'Policy field "labels.sinks[0].name" must be a plain name without control characters, not "\\na"',
  ],
  [
    { labels: { sinks: [{ name: 'a\n', ceiling: 'internal', hosts: ['a'] }] } },
    'Policy field "labels.sinks[0].name" must be a plain name without control characters, not "a\\n"',
  ],
  [{ allowedPaths: Array(10_001).fill('a') }, 'Policy field "allowedPaths" is too long; at most 10000'],
  [
    { default_action: 'maybe' },
    'Policy field "default_action" must be "allow" or "ask" or "supervised" or "deny", not "maybe"',
  ],
  [
    { default_action: 'Allow' },
    'Policy field "default_action" must be "allow" or "ask" or "supervised" or "deny", not "Allow"; did you mean "allow"?',
  ],
  [{ default_action: 5 }, 'Policy field "default_action" must be "allow" or "ask" or "supervised" or "deny", not 5'],
  [
    { default_action: undefined },
    'Policy field "default_action" must be "allow" or "ask" or "supervised" or "deny", not undefined',
  ],
  [
    { default_action: 'toString' },
    'Policy field "default_action" must be "allow" or "ask" or "supervised" or "deny", not "toString"',
  ],
  [
    { defaultAction: 'allow', preset: 'autonomous' },
    'Policy fields "defaultAction" and "preset" mean the same; keep one',
  ],
  [
    { default_action: 'allow', defaultAction: 'allow' },
    'Policy field "defaultAction" occurs twice, in two spellings; keep one',
  ],
  [JSON.parse('{"__proto__": 1}'), 'Policy field "__proto__" is unknown'],
  [JSON.parse('{"tools": {"__proto__": "allow"}}'), 'Policy field "tools.__proto__" is unknown'],
  [JSON.parse('{"rules": [{"__proto__": 1}]}'), 'Policy field "rules[0].__proto__" is unknown'],
]

describe('an invalid policy', () => {
  it.each(wrong)('%j throws a TypeError that names %j', (input, ...names) => {
    let error: unknown
    try {
      compilePolicy(input)
    } catch (cause) {
      error = cause
    }
    expect(error).toBeInstanceOf(TypeError)
    for (const name of names) expect((error as TypeError).message).toContain(name)
    expect((error as TypeError).message.length).toBeLessThan(800)
  })
})

describe('the message for an invalid policy', () => {
  it.each(words)('%#: %j', (input, message) => {
    expect(() => compilePolicy(input)).toThrow(new TypeError(message))
  })

  it('covers a policy that contains itself', () => {
    const input: { rules: unknown[] } = { rules: [] }
    input.rules.push(input)
    expect(() => compilePolicy(input)).toThrow(TypeError)
  })
})

describe('a policy with all fields', () => {
  const paths = ['src/**']
  const full = {
    preset: 'supervised',
    allowedPaths: paths,
    deniedPaths: ['a'],
    readOnlyPaths: ['b'],
    tools: { x: 'allow', y: 'ask', z: 'deny' },
    rules: [
      { ...allow, overrides: ['secret', 'generated', 'vendored', 'lockfile', 'binary', 'mode'] },
      {
        ...deny,
        name: 'b',
        tools: ['a'],
        permissions: ['file:*'],
        paths,
        args: { q: ['a'] },
        risk: ['a'],
        kinds: [
          ...['TEXT_SOURCE', 'TEXT_CONFIG', 'TEXT_DOC', 'LOCKFILE', 'GENERATED', 'VENDORED', 'SECRET_LIKE', 'BINARY'],
          ...['DIRECTORY', 'GIT_INTERNAL', 'UNKNOWN'],
        ],
      },
      { ...deny, name: 'c', commands: ['a'] },
    ],
    commands: { allow: ['a'], deny: ['b'], deniedOperators: ['|'] },
    limits: {
      ...{ callsPerMinute: 1, bytesReadPerRun: 2, bytesWrittenPerRun: 3, patchFiles: 4, patchDeletes: 5 },
      ...{ patchInsertions: 6, patchDeletions: 7, patchBytes: Number.MAX_SAFE_INTEGER },
      toolCallsPerMinute: { x: 1 },
    },
    labels: {
      sources: [
        { label: 'public', paths },
        { label: 'internal', commands: ['a'] },
      ],
      sinks: [
        { name: 'a', ceiling: 'confidential', paths, above: 'ask' },
        { name: 'b', ceiling: 'restricted', commands: ['a'], above: 'deny' },
        { name: 'c', ceiling: 'public', hosts: ['a'] },
      ],
    },
    network: { hosts: ['example.org'] },
    memory: { path: 'notes', acl: true },
    requireReason: true,
    requireApprovalIf: [
      ...['touchesBuildFile', 'touchesSecuritySensitivePath', 'deletesFile', 'changesPublicApi', 'deletesOrSkipsTests'],
    ],
  }

  it('is parsed unchanged', () => {
    expect(compilePolicy(full).data).toEqual(full)
  })

  it('is equal in snake_case', () => {
    const { preset: _, allowedPaths, deniedPaths, readOnlyPaths, rules, tools, limits, commands, ...rest } = full
    const { callsPerMinute, toolCallsPerMinute, ...limited } = limits
    const { deniedOperators, ...listed } = commands
    const { requireReason, requireApprovalIf, ...others } = rest
    const other = {
      default_action: 'ask',
      allowed_paths: allowedPaths,
      denied_paths: deniedPaths,
      read_only_paths: readOnlyPaths,
      rules,
      tools: { ...tools, y: 'supervised' },
      limits: { ...limited, calls_per_minute: callsPerMinute, tool_calls_per_minute: toolCallsPerMinute },
      commands: { ...listed, denied_operators: deniedOperators },
      require_reason: requireReason,
      require_approval_if: requireApprovalIf,
      ...others,
    }
    expect(compilePolicy(other).data).toEqual(full)
    const policy = compilePolicy({ rules: [{ name: 'a', action: 'supervised' }] })
    expect(policy.data.rules).toEqual([{ name: 'a', action: 'ask' }])
  })

  it.each([
    ['allow', { preset: 'autonomous' }],
    ['ask', { preset: 'supervised' }],
    ['supervised', { preset: 'supervised' }],
    ['deny', {}],
  ])('the default action %s is %j', (action, expected) => {
    expect(compilePolicy({ default_action: action }).data).toStrictEqual(expected)
    expect(compilePolicy({ defaultAction: action, deniedPaths: ['a'] }).data).toEqual({
      ...expected,
      deniedPaths: ['a'],
    })
  })
})

describe('a policy', () => {
  it('is a frozen copy', () => {
    const input = { preset: 'autonomous', deniedPaths: ['a'], rules: [{ ...deny, paths: ['b'] }] }
    const policy = compilePolicy(input)
    const before = JSON.stringify(policy.data)
    input.deniedPaths.push('c')
    input.rules[0]?.paths.push('c')
    expect(JSON.stringify(policy.data)).toBe(before)
    expect(() => (policy.data.rules as unknown[]).push(1)).toThrow(TypeError)
    expect(Object.isFrozen(policy.data.rules?.[0]?.paths)).toBe(true)
  })

  it('is equal from code and from JSON', () => {
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

  it('has a different revision for different content', () => {
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

  it('has a stable revision, in any order of its rules', () => {
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

  it('treats undefined as an absent field', () => {
    expect(compilePolicy({ preset: 'autonomous', rules: undefined, tools: undefined }).data.preset).toBe('autonomous')
  })
})
