import type * as z from 'zod/mini'
import { hideTokens } from '../../call/hide-tokens.ts'
import { parseInput, unknownTool } from '../../call/parse-input.ts'
import type { AuthorizedCall, CallOptions, ExplainedAccess, Success } from '../../call/state/call.ts'
import type { CheckReport } from '../../call/state/checks.ts'
import { type Failure, ToolError, withCause } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import type { ShownVersion, Tool } from '../../tools/define-tool.ts'
import { isPlain } from '../../util/check-options.ts'
import type { ObjectSchema } from '../../util/object-schema.ts'
import { strictSchema } from '../../util/strict-schema.ts'
import { checkLines } from './check-lines.ts'
import { withLimits } from './limit-fields.ts'
import { type StepWarning, translateWarning, withNotes } from './notes.ts'
import { recordPaths } from './path-mapping.ts'
import { requireAnswer, requireKnownFields, requireStep, requireSteps } from './require-answer.ts'
import { callerNames, SafetyFields, safetyShapeOf, spellInput } from './safety-fields.ts'
import { inDialectNames, namesOf, toDialectError } from './translate-error.ts'
import type { Answer, Dialect, DialectResult, DialectTool, DialectToolInfo, Steps } from './types.ts'

type DialectCall = NonNullable<AuthorizedCall['dialectCall']>

/** Identifies the dialect tool to each call that it makes. */
interface DialectToolOptions {
  /** The dialect and the tool as called, for the audit. */
  readonly via: string
  /** The call of the dialect tool, for policy and rates. */
  readonly dialectCall: DialectCall
}

interface StepOptions extends DialectToolOptions {
  /** Whether the tool has made a call before. */
  readonly isLaterStep: boolean
  readonly shows: (shown: ShownVersion) => void
}

/** The verdict on a call, and what it would reach. */
export type CallExplanation = { readonly ok: true; readonly accesses: readonly ExplainedAccess[] } & Pick<
  AuthorizedCall,
  'verdict' | 'line'
>

/** What a dialect needs of a run. */
export interface DialectHost {
  callTool(name: string, input: unknown, options: CallOptions & StepOptions): Promise<Success | Failure>
  /** The limits that the workspace sets. */
  readonly limits: Partial<Limits>
  /** Notes what the run was shown. */
  noteShown(shown: ShownVersion): void
  /** Returns the latest version of a file that the run was shown; see `shownVersion`. */
  shownVersion(path: string): Promise<string>
  /** Evaluates a call without making it. @throws the error of a call that is refused before policy evaluates it */
  explain(tool: string | Tool, input: unknown, dialectCall: DialectCall): Promise<CallExplanation>
  /**
   * Returns a call of a dialect tool as policy matches it.
   *
   * @param translations the logical path of each path that its steps have translated
   */
  describeCall(
    toolNames: readonly string[],
    input: Readonly<Record<string, unknown>>,
    translations: ReadonlyMap<string, string>,
  ): DialectCall
  /** Returns the input fields of a registered built-in tool; `undefined` for other tools. */
  fieldsOf(name: string): readonly string[] | undefined
  /** Whether a tool of the workspace changes anything. */
  mutates(name: string): boolean
  /** Returns why a tool is not registered, or `undefined` if it is. */
  unavailableReason(name: string): ToolError | undefined
  /** Evaluates and records an access to the null device. */
  useNullDevice(access: 'read' | 'write', options: CallOptions & DialectToolOptions): Promise<Success | Failure>
  /**
   * Evaluates and records a call of a tool that answers without calls of the workspace. Returns undefined where policy has no
   * decision, rule or limit for it.
   */
  useAlone(name: string, options: CallOptions & DialectToolOptions): Promise<Success | Failure | undefined>
  /** Returns the verdict on a call of {@link useAlone}, or undefined where policy has nothing for it. */
  explainAlone(name: string, dialectCall: DialectCall): Promise<CallExplanation['verdict'] | undefined>
  /** Records a call that the dialect itself rejects. */
  rejectCall(name: string, error: unknown, options: CallOptions & { readonly via: string }): Promise<Failure>
}

/** Returns the tools of a dialect that a workspace can serve. */
export function dialectToolsFor(
  dialect: Dialect,
  isRegistered: (name: string) => boolean,
  mutates: (name: string) => boolean,
  limits: Partial<Limits>,
): readonly DialectToolInfo[] {
  return dialect.tools
    .filter(({ uses }) => uses.every(isRegistered))
    .map((tool) => ({ ...tool, inputSchema: compileInput(tool, limits).schema }))
    .map(({ name, title = name, description, inputSchema, output, annotations = {}, uses, mayUse = [], native }) => ({
      dialect: dialect.name,
      name,
      title,
      description,
      inputSchema,
      ...(output === undefined ? {} : { outputSchema: output }),
      annotations,
      mutates: [...uses, ...mayUse].some(mutates),
      ...(native === undefined ? {} : { native }),
    }))
}

/** The compiled input schemas of a dialect tool. */
interface InputContract {
  readonly schema: ObjectSchema
  /** Schemas of the safety fields. */
  readonly safety: z.core.$ZodShape
}

/** Compiled once per tool and limits: a schema must stay the same object, because its conversions are cached. */
const contracts = new WeakMap<Partial<Limits>, WeakMap<DialectTool, InputContract>>()

function compileInput(tool: DialectTool, limits: Partial<Limits>): InputContract {
  const ofTools = contracts.get(limits) ?? new WeakMap<DialectTool, InputContract>()
  contracts.set(limits, ofTools)
  let contract = ofTools.get(tool)
  if (contract === undefined) {
    contract = { schema: strictSchema(withLimits(tool, limits)), safety: safetyShapeOf(tool) }
    ofTools.set(tool, contract)
  }
  return contract
}

/** Parses the input of a call: the input of the tool, and the safety fields, which narrow its steps. */
export function parseDialectInput(
  dialect: Dialect,
  tool: DialectTool,
  input: unknown,
  limits: Partial<Limits>,
): {
  readonly parsed: Record<string, unknown>
  readonly safety: SafetyFields
  /** The caller's names of the fields of the workspace's tools. */
  readonly names: Readonly<Record<string, string>>
} {
  const { schema, safety: shape } = compileInput(tool, limits)
  const spelled = spellInput(tool, shape, dialect, input)
  // A suggestion names only fields of the schema: a safety field has the units and the spelling of the workspace's tools.
  const parsed = parseInput({ name: tool.name, input: schema }, normalizedInput(tool, input, spelled.input))
  const safety = new SafetyFields(tool, shape, spelled, dialect.pathMapping.inward)
  return { parsed, safety, names: callerNames(dialect, tool, spelled.spelling) }
}

/**
 * Returns the input in the form of the schema. Text stays text, and is refused, unless the tool puts it into a field, as it does
 * with a patch.
 */
function normalizedInput(tool: DialectTool, input: unknown, fields: unknown): unknown {
  if (isPlain(input)) return tool.normalizeInput?.(fields) ?? fields
  const converted = typeof input === 'string' ? tool.normalizeInput?.(input) : undefined
  const isTaken = typeof converted === 'object' && converted !== null && Object.values(converted).includes(input)
  return isTaken ? converted : input
}

/**
 * Creates the `call` of a run in a dialect, with a new state. It returns errors as results and never rejects. With a
 * `rejection`, the call is answered with that error.
 */
export function createDialectCall(
  dialect: Dialect,
  host: DialectHost,
): (name: string, input: unknown, options?: CallOptions, rejection?: unknown) => Promise<DialectResult> {
  const state = dialect.createState?.()
  return async (name, input, callOptions = {}, rejection = undefined) => {
    const pathMapping = recordPaths(dialect.pathMapping)
    const options = { ...callOptions, via: `${dialect.name}.${name.slice(0, 100)}` }
    const calls: StepCalls = { areMade: false, callIds: [], warnings: [], shownWarnings: [], checks: [], versions: [] }
    let { fields = {} } = dialect
    const toError = (failure: Failure, workspaceTool?: string): DialectResult => {
      const format = (shown: unknown) =>
        dialect.formatError(
          toDialectError({ ...dialect, pathMapping, fields }, name, failure, { input: shown, workspaceTool }),
        )
      // The second try is for an input whose fields cannot be read.
      let cause: unknown
      for (const shown of [input, undefined]) {
        try {
          const answer = requireAnswer(format(shown), 'formatError')
          return {
            ...toResult({ ...answer, output: answer.output, isError: true }, calls),
            failure: hideTokens(failure),
          }
        } catch (error) {
          cause = error
        }
      }
      const { code, message, hint } = hideTokens(failure)
      const output = `Error ${code}: ${message}\n${hint}`
      return {
        ...toResult({ output, isError: true }, calls),
        failure: withCause(hideTokens(failure), failure.cause ?? cause),
      }
    }
    try {
      if (rejection !== undefined) throw rejection
      const tool = requireTool(dialect, name, host)
      fields = callerNames(dialect, tool)
      const { parsed, safety, names } = parseDialectInput(dialect, tool, input, host.limits)
      fields = names
      const steps = requireSteps(tool, tool.steps(parsed, pathMapping, state))
      const stepOptions = {
        ...options,
        get dialectCall() {
          return host.describeCall(namesOf(tool), parsed, pathMapping.translations)
        },
      }
      const end = await runSteps(steps, calls, host, safety, tool, stepOptions)
      if ('failure' in end) return toError(end.failure, end.tool)
      if (!calls.areMade) {
        const alone = await host.useAlone(tool.name, stepOptions)
        if (alone?.ok === false) return toError(alone)
        if (alone !== undefined) calls.callIds.push(alone.callId)
      }
      safety.requireEffect()
      // Only an answered call counts: the caller of a failed one has not seen what it read.
      for (const { shown } of calls.versions) host.noteShown(shown)
      const rename = (text: string) => inDialectNames(text, { fields: names, tools: dialect.tools })
      const notes = calls.shownWarnings.flatMap(
        (warning) => translateWarning(warning, input, pathMapping, rename) ?? [],
      )
      const found = checkLines(calls.checks, pathMapping.outward)
      if (found.length > 0) notes.push(found.join('\n'))
      return toResult(withNotes(safety.isDryRun ? dryRunAnswer(end.answer) : end.answer, notes), calls)
    } catch (error) {
      return toError(await host.rejectCall(name, error, options))
    }
  }
}

/** Collects the workspace's calls of one call in a dialect. */
interface StepCalls {
  /** Whether any call was made, also one that failed. */
  areMade: boolean
  readonly callIds: string[]
  readonly warnings: string[]
  /** Warnings that the answer shows. */
  readonly shownWarnings: StepWarning[]
  /** What the checks of the workspace found after the calls. */
  readonly checks: CheckReport[]
  /** File versions that were read, with the parts of the steps that read them. */
  versions: { readonly parts: readonly object[]; readonly shown: ShownVersion }[]
}

type StepsEnd = { readonly answer: Answer } | { readonly failure: Failure; readonly tool?: string }

/** Runs the steps to their end, or to the first call that fails; `tool` is the tool of that call. */
async function runSteps(
  steps: Steps<Answer | Failure>,
  calls: StepCalls,
  host: DialectHost,
  safety: SafetyFields,
  dialectTool: DialectTool,
  options: CallOptions & DialectToolOptions,
): Promise<StepsEnd> {
  let isLaterStep = false
  let next = steps.next()
  while (next.done !== true) {
    const step = requireStep(dialectTool, next.value)
    if ('narrow' in step) {
      next = steps.next(safety.narrow(step.narrow, step.input) as object)
      continue
    }
    if ('nullDevice' in step) {
      calls.areMade = true
      const result = await host.useNullDevice(step.nullDevice, options)
      if (!result.ok) return { failure: result }
      calls.callIds.push(result.callId)
      next = steps.next(result)
      continue
    }
    if ('limit' in step) {
      next = steps.next(host.limits[step.limit] ?? '')
      continue
    }
    if (!('tool' in step)) {
      if ('note' in step) calls.shownWarnings.push({ text: step.note, quotesPaths: false })
      if ('unseen' in step) calls.versions = calls.versions.filter(({ parts }) => !parts.includes(step.unseen))
      next = steps.next('shown' in step ? await host.shownVersion(step.shown) : '')
      continue
    }
    const { tool, isNarrowed = false, continueOnError, parts = [] } = step
    requireDeclared(dialectTool, tool)
    requireKnownFields(dialectTool, step, host.fieldsOf(tool))
    if (host.mutates(tool)) safety.requireEffectOn(tool)
    const input = isNarrowed ? step.input : safety.narrow(tool, step.input)
    calls.areMade = true
    const shows = (shown: ShownVersion) => calls.versions.push({ parts, shown })
    // A tool that shows text alone gets no media.
    const { media, ...others } = options
    const taken = step.takesMedia === true && media !== undefined ? { media } : {}
    const result = await host.callTool(tool, input, { ...others, ...taken, isLaterStep, shows })
    isLaterStep = true
    if (result.ok) {
      safety.noteSuccess(tool)
      calls.callIds.push(result.callId)
      calls.warnings.push(...result.warnings)
      calls.checks.push(...(result.checks ?? []))
      const isOfCommand = tool.endsWith('_command')
      // The answer describes several calls that give one result, and changes, in its own words.
      if (!isNarrowed && (isOfCommand || !host.mutates(tool))) {
        calls.shownWarnings.push(...result.warnings.map((text) => ({ text, quotesPaths: !isOfCommand })))
      }
    } else if (!continueOnError) {
      return { failure: result, tool }
    }
    next = steps.next(result)
  }
  const end = requireAnswer(next.value, `The tool "${dialectTool.name}"`)
  return isFailure(end) ? { failure: end } : { answer: end }
}

/**
 * Requires that a tool of a dialect declares a tool that it calls: policy, listings and annotations rely on it.
 *
 * @throws TypeError for the author of the dialect
 */
export function requireDeclared({ name, uses, mayUse = [] }: DialectTool, tool: string): void {
  if (uses.includes(tool) || mayUse.includes(tool)) return
  throw new TypeError(`The tool "${name}" calls "${tool}", which neither its "uses" nor its "mayUse" name`)
}

/**
 * Returns a tool of a dialect.
 *
 * @throws ToolError `UNKNOWN_TOOL`, or the reason for which a tool that it uses is not registered
 */
export function requireTool(dialect: Dialect, name: string, { unavailableReason }: DialectHost): DialectTool {
  const tool = dialect.tools.find((one) => namesOf(one).includes(name))
  const isServed = ({ uses }: DialectTool) => uses.every((needed) => unavailableReason(needed) === undefined)
  if (tool === undefined) {
    throw unknownTool(
      name,
      dialect.tools.filter(isServed).map((served) => served.name),
    )
  }
  for (const needed of tool.uses) {
    const reason = unavailableReason(needed)
    if (reason !== undefined) throw new ToolError(reason.code, reason.message.replace(needed, name), reason.details)
  }
  return tool
}

/** Adds a line that nothing was changed above a text that describes what a tool would have done. */
function dryRunAnswer(answer: Answer): Answer {
  if (typeof answer.output !== 'string') return answer
  return { ...answer, output: `Dry run: nothing was changed. The answer would have been:\n${answer.output}` }
}

function isFailure(end: Answer | Failure): end is Failure {
  return 'ok' in end
}

function toResult(answer: Answer, { callIds, warnings }: StepCalls): DialectResult {
  // As JSON, a line break would be part of the word after it.
  const { output, content, structured, isError = false } = hideTokens(answer)
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return {
    isError,
    output,
    content: content ?? [{ type: 'text', text }],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    callIds,
    warnings: hideTokens(warnings),
  }
}
