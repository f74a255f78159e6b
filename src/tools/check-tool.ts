import type { Access } from '../policy/access.ts'
import { gitPermissions, type Permission, permissions } from '../policy/permissions.ts'
import { didYouMean } from '../util/check-options.ts'
import type { Tool } from './define-tool.ts'

/** How a value of a definition is checked: the expected type, and whether the value has it. */
export interface FieldCheck {
  readonly expected: string
  readonly isOptional?: boolean
  matches(value: unknown): boolean
}

export const text: FieldCheck = { expected: 'a string', matches: (value) => typeof value === 'string' }
export const flag: FieldCheck = { expected: 'true or false', matches: (value) => typeof value === 'boolean' }
export const method: FieldCheck = { expected: 'a function', matches: (value) => typeof value === 'function' }
export const schema: FieldCheck = { expected: 'a zod 4 object schema', matches: isObjectSchema }
export const list: FieldCheck = { expected: 'an array', matches: Array.isArray }

const toolFields: Readonly<Record<keyof Tool, FieldCheck>> = {
  name: text,
  title: text,
  description: text,
  input: schema,
  output: schema,
  permission: { ...text, expected: 'one permission, such as "file:read"' },
  mutates: flag,
  idempotent: flag,
  commandLine: { ...method, isOptional: true },
  plan: method,
  draft: method,
}

const optionalFlag = { ...flag, isOptional: true }
/** Without `revertsLink`, which only the operations of the workspace may set. */
const accessFields: Readonly<Record<Exclude<keyof Access, 'revertsLink'>, FieldCheck>> = {
  permission: { ...text, expected: 'a permission' },
  path: text,
  recursive: optionalFlag,
  isSource: optionalFlag,
  reveals: optionalFlag,
  noFollow: optionalFlag,
  protections: { ...list, isOptional: true },
  removedAncestor: { ...text, isOptional: true },
}

/** Fields of every result, which the output of a tool cannot define. */
const resultFields = ['ok', 'summary', 'warnings', 'callId', 'artifactUri', 'label', 'checks']

/** Permissions of own tools. Only the git operations of the workspace write the files of git, and send them. */
const ownPermissions: readonly Permission[] = permissions.filter((permission) => !gitPermissions.has(permission))

/**
 * Checks the definition of an own tool, which plain JavaScript can get wrong.
 *
 * @throws TypeError with the field and the nearest known name
 */
export function checkTool(tool: unknown, at: string): asserts tool is Tool {
  if (typeof tool !== 'object' || tool === null) throw new TypeError(`${at} is not a tool; use defineTool`)
  const name = (tool as { name?: unknown }).name
  const label = typeof name === 'string' ? `Tool ${JSON.stringify(name.slice(0, 100))}` : at
  checkFields(tool, toolFields, label)
  const { permission, output, mutates } = tool as Tool
  checkPermission(permission, ownPermissions, label)
  const reserved = Object.keys(output.shape).find((field) => resultFields.includes(field))
  if (reserved !== undefined) {
    throw new TypeError(`${label}: "output" has the field "${reserved}", which every result has already`)
  }
  if (!mutates && (permission.startsWith('file:write') || changing.has(permission))) {
    throw new TypeError(`${label}: "mutates" is false, but its permission "${permission}" changes files`)
  }
}

/**
 * Checks the definitions of own tools, and returns their names.
 *
 * @throws TypeError for an invalid definition, a name that is not snake_case, and for two own tools with one name
 */
export function requireToolNames(extraTools: readonly Tool[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [index, tool] of extraTools.entries()) {
    checkTool(tool, `extraTools[${index}]`)
    const { name } = tool
    if (!/^[a-z][a-z0-9_]{0,63}$/.test(name)) {
      throw new TypeError(`Invalid tool name ${JSON.stringify(name)}: use a to z, 0 to 9 and _`)
    }
    if (names.has(name)) throw new TypeError(`Two own tools have the name "${name}"`)
    names.add(name)
  }
  return names
}

const changing: ReadonlySet<Permission> = new Set([
  ...(['file:append', 'file:delete', 'file:move', 'file:copy', 'file:patch:apply', 'memory:write'] as const),
])

/**
 * Checks the plan of an own tool.
 *
 * @throws TypeError with the access and the nearest known name
 */
export function checkPlan(planned: unknown): asserts planned is readonly Access[] {
  if (!Array.isArray(planned)) throw new TypeError('plan did not return an array of accesses')
  for (const [index, access] of planned.entries()) {
    const at = `access ${index} of the plan`
    if (typeof access !== 'object' || access === null) throw new TypeError(`${at} is not an object`)
    checkFields(access, accessFields, at)
    checkPermission((access as Access).permission, [...ownPermissions, 'file:write'], at)
  }
}

/** Names in other libraries for fields of a tool. */
const usualNames: Readonly<Record<string, string | undefined>> = {
  __proto__: null as never,
  execute: 'draft',
  handler: 'draft',
  run: 'draft',
  inputSchema: 'input',
  parameters: 'input',
  outputSchema: 'output',
}

/**
 * Checks that an object has all the fields, with their types, and no others. Returns a copy, for which each field is read
 * once.
 */
export function checkFields(
  object: object,
  fields: Readonly<Record<string, FieldCheck>>,
  label: string,
): Record<string, unknown> {
  const checked: Record<string, unknown> = {}
  for (const field of Object.keys(object)) {
    if (Object.hasOwn(fields, field)) continue
    const usual = usualNames[field]
    if (usual !== undefined && Object.hasOwn(fields, usual)) {
      throw new TypeError(`${label} has an unknown field ${JSON.stringify(field)}; use ${JSON.stringify(usual)}`)
    }
    throw new TypeError(
      `${label} has an unknown field ${JSON.stringify(field)}${didYouMean(field, Object.keys(fields), 'the fields are')}`,
    )
  }
  for (const [field, { expected, isOptional, matches }] of Object.entries(fields)) {
    const value = (object as Readonly<Record<string, unknown>>)[field]
    if (value === undefined && isOptional === true) continue
    if (value === undefined) throw new TypeError(`${label}: "${field}" is missing; it must be ${expected}`)
    if (!matches(value)) throw new TypeError(`${label}: "${field}" must be ${expected}`)
    checked[field] = value
  }
  return checked
}

function checkPermission(permission: string, permissions: readonly string[], label: string): void {
  if (permissions.includes(permission)) return
  throw new TypeError(
    `${label}: unknown permission ${JSON.stringify(permission)}${didYouMean(permission, permissions, 'the permissions are')}`,
  )
}

/** Whether a value is an object schema of zod 4, of any copy of the package. */
function isObjectSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { shape, safeParse } = value as { shape?: unknown; safeParse?: unknown }
  return typeof shape === 'object' && shape !== null && typeof safeParse === 'function' && '_zod' in value
}
