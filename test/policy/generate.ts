import fc from 'fast-check'
import { classifyPath } from '../../src/files/classify/index.ts'
import type { LogicalPath } from '../../src/paths/logical-path.ts'
import { permissions } from '../../src/policy/permissions.ts'
import type { PolicyData, PolicyRule } from '../../src/policy/schema.ts'

/** Few names, so that rules match paths often. Every protection occurs among them. */
const directories = ['src', 'docs', 'lib', 'dist', '.ssh', '.git', 'node_modules', 'a']
const files = ['a.ts', 'b.md', '.env', 'package-lock.json', 'x.pb.go', 'logo.png', 'src', 'config']

export const paths = fc
  .tuple(fc.array(fc.constantFrom(...directories), { maxLength: 3 }), fc.constantFrom(...files))
  .map(([above, name]) => [...above, name].join('/') as LogicalPath)

export const globs = fc.oneof(
  fc.constantFrom('**', '*', '**/*', 'src/**', '**/.env', '**/*.ts', 'docs', 'src/*', '**/docs/**', 'src/a.ts', '*.md'),
  fc.constantFrom('{src,docs}', '{src/*,docs}', 'src/{a,*.ts}', '**/{docs,.ssh}', '[sd]rc', 'src/[ab]', '{docs,*}/a'),
  fc
    .array(fc.constantFrom(...directories, ...files, '*', '**', '*.*', '?.ts'), { minLength: 1, maxLength: 4 })
    .map((names) => names.join('/')),
)

const someGlobs = fc.array(globs, { minLength: 1, maxLength: 3 })

export const toolNames = fc.constantFrom('read_file', 'write_file', 'search_text')

const rule: fc.Arbitrary<Omit<PolicyRule, 'name'>> = fc.record(
  {
    action: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
    tools: fc.uniqueArray(toolNames, { minLength: 1 }),
    permissions: fc.array(fc.constantFrom('*', 'file:*', 'file:write:*', 'file:read', 'file:list', 'command:*'), {
      minLength: 1,
      maxLength: 2,
    }),
    paths: someGlobs,
    kinds: fc.array(fc.constantFrom('TEXT_SOURCE' as const, 'SECRET_LIKE' as const, 'LOCKFILE' as const), {
      minLength: 1,
      maxLength: 2,
    }),
    overrides: fc.uniqueArray(fc.constantFrom('secret' as const, 'generated' as const, 'lockfile' as const), {
      minLength: 1,
    }),
  },
  { requiredKeys: ['action'] },
)

function withName(input: Omit<PolicyRule, 'name'>, name: string): PolicyRule {
  if (input.action === 'allow') return { ...input, name }
  const { overrides: _, ...rest } = input
  return { ...rest, name }
}

export const extraRule = rule.map((input) => withName(input, 'extra'))

export const rules = fc
  .array(rule, { maxLength: 5 })
  .map((input) => input.map((one, index) => withName(one, `rule ${index}`)))

const decisions = fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const)

export const policies: fc.Arbitrary<PolicyData> = fc.record(
  {
    preset: fc.constantFrom('readOnly' as const, 'supervised' as const, 'autonomous' as const),
    allowedPaths: fc.array(globs, { maxLength: 3 }),
    deniedPaths: fc.array(globs, { maxLength: 2 }),
    readOnlyPaths: fc.array(globs, { maxLength: 2 }),
    tools: fc.dictionary(toolNames, decisions, { maxKeys: 2, noNullPrototype: true }),
    rules,
  },
  { requiredKeys: ['rules'] },
)

export const names = fc
  .record({ tool: toolNames, permission: fc.constantFrom(...permissions), path: paths })
  .map((name) => ({ ...name, classification: classifyPath(name.path) }))
