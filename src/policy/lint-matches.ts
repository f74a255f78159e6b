import type * as z from 'zod/mini'
import { classifyPath } from '../files/classify/index.ts'
import { kindByName } from '../files/classify/kinds.ts'
import type { FileKind } from '../files/classify/types.ts'
import { expandBraces } from '../paths/braces.ts'
import { GIT_DIRECTORY, type Path } from '../paths/logical-path.ts'
import type { ObjectSchema } from '../util/object-schema.ts'
import { compilePaths, compileTexts, permissionMask } from './match.ts'
import { memoryPath } from './memory-policy.ts'
import { isMutating, type Permission, permissionBit, permissions } from './permissions.ts'
import type { PolicyData, PolicyRule } from './schema.ts'

/** One finding about a policy. */
export interface PolicyFinding {
  /** The name of the rule, or the field of the policy. */
  readonly rule: string
  /** What the rule leaves open, or why it has no effect. */
  readonly message: string
  /** What to write instead. */
  readonly hint: string
}

/** A tool, as far as a policy concerns it: a built-in tool, or one of `Workspace.tools`. */
export interface LintTool {
  readonly name: string
  /** Without one, its calls may ask for any. */
  readonly permission?: string
  /** The schema of its input. Without one, the values of arguments are not checked. */
  readonly input?: ObjectSchema
  /** The same as `input`. */
  readonly inputSchema?: ObjectSchema
  /** Its accesses. Without parameters, they are the same for every call. */
  plan?(...input: never[]): readonly unknown[]
}

/** Finds what no call can match in a rule: the rule, or a part of it, has no effect. */
export function neverMatches(data: PolicyData, rule: PolicyRule, tools: readonly LintTool[]): readonly PolicyFinding[] {
  const named = toolsOf(rule, tools)
  const found = (message: string, hint: string) => ({ rule: rule.name, message, hint })
  return [
    ...idleCommandLines(rule, named, found),
    ...idlePermissions(data, rule, named, tools, found),
    ...idlePaths(data, rule, named, found),
    ...idleKinds(rule, found),
    ...idleArguments(rule, tools, found),
    ...idleValues(rule, named ?? tools, found),
    ...lineArguments(rule, named ?? tools, found),
  ]
}

type Found = (message: string, hint: string) => PolicyFinding

/** Returns the tools that a rule names: `undefined` if it has no `tools`, and none if one of them is not known. */
function toolsOf({ tools: patterns }: PolicyRule, known: readonly LintTool[]): readonly LintTool[] | undefined {
  if (patterns === undefined) return undefined
  const isKnown = (pattern: string) => known.some(({ name }) => compileTexts([pattern], 'tools')(name))
  return patterns.every(isKnown) ? known.filter(({ name }) => compileTexts(patterns, 'tools')(name)) : []
}

function namesOf(tools: readonly LintTool[]): string {
  return [...new Set(tools.map(({ name }) => name))].join(', ')
}

function idleCommandLines({ commands }: PolicyRule, tools: readonly LintTool[] | undefined, found: Found) {
  if (commands === undefined || !tools?.length) return []
  if (tools.some(({ permission }) => permission === undefined || permission.startsWith('command:'))) return []
  const message = `It has no effect: ${namesOf(tools)} run no command, and the rule is about commands`
  return [found(message, 'Leave out tools, or name run_command.')]
}

/** Finds permissions that no call of the tools asks for. */
function idlePermissions(
  data: PolicyData,
  { permissions: patterns = [] }: PolicyRule,
  named: readonly LintTool[] | undefined,
  known: readonly LintTool[],
  found: Found,
) {
  return patterns.flatMap((pattern) => {
    const asked: readonly string[] = permissionsOf(pattern)
    if (!data.memory && asked.every((permission) => permission.startsWith('memory:'))) {
      const message = `${JSON.stringify(pattern)} has no effect: the policy has no memory`
      return [found(message, 'Remove it, or add memory to the policy.')]
    }
    const tools = named ?? known.filter(({ permission = '' }) => asked.includes(permission))
    if (!tools.length || tools.some((tool) => asked.some((permission) => mayAsk(tool, permission)))) return []
    const message = `${JSON.stringify(pattern)} has no effect: no call of ${namesOf(tools)} asks for it`
    const hint = named
      ? 'Leave out tools, or name one that needs it.'
      : `Use tools: ["${tools[0]?.name}"] in its place.`
    return [found(message, hint)]
  })
}

export function permissionsOf(pattern: string): readonly Permission[] {
  const mask = permissionMask([pattern], 'permissions')
  return permissions.filter((permission) => (mask & permissionBit(permission)) !== 0)
}

/** Whether a call of a tool may ask for a permission. Every tool may ask to read: for hints, versions and suggestions. */
export function mayAsk(tool: LintTool, asked: string): boolean {
  const { permission } = tool
  if (permission === undefined) return true
  if (hasNoAccess(tool)) return false
  if (permission === asked) return true
  if (asked === 'plan:submit') return false
  if (permission.startsWith('command:') && /^(?:file|git):/.test(asked)) return true
  return !isMutating(asked as Permission) || (permission.startsWith('file:write:') && asked.startsWith('file:write:'))
}

/** Whether no call of a tool has an access, which rules on permissions and paths match. */
function hasNoAccess({ plan }: LintTool): boolean {
  return plan?.length === 0 && plan().length === 0
}

/** Finds paths that no call with the permissions of the rule has. */
function idlePaths(
  data: PolicyData,
  { action, permissions: patterns, paths, kinds }: PolicyRule,
  tools: readonly LintTool[] | undefined,
  found: Found,
) {
  if (tools?.length && tools.every(hasNoAccess) && (paths ?? kinds) !== undefined) {
    const message = `It has no effect: calls of ${namesOf(tools)} have no paths`
    return [found(message, 'Leave out paths and kinds.')]
  }
  if (paths === undefined) return []
  const asked = patterns?.flatMap(permissionsOf) ?? []
  const isOnly = (group: string) => asked.length > 0 && asked.every((permission) => permission.startsWith(group))
  if (isOnly('command:') && action !== 'allow' && !paths.includes('**')) {
    const message =
      'It is about the directory in which a command starts, and not about the files that the command reaches'
    return [found(message, 'For files, use permissions: ["file:change"]; for commands, a rule with commands.')]
  }
  const set = compilePaths(paths, 'paths')
  const reaches = (directory: string) => set.matches(directory) || set.mayMatchBelow(directory)
  const gitPatterns =
    patterns?.filter((pattern) => permissionsOf(pattern).every((permission) => permission.startsWith('git:'))) ?? []
  if (gitPatterns.length > 0 && !reaches(GIT_DIRECTORY)) {
    const message = `${gitPatterns.map((pattern) => JSON.stringify(pattern)).join(', ')} has no effect: its paths are all in .git`
    return [found(message, 'Leave out paths, or write a rule of its own for it.')]
  }
  const isNotes =
    isOnly('memory:') || (tools?.length && tools.every(({ permission }) => permission?.startsWith('memory:')))
  if (isNotes && data.memory && !reaches(memoryPath(data.memory))) {
    const message = `It has no effect: the paths of notes are all in ${memoryPath(data.memory)}`
    return [found(message, 'Name paths of notes, or leave out paths.')]
  }
  return []
}

/** Kinds that depend on more than the name of a file. */
const otherKinds: ReadonlySet<FileKind> = new Set(['GENERATED', 'BINARY', 'DIRECTORY'])

/** Kinds that a directory in the place of a star may give to a file. */
const placeKinds: ReadonlySet<FileKind> = new Set(['VENDORED', 'SECRET_LIKE', 'GIT_INTERNAL', 'LOCKFILE'])

/** Finds kinds that no file with a name of the rule has. */
function idleKinds({ paths, kinds }: PolicyRule, found: Found) {
  if (paths === undefined || kinds === undefined || kinds.some((kind) => otherKinds.has(kind))) return []
  const possible = paths.map(kindsOfNames)
  if (possible.some((names) => names === undefined || kinds.some((kind) => names.has(kind)))) return []
  const message = `It has no effect: no file of ${paths.join(', ')} is of the kind ${kinds.join(', ')}`
  return [found(message, 'Leave out kinds, or name the files of the kind.')]
}

/** Returns the kinds of the files that a glob matches. `undefined` unless it ends in a name or an extension. */
function kindsOfNames(pattern: string): ReadonlySet<FileKind> | undefined {
  if (!/\.[\w-]+$/.test(pattern)) return undefined
  const { matches } = compilePaths([pattern], 'paths')
  const examples = examplePaths([pattern])
  if (examples.length === 0) return undefined
  const directories = examples.map((path) => path.slice(0, path.lastIndexOf('/') + 1))
  const named = directories.flatMap((directory) => [...kindByName.keys()].map((name) => (directory + name) as Path))
  const kinds = [...examples, ...named.filter(matches)].map((path) => classifyPath(path).kind)
  return new Set([...kinds, ...(pattern.includes('*') ? placeKinds : [])])
}

/** Finds values of arguments that no input of the tools can have. */
function idleValues({ args = {} }: PolicyRule, tools: readonly LintTool[], found: Found) {
  return Object.entries(args).flatMap(([field, patterns]) => {
    const schemas = tools.flatMap(({ input, inputSchema = input }) =>
      inputSchema?._zod && Object.hasOwn(inputSchema.shape, field) ? [inputSchema.shape[field] as z.core.$ZodType] : [],
    )
    const values = schemas.map(valuesOf)
    if (values.length === 0 || values.includes(undefined)) return []
    const idle = patterns.filter(
      (pattern) => !values.flatMap((each) => each ?? []).some(compileTexts([pattern], 'args')),
    )
    if (idle.length === 0) return []
    const message = `In args.${field}, ${idle.map((pattern) => JSON.stringify(pattern)).join(', ')} has no effect: the values are ${[...new Set(values.flat())].join(', ')}`
    return [found(message, 'Write one of these values.')]
  })
}

/** Finds arguments that no call of the tools has. Which further arguments tools of a dialect have is not known. */
function idleArguments({ tools: entries = ['*'], args = {} }: PolicyRule, tools: readonly LintTool[], found: Found) {
  const lacks = (tool: LintTool, field: string) => isNative(tool) && !mayHaveArgument(tool, field)
  return Object.keys(args).flatMap((field) => {
    const idle = entries.filter((entry) => {
      const named = tools.filter(({ name }) => compileTexts([entry], 'tools')(name))
      return named.length > 0 && named.every((tool) => lacks(tool, field))
    })
    if (idle.length === 0) return []
    const message = `It matches no call of ${idle.join(', ')}, which have no ${field}`
    return [found(message, 'Name tools that have it, or write a rule of their own for the others.')]
  })
}

/** Whether a tool is one of the workspace, or its description. A tool of a dialect has no plan, and its description no permission. */
function isNative({ plan, permission, inputSchema }: LintTool): boolean {
  return permission !== undefined && (plan !== undefined || inputSchema !== undefined)
}

/** Whether the input of a tool may have a field, at any depth. */
function mayHaveArgument({ input, inputSchema = input }: LintTool, field: string): boolean {
  return !inputSchema?._zod || mayHave(inputSchema as unknown as z.core.$ZodType, field)
}

function mayHave(schema: z.core.$ZodType, field: string): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'object') {
    return Object.hasOwn(def.shape, field) || Object.values(def.shape).some((part) => mayHave(part, field))
  }
  if (def.type === 'array') return mayHave(def.element, field)
  if (def.type === 'record') return mayHave(def.valueType, field)
  if ('innerType' in def) return mayHave(def.innerType as z.core.$ZodType, field)
  return !plainTypes.has(def.type)
}

/** The types of values without fields. */
const plainTypes: ReadonlySet<string> = new Set(['string', 'number', 'int', 'boolean', 'enum', 'literal', 'null'])

/** Finds `args.command` where it is the line of a command: `commands` match each command that the line starts. */
function lineArguments({ args }: PolicyRule, tools: readonly LintTool[], found: Found) {
  if (!args?.command || !tools.some(({ permission }) => permission?.startsWith('command:'))) return []
  const message =
    'args.command is compared with the whole line, and not with the commands that the line or a script starts'
  return [found(message, `Use commands: ${JSON.stringify(args.command)} in its place.`)]
}

/** Returns the texts that a field may have, or `undefined` if it may have any. */
function valuesOf(schema: z.core.$ZodType): readonly string[] | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if ('innerType' in def) return valuesOf(def.innerType as z.core.$ZodType)
  if (def.type === 'enum') return Object.values(def.entries).map(String)
  if (def.type === 'literal') return def.values.map(String)
  return def.type === 'boolean' ? ['true', 'false'] : undefined
}

/** A name that no real rule is likely to contain. */
export const NAME = 'zqx'

/** Names and characters in the place of `*` and `?`. A glob for some names matches few of them by chance. */
const wildcards = [
  [NAME, 'q'],
  ['.0-Q', '0'],
] as const

/** Returns paths that the globs match, of several depths. A glob with a bracket expression has none. */
export function examplePaths(globs: readonly string[]): readonly Path[] {
  return globs.flatMap((glob) => {
    const { matches } = compilePaths([glob], 'paths')
    const paths = expandBraces(glob, glob).flatMap((pattern) =>
      wildcards.flatMap(([name, character]) => {
        const path = (names: string) =>
          pattern.replace(/\/$/, `/${name}`).replace(/\*\*/g, names).replace(/\*/g, name).replace(/\?/g, character)
        return [path(name), path(`${name}/${name}`), `${path(name)}/${name}`]
      }),
    )
    return [...new Set(paths)].filter(matches) as Path[]
  })
}
