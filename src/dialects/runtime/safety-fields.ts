import * as z from 'zod/mini'
import { parseInput } from '../../call/parse-input.ts'
import { ToolError } from '../../errors.ts'
import { builtinTools, type ToolInput, type ToolName } from '../../tools/index.ts'
import { fieldProblem } from '../../util/in-english.ts'
import { isSchema } from '../../util/strict-schema.ts'
import type { Dialect, DialectTool } from './types.ts'

/**
 * The safety fields of each tool of the workspace: the fields that make a call narrower or safer. A tool of a dialect takes
 * those of the tools that it uses, also where its own schema does not have them.
 */
const safetyFields: { readonly [N in ToolName]?: readonly (keyof ToolInput<N> & string)[] } = {
  list_directory: ['maxDepth', 'maxEntries', 'includeHidden', 'includeIgnored'],
  find_files: ['maxResults', 'includeHidden', 'includeIgnored'],
  search_text: [
    ...(['includeGlob', 'excludeGlob', 'maxMatches', 'maxFileBytes', 'timeoutMs'] as const),
    ...(['includeHidden', 'includeIgnored'] as const),
  ],
  read_file: ['startLine', 'startColumn', 'maxLines'],
  diff_workspace: ['maxBytes'],
  edit_file: ['expectedSha256', 'dryRun', 'reason'],
  replace_range: ['expectedSha256', 'reason'],
  apply_patch: ['expectedSha256s', 'expectedBaseCommit', 'dryRun', 'reason'],
  write_file: ['mode', 'createParents', 'expectedSha256', 'reason'],
  append_file: ['createParents', 'expectedSha256', 'reason'],
  create_directory: ['expectedSha256', 'reason'],
  copy_file: ['createParents', 'expectedSha256', 'reason'],
  move_file: ['createParents', 'expectedSha256', 'reason'],
  delete_file: ['expectedSha256', 'reason'],
  run_command: ['timeoutMs', 'reason'],
  start_command: ['timeoutMs', 'reason'],
  stop_command: ['reason'],
  memory_search: ['maxResults'],
  memory_recall: ['maxNotes'],
  memory_store: ['expectedSha256', 'reason'],
  submit_plan: ['reason'],
}

/** Fields that only lower a limit: a call cannot raise the limit that a tool of a dialect sets itself. */
const limits: ReadonlySet<string> = new Set([
  ...['maxDepth', 'maxEntries', 'maxResults', 'maxMatches', 'maxFileBytes', 'maxLines', 'maxBytes', 'maxNotes'],
  'timeoutMs',
])

/** Fields that have one meaning: a call cannot contradict what a tool of a dialect sets itself. */
const fixed: ReadonlySet<string> = new Set(['mode', 'createParents', 'includeGlob', 'excludeGlob', 'reason'])

/** Returns the safety fields that a tool of the workspace takes. */
export function safetyFieldsOf(tool: string): readonly string[] {
  return Object.hasOwn(safetyFields, tool) ? (safetyFields[tool as ToolName] ?? []) : []
}

const shapes: ReadonlyMap<string, Readonly<Record<string, z.core.$ZodType>>> = new Map(
  builtinTools.map(({ name, input }) => [name, input.shape]),
)

/** Returns the schemas of all safety fields that a tool of a dialect takes, without defaults. */
export function safetyShapeOf({ uses, mayUse = [], narrows = [...uses, ...mayUse] }: DialectTool): z.core.$ZodShape {
  const shape: Record<string, z.core.$ZodType> = {}
  for (const tool of narrows) {
    for (const field of safetyFieldsOf(tool)) {
      const schema = shapes.get(tool)?.[field]
      if (schema !== undefined) shape[field] ??= isSchema(schema, '$ZodDefault') ? schema._zod.def.innerType : schema
    }
  }
  return shape
}

/** The input of a call in a dialect, in the spelling of the schema. */
export interface SpelledInput {
  /** Fields for the schema of the tool, and unknown ones. */
  readonly input: unknown
  /** Safety fields that the schema does not have, in camelCase. */
  readonly safety: Readonly<Record<string, unknown>>
  /** The spelling of each safety field in the input. */
  readonly spelling: ReadonlyMap<string, string>
}

/**
 * Separates the safety fields from an input, and renames fields in the other spelling: both camelCase and snake_case are
 * accepted.
 *
 * @throws ToolError `INVALID_INPUT` if two spellings of a field have different values
 */
export function spellInput(
  { name, input: { shape } }: DialectTool,
  safetyShape: z.core.$ZodShape,
  { fields: dialectFields = {} }: Pick<Dialect, 'fields'>,
  input: unknown,
): SpelledInput {
  const spelling = new Map<string, string>()
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return { input, safety: {}, spelling }
  const ownFields = new Map(Object.keys(shape).map((field) => [toCamelCase(field), field]))
  const own = new Map<string, unknown>()
  const safety = new Map<string, unknown>()
  for (const [key, value] of Object.entries(input)) {
    const field = toCamelCase(key)
    const alias = Object.hasOwn(dialectFields, field) ? String(dialectFields[field]) : field
    const ownField = Object.hasOwn(shape, key) ? key : (ownFields.get(field) ?? ownFields.get(toCamelCase(alias)))
    const isSafety = ownField === undefined && Object.hasOwn(safetyShape, field)
    if (isSafety && value === undefined) continue
    const target = isSafety ? field : (ownField ?? key)
    const values = isSafety ? safety : own
    if (values.has(target) && JSON.stringify(values.get(target)) !== JSON.stringify(value)) {
      throw invalid(name, key, `it has another value than ${JSON.stringify(spelling.get(target))}; give one of them`)
    }
    values.set(target, value)
    spelling.set(target, key)
  }
  return { input: Object.fromEntries(own), safety: Object.fromEntries(safety), spelling }
}

/**
 * Returns how the caller of a tool names the fields of the workspace's tools: the dialect's names, and the tool's own fields
 * and safety fields as they are spelled in the call.
 */
export function callerNames(
  { fields = {} }: Pick<Dialect, 'fields'>,
  { input: { shape } }: DialectTool,
  spelling: ReadonlyMap<string, string> = new Map(),
): Readonly<Record<string, string>> {
  const own = Object.keys(shape).map((field) => [toCamelCase(field), spelling.get(field) ?? field] as const)
  return { ...fields, ...Object.fromEntries([...own, ...spelling]) }
}

function toCamelCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function invalid(tool: string, field: string, reason: string): ToolError {
  return new ToolError('INVALID_INPUT', `Invalid input for ${tool}: ${fieldProblem(field, reason)}`, {
    field,
    hint: `Correct or leave out "${field}" and call again.`,
  })
}

/** The safety fields of one call in a dialect. They narrow the calls of its steps, and none of them is ignored. */
export class SafetyFields {
  readonly #tool: string
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #spelling: ReadonlyMap<string, string>
  /** Fields of the steps that succeeded. */
  readonly #effective = new Set<string>()

  /** @throws ToolError `INVALID_INPUT` for a value that the field cannot have */
  constructor(
    tool: DialectTool,
    shape: z.core.$ZodShape,
    { safety, spelling }: SpelledInput,
    inward: (path: string) => string,
  ) {
    this.#tool = tool.name
    this.#spelling = spelling
    const spell = (field: string) => spelling.get(field) ?? field
    const spelledShape = Object.keys(safety).map((field) => [spell(field), shape[field] as z.core.$ZodType] as const)
    const schema = z.partial(z.strictObject(Object.fromEntries(spelledShape)))
    const spelled = Object.entries(safety).map(([field, value]) => [spell(field), value] as const)
    const listed = Object.keys(tool.input.shape)
    const parsed = parseInput({ name: tool.name, input: schema }, Object.fromEntries(spelled), listed)
    const fields = Object.fromEntries(Object.keys(safety).map((field) => [field, parsed[spell(field)]]))
    const { expectedSha256s } = fields
    if (typeof expectedSha256s === 'object' && expectedSha256s !== null) {
      const versions = Object.entries(expectedSha256s).map(([path, version]) => [inward(path), version])
      this.#fields = { ...fields, expectedSha256s: Object.fromEntries(versions) }
    } else this.#fields = fields
  }

  /** Whether the call is a dry run. */
  get isDryRun(): boolean {
    return this.#fields.dryRun === true
  }

  /**
   * Returns the input of a step with the safety fields that its tool takes.
   *
   * @throws ToolError `INVALID_INPUT` if a field would widen what the step sets itself
   */
  narrow(tool: string, input: unknown): unknown {
    const toolFields = this.#takenBy(tool)
    if (toolFields.length === 0) return input
    const narrowed: Record<string, unknown> = { ...(input as object) }
    for (const field of toolFields) narrowed[field] = this.#combine(field, narrowed[field], this.#fields[field])
    return narrowed
  }

  #combine(field: string, set: unknown, requested: unknown): unknown {
    if (set === undefined || set === requested) return requested
    if (field === 'dryRun') return set === true || requested === true
    if (limits.has(field) && Number(requested) > Number(set)) {
      throw this.#refuse(field, `must be at most ${set} here`)
    }
    if (fixed.has(field) || (/^start(Line|Column)$/.test(field) && set !== 1)) {
      throw this.#refuse(field, `must be ${JSON.stringify(set)} here, or left out`)
    }
    return requested
  }

  /**
   * Checks that a change would not ignore a field. Called before the change.
   *
   * @throws ToolError `INVALID_INPUT` with the field
   */
  requireEffectOn(tool: string): void {
    const toolFields = this.#takenBy(tool)
    for (const field of Object.keys(this.#fields)) {
      if (toolFields.includes(field) || (field !== 'dryRun' && this.#effective.has(field))) continue
      throw this.#refuse(field, 'has no effect on this call')
    }
  }

  /** Notes that a step succeeded. */
  noteSuccess(tool: string): void {
    for (const field of this.#takenBy(tool)) this.#effective.add(field)
  }

  /**
   * Checks that every field had its effect.
   *
   * @throws ToolError `INVALID_INPUT` with the field
   */
  requireEffect(): void {
    for (const field of Object.keys(this.#fields)) {
      if (!this.#effective.has(field)) throw this.#refuse(field, 'has no effect on this call')
    }
  }

  #takenBy(tool: string): readonly string[] {
    return safetyFieldsOf(tool).filter((field) => this.#fields[field] !== undefined)
  }

  #refuse(field: string, reason: string): ToolError {
    return invalid(this.#tool, this.#spelling.get(field) ?? field, reason)
  }
}
