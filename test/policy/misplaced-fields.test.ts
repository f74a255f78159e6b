import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../src/limits.ts'
import { workspaceOptionNames } from '../../src/policy/misplaced-fields.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { policySchema } from '../../src/policy/schema.ts'
import { snakeCase } from '../../src/policy/written-fields.ts'
import { workspaceOptions } from '../../src/workspace/options.ts'

const messageOf = (policy: object): string => {
  try {
    compilePolicy(policy)
  } catch (error) {
    return (error as TypeError).message
  }
  return ''
}

const policyFields = ['tools', 'limits', 'readOnly']
const nested: Readonly<Record<string, readonly string[]>> = {
  commands: ['deny', 'deniedOperators'],
  limits: ['callsPerMinute', 'bytesReadPerRun', 'patchFiles', 'toolCallsPerMinute'],
  labels: ['sources', 'sinks'],
  network: ['hosts'],
  memory: ['acl'],
  'rules[]': ['action', 'permissions', 'kinds', 'args', 'risk', 'overrides'],
}

describe('a field of a policy in a wrong place', () => {
  it('names the section that has it, in both spellings', () => {
    for (const [section, fields] of Object.entries(nested)) {
      for (const field of fields) {
        for (const key of new Set([field, snakeCase(field)])) {
          expect(messageOf({ [key]: [] }), key).toContain(`did you mean "${section}.`)
        }
      }
    }
  })

  it('names the limit or the option of the workspace', () => {
    for (const name of Object.keys(defaultLimits)) {
      const message = messageOf({ [snakeCase(name)]: 5 })
      expect(message, name).toMatch(new RegExp(`createWorkspace\\(\\{ limits: \\{ ${name}: |"limits\\.`))
    }
    const options = Object.keys(workspaceOptions).filter((name) => !policyFields.slice(0, 2).includes(name))
    expect([...workspaceOptionNames].sort()).toEqual(options.sort())
    for (const name of workspaceOptionNames) {
      expect(messageOf({ [name]: 1 }), name).toContain(`createWorkspace({ ${name}: … })`)
    }
  })

  it.each([
    ['denied_operators', 'did you mean "commands.deniedOperators"?'],
    ['denied_commands', 'did you mean "commands.deny"?'],
    ['allowed_commands', 'did you mean "commands.allow"?'],
    ['protected_patterns', 'did you mean "read_only_paths"?'],
    ['max_read_lines', 'createWorkspace({ limits: { readLines: … } })'],
    ['max_output_chars', 'createWorkspace({ limits: { commandOutputBytes: … } })'],
    ['default_timeout', 'createWorkspace({ limits: { commandTimeoutMs: … } })'],
    ['persist_cwd', 'createWorkspace({ keepCwd: … })'],
    ['hooks', 'createWorkspace({ hooks: … })'],
  ])('knows %s of another system', (key, place) => {
    expect(messageOf({ [key]: [] })).toContain(place)
  })
})

describe('policySchema', () => {
  it('refuses what createWorkspace refuses: anything but plain data', () => {
    class Section {
      deny = ['ls']
    }
    const values = [
      new Map([['deny', ['ls']]]),
      new Set(['a']),
      new Section(),
      new Date(),
      /a/,
      Object.create({ deny: [] }),
    ]
    for (const value of values) {
      for (const policy of [value, { commands: value }, { tools: value }, { limits: value }, { rules: [value] }]) {
        expect(policySchema.safeParse(policy).success).toBe(false)
        expect(() => compilePolicy(policy)).toThrow(TypeError)
      }
    }
    expect(policySchema.parse({ preset: 'autonomous', commands: { deny: ['ls'] } })).toEqual({
      ...{ preset: 'autonomous', commands: { deny: ['ls'] } },
    })
  })
})
