import { quote } from '../paths/logical-path.ts'
import { didYouMean } from '../util/check-options.ts'
import { nearestName } from '../util/nearest-name.ts'
import { directoryGlob } from './absolute-patterns.ts'
import { camelCase, type FieldOrigins, isObject, snakeCase, toCamelCase, writtenField } from './written-fields.ts'

/** The fields of a policy in camelCase, before they are checked. */
type Fields = Record<string, unknown>

/**
 * Translates the sections of other systems' configurations into fields of a policy:
 *
 * - `tools.file` with `enabled`, `allowed_paths` and `read_only` (also as `tools.FileOps`);
 * - `security` with `tool_policy.tools`, `policy.rules` and `policy.default_action`;
 * - `acl_enabled`, also in `memory`;
 * - `patchBudget`, with `maxFilesTouched`, `maxInsertions`, `maxDeletions`, `maxBytes` and `requireApprovalIf`.
 *
 * A field that has no effect here is refused. `security.audit` does not belong in a policy; see {@link takeAuditSection}.
 *
 * @param origins receives the written name of each translated field
 * @throws TypeError for an unknown field, and for one that a policy field repeats
 */
export function importSections(policy: Fields, origins: Map<string, string>): Fields {
  return importPatchBudget(importAcl(importSecurity(importFileTools(policy, origins), origins), origins), origins)
}

/** The limits of this policy by the fields of a patch budget. */
const budgetLimits: Readonly<Record<string, string>> = {
  maxFilesTouched: 'patchFiles',
  maxInsertions: 'patchInsertions',
  maxDeletions: 'patchDeletions',
  maxBytes: 'patchBytes',
}

/** The budget of one patch: some limits, and the risks that need an approval. */
function importPatchBudget(policy: Fields, origins: Map<string, string>): Fields {
  if (!Object.hasOwn(policy, 'patchBudget')) return policy
  const { patchBudget, ...rest } = policy
  const section = writtenField('patchBudget', origins)
  const names = [...Object.keys(budgetLimits), 'requireApprovalIf']
  const { requireApprovalIf, ...budget } = fieldsOf(patchBudget, section, names, origins)
  const limits: Fields = isObject(rest.limits) ? { ...toCamelCase(rest.limits, 'limits', origins) } : {}
  for (const [field, value] of Object.entries(budget)) {
    const limit = budgetLimits[field] as string
    const fieldName = writtenField(`${section}.${field}`, origins)
    if (Object.hasOwn(limits, limit)) throw repeated(fieldName, writtenField(`limits.${limit}`, origins))
    limits[limit] = value
    origins.set(`limits.${limit}`, fieldName)
  }
  if (requireApprovalIf !== undefined) {
    const fieldName = writtenField(`${section}.requireApprovalIf`, origins)
    if (Object.hasOwn(rest, 'requireApprovalIf')) throw repeated(fieldName, writtenField('requireApprovalIf', origins))
    rest.requireApprovalIf = requireApprovalIf
    origins.set('requireApprovalIf', fieldName)
  }
  return { ...rest, ...(Object.keys(limits).length === 0 ? {} : { limits }) }
}

/** The names of the file tools' section below `tools`, in camelCase. */
const fileSections: ReadonlySet<string> = new Set(['file', 'fileOps'])

/** A program that serves only file tools: either all of them or those that only read, below some directories. */
function importFileTools(policy: Fields, origins: Map<string, string>): Fields {
  if (!isObject(policy.tools)) return policy
  const { tools } = policy
  const sections = Object.keys(tools).filter((key) => isObject(tools[key]) && fileSections.has(camelCase(key)))
  const [name, second] = sections
  const other = Object.keys(tools).find((key) => isObject(tools[key]) && !sections.includes(key))
  if (other !== undefined) {
    const field = `${writtenField('tools', origins)}.${other}`
    const help = didYouMean(snakeCase(camelCase(other)), ['file', 'file_ops'])
    throw new TypeError(`Policy field "${field}" must be "allow" or "ask" or "deny", not an object${help}`)
  }
  if (name === undefined) {
    const empty = Object.keys(tools).find((key) => fileSections.has(camelCase(key)) && typeof tools[key] !== 'string')
    if (empty === undefined) return policy
    const field = `${writtenField('tools', origins)}.${empty}`
    throw new TypeError(`Policy field "${field}" must be an object with "enabled" and "allowed_paths"`)
  }
  if (second !== undefined) throw repeated(`tools.${name}`, `tools.${second}`)
  const section = `${writtenField('tools', origins)}.${name}`
  const { [name]: file, ...decisions } = tools
  const { tools: _, ...rest } = policy
  const fields = fieldsOf(file, section, ['enabled', 'allowedPaths', 'readOnly'], origins)
  const enabled = flagIn(fields, section, 'enabled', origins)
  const isReadOnly = flagIn(fields, section, 'readOnly', origins) ?? false
  if (enabled !== true) {
    throw new TypeError(
      `Policy field "${section}.enabled" ${enabled === undefined ? 'is missing, which means false' : 'is false'}: there would be no tool; set it to true`,
    )
  }
  if (!Array.isArray(fields.allowedPaths) || fields.allowedPaths.length === 0) {
    const field = spelledField(section, 'allowedPaths', fields, origins)
    throw new TypeError(`Policy field "${field}" must be a list of directories: without one, every path is denied`)
  }
  for (const field of ['preset', 'defaultAction', 'allowedPaths']) {
    if (Object.hasOwn(policy, field)) throw repeated(section, writtenField(field, origins))
  }
  const pattern = fields.allowedPaths.find((path) => typeof path === 'string' && /(?:^|\/)\*+(?:$|\/)/.test(path))
  if (pattern !== undefined) {
    const field = writtenField(`${section}.allowedPaths`, origins)
    throw new TypeError(
      `Policy field "${field}" contains directories, and ${quote(pattern)} is a pattern; write the directory without the stars`,
    )
  }
  origins.set('allowedPaths', writtenField(`${section}.allowedPaths`, origins))
  return {
    ...rest,
    ...(Object.keys(decisions).length === 0 ? {} : { tools: decisions }),
    preset: isReadOnly ? 'readOnly' : 'autonomous',
    allowedPaths: fields.allowedPaths.map((path) => (typeof path === 'string' ? globOf(path) : path)),
  }
}

/** Returns a glob that matches a literal directory and what is below it. */
function globOf(path: string): string {
  const directory = path.replace(/(?<=[^/])\/+$|(?<=^\/)\/+$/, '')
  return directory === '.' ? '**' : directoryGlob(directory)
}

/** An engine that decides by tool, by rules on paths, and by a default action. */
function importSecurity(policy: Fields, origins: Map<string, string>): Fields {
  if (!Object.hasOwn(policy, 'security')) return policy
  const { security, ...rest } = policy
  const section = writtenField('security', origins)
  const { toolPolicy, policy: rules, audit } = fieldsOf(security, section, ['toolPolicy', 'policy', 'audit'], origins)
  if (audit !== undefined && auditFileOf(audit, `${section}.audit`, origins) !== undefined) {
    const field = writtenField(`${section}.audit`, origins)
    throw new TypeError(
      `Policy field "${field}" does not belong in a policy: pass the file to createWorkspace, as in audit: jsonlSink("audit.jsonl")`,
    )
  }
  const sections = [
    ...(toolPolicy === undefined ? [] : [{ name: 'toolPolicy', value: toolPolicy, fields: ['tools'] }]),
    ...(rules === undefined ? [] : [{ name: 'policy', value: rules, fields: ['rules', 'defaultAction'] }]),
  ]
  for (const { name, value, fields } of sections) {
    const path = `${section}.${name}`
    for (const [field, item] of Object.entries(fieldsOf(value, path, fields, origins))) {
      const fieldName = writtenField(`${path}.${field}`, origins)
      if (Object.hasOwn(rest, field)) throw repeated(fieldName, writtenField(field, origins))
      rest[field] = item
      origins.set(field, fieldName)
    }
  }
  return rest
}

/** `acl_enabled` means the same as `memory.acl`. Outside of `memory`, `false` adds no memory. */
function importAcl(policy: Fields, origins: Map<string, string>): Fields {
  const { aclEnabled, ...rest } = policy
  if (rest.memory !== undefined && !isObject(rest.memory)) return policy
  const memory = rest.memory === undefined ? {} : toCamelCase(rest.memory, 'memory', origins)
  const spellings = { aclEnabled, 'memory.aclEnabled': memory.aclEnabled, 'memory.acl': memory.acl }
  const [first, second] = Object.entries(spellings).filter(([, value]) => value !== undefined)
  if (first === undefined || first[0] === 'memory.acl') return rest
  const [field, acl] = first
  const fieldName = writtenField(field, origins)
  if (second !== undefined) throw repeated(fieldName, writtenField(second[0], origins))
  if (typeof acl !== 'boolean') throw new TypeError(`Policy field "${fieldName}" must be true or false`)
  if (!acl && rest.memory === undefined) return rest
  const { aclEnabled: _, ...fields } = memory
  origins.set('memory.acl', fieldName)
  return { ...rest, memory: { ...fields, acl } }
}

/** A configuration without its section `security.audit`. */
export interface AuditSection {
  readonly config: Fields
  /** The name of the audit file, if the section turns the audit on. */
  readonly file?: string
}

/**
 * Separates `security.audit`, with `enabled` and `log_path`, from a configuration.
 *
 * @throws TypeError for an unknown field, and if the audit is on without a file
 */
export function takeAuditSection(config: Fields): AuditSection {
  const origins = new Map<string, string>()
  const { security } = toCamelCase(config, '', origins)
  if (!isObject(security)) return { config }
  const section = writtenField('security', origins)
  const { audit } = toCamelCase(security, section, origins)
  if (audit === undefined) return { config }
  const path = `${section}.audit`
  const file = auditFileOf(audit, path, origins)
  const auditKey = writtenField(path, origins).slice(section.length + 1)
  const { [auditKey]: _, ...others } = security
  return { config: { ...config, [section]: others }, ...(file === undefined ? {} : { file }) }
}

/** Returns the audit file of a section `audit`, or undefined when the section turns the file off. */
function auditFileOf(audit: unknown, path: string, origins: Map<string, string>): string | undefined {
  const fields = fieldsOf(audit, path, ['enabled', 'logPath'], origins)
  const { logPath } = fields
  const enabled = flagIn(fields, path, 'enabled', origins) ?? true
  if (logPath === undefined ? enabled : typeof logPath !== 'string' || logPath === '') {
    throw new TypeError(`Policy field "${spelledField(path, 'logPath', fields, origins)}" must be the name of a file`)
  }
  return enabled ? (logPath as string) : undefined
}

/**
 * Returns the fields of a section in camelCase.
 *
 * @throws TypeError if the section is not an object, or has another field
 */
function fieldsOf(value: unknown, section: string, names: readonly string[], origins: Map<string, string>): Fields {
  const path = writtenField(section, origins)
  if (!isObject(value)) throw new TypeError(`Policy field "${path}" must be an object`)
  const fields = toCamelCase(value, section, origins)
  for (const name of Object.keys(fields)) {
    if (names.includes(name)) continue
    const spelled = names.map(isInCamelCase(section, fields, origins) ? String : snakeCase)
    const nearest = spelled[names.indexOf(nearestName(name, names) ?? '')]
    const other = Object.hasOwn(otherSections, `${section}.${name}`) ? otherSections[`${section}.${name}`] : undefined
    const help = other ?? (nearest === undefined ? '' : `; did you mean "${nearest}"?`)
    throw new TypeError(
      `Policy field "${writtenField(`${section}.${name}`, origins)}" is unknown; the fields here are ${spelled.join(', ')}${help}`,
    )
  }
  return fields
}

/** Where fields of other systems' sections belong, as the end of a message. */
const otherSections: Readonly<Record<string, string>> = {
  'security.toolPolicy.default': '; did you mean "security.policy.default_action"?',
  'security.toolPolicy.groups': '; write a rule with the tools of the group',
  'patchBudget.maxFiles': '; did you mean "maxFilesTouched"?',
}

/** Whether a section is written in camelCase. Without a field of several words, a section of that spelling is. */
function isInCamelCase(section: string, fields: Fields, origins: FieldOrigins): boolean {
  const words = Object.keys(fields).filter((name) => /[A-Z]/.test(name))
  if (words.length === 0) return section === 'patchBudget' && !origins.has(section)
  return words.some((name) => !origins.has(`${section}.${name}`))
}

/** Returns the path of a field as the section would write it, also when the field is missing. */
function spelledField(section: string, name: string, fields: Fields, origins: FieldOrigins): string {
  const written = writtenField(`${section}.${name}`, origins)
  if (Object.hasOwn(fields, name) || isInCamelCase(section, fields, origins)) return written
  return `${written.slice(0, -name.length)}${snakeCase(name)}`
}

/** @throws TypeError if the field is present and neither true nor false */
function flagIn(fields: Fields, section: string, name: string, origins: Map<string, string>): boolean | undefined {
  const flag = fields[name]
  if (flag === undefined || typeof flag === 'boolean') return flag
  throw new TypeError(`Policy field "${writtenField(`${section}.${name}`, origins)}" must be true or false`)
}

function repeated(field: string, other: string): TypeError {
  return new TypeError(`Policy fields "${field}" and "${other}" mean the same; keep one`)
}
