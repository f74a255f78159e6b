import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { loadConfig } from '../../src/cli/config.ts'
import { createWorkspace } from '../../src/index.ts'
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
    ['permissions', 'did you mean "rules[].permissions"? Each rule has a name, an action'],
    ['operations', 'did you mean "rules[].permissions"?'],
    ['interrupt_on', 'did you mean "tools"? Set each tool to "ask".'],
    ['interruptOn', 'did you mean "tools"?'],
    ['allowedDirectories', 'did you mean "allowedPaths"?'],
    ['allowed_directories', 'did you mean "allowed_paths"?'],
    ['rootDir', 'createWorkspace({ backend: … })'],
    ['mode', 'createWorkspace({ mode: … })'],
    ['taskRisk', 'did you mean "rules[].risk"?'],
    ['maxFiles', 'did you mean "limits.patchFiles"?'],
    ['log_path', 'createWorkspace({ audit: … })'],
    ['decision', 'did you mean "preset"?'],
  ])('knows %s of another system', (key, place) => {
    expect(messageOf({ [key]: [] })).toContain(place)
  })

  it.each([
    [{ rules: [{ name: 'x', operations: ['read'], mode: 'deny' }] }, 'did you mean "permissions"?'],
    [{ rules: [{ name: 'x', mode: 'deny' }] }, 'did you mean "action"?'],
    [{ rules: [{ name: 'x', action: 'interrupt' }] }, 'did you mean "ask"?'],
    [{ rules: [{ name: 'x', action: 'block' }] }, 'did you mean "deny"?'],
    [{ rules: [{ name: 'x', action: 'deny', permissions: ['read'] }] }, 'did you mean "file:view"?'],
    [{ rules: [{ name: 'x', action: 'deny', permissions: ['write'] }] }, 'did you mean "file:change"?'],
    [{ rules: [{ name: 'x', action: 'deny', permissions: ['file_read'] }] }, 'did you mean "file:read"?'],
    [{ memory: { backend: 'sqlite' } }, '"memory.backend" is unknown; the fields here are path, acl'],
    [{ memory: { directory: 'notes' } }, 'did you mean "path"?'],
    [
      { patchBudget: { maxFiles: 1 } },
      'maxFilesTouched, maxInsertions, maxDeletions, maxBytes, requireApprovalIf; did',
    ],
    [{ patchBudget: { maxFiles: 1 } }, 'did you mean "maxFilesTouched"?'],
    [{ patch_budget: { max_byte: 1 } }, 'max_files_touched, max_insertions, max_deletions, max_bytes'],
    [{ patch_budget: { max_byte: 1 } }, 'did you mean "max_bytes"?'],
    [{ network: { domains: ['example.org'] } }, 'did you mean "hosts"?'],
  ])('or a value of another system in its place is known: %j', (policy, text) => {
    expect(messageOf(policy)).toContain(text)
  })

  it('knows an audit that is off', () => {
    expect(messageOf({ security: { audit: { enabled: false } } })).toBe('')
    expect(messageOf({ security: { audit: { enabled: true, log_path: 'a' } } })).toContain('jsonlSink("audit.jsonl")')
  })
})

describe('a field in a wrong place of a policy in a file', () => {
  it('names an option of the command line, and nothing of the library', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'wardspace-misplaced-'))
    const file = join(directory, 'policy.json')
    const inFile = async (policy: object) => {
      writeFileSync(file, JSON.stringify({ preset: 'autonomous', ...policy }))
      return String(await loadConfig(directory, file).catch((error: unknown) => error))
    }
    const isInFile = ['audit']
    for (const name of workspaceOptionNames.filter((one) => !isInFile.includes(one))) {
      const message = await inFile({ [name]: 1 })
      expect(message, name).toMatch(
        /: use --[a-z-]+|: \w+ is an option of the library, which the command line does not have/,
      )
    }
    for (const name of Object.keys(defaultLimits)) {
      for (const policy of [{ [name]: 1 }, { limits: { [`${name}s`]: 1 } }])
        expect(await inFile(policy), name).not.toContain('createWorkspace')
    }
    rmSync(directory, { recursive: true })
  })
})

describe('an option of createWorkspace that belongs elsewhere', () => {
  it.each([
    ['allowedPaths', 'pass policy: { allowedPaths: … }'],
    ['permissions', 'pass policy: { rules: [{ permissions: … }] }'],
    ['interruptOn', 'pass policy: { tools: … }'],
    ['allowedDirectories', 'pass policy: { allowedPaths: … }'],
    ['deniedCommands', 'pass policy: { commands: { deny: … } }'],
    ['rootDir', 'did you mean "backend"?'],
    ['cwd', 'did you mean "keepCwd"?'],
    ['readLines', 'pass limits: { readLines: … }'],
  ])('is refused with its place: %s', async (name, place) => {
    const options = { backend: memory(), policy: 'autonomous', [name]: 1 } as const
    await expect(createWorkspace(options)).rejects.toThrow(`Option "${name}" of createWorkspace() is unknown; ${place}`)
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
