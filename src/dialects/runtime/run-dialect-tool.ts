import { parseInput } from '../../call/parse-input.ts'
import type { CallOptions, Success } from '../../call/state/call.ts'
import { type Failure, ToolError } from '../../errors.ts'
import type { ShownVersion } from '../../tools/define-tool.ts'
import { toDialectError } from './translate-error.ts'
import type { Answer, Dialect, DialectResult, DialectTool, DialectToolInfo } from './types.ts'

/** What a dialect is spoken over: a run's own calls. */
export interface Spoken {
  callTool(
    name: string,
    input: unknown,
    options: CallOptions & { readonly via: string; readonly shows: (shown: ShownVersion) => void },
  ): Promise<Success | Failure>
  /** Notes what the run was shown. */
  noteShown(shown: ShownVersion): void
  /** The latest version of a file that the run was shown; see `shownVersion`. */
  shownVersion(path: string): Promise<string>
  /** Why a tool is not registered; `undefined` where it is. */
  whyNot(name: string): ToolError | undefined
  /** Records a call that the dialect refuses by itself. */
  refuse(name: string, why: unknown, options: CallOptions & { readonly via: string }): Promise<Failure>
}

/** The tools of a dialect that a workspace can serve. */
export function dialectToolsFor(
  dialect: Dialect,
  isRegistered: (name: string) => boolean,
  mutates: (name: string) => boolean,
): readonly DialectToolInfo[] {
  return dialect.tools
    .filter(({ uses }) => uses.every(isRegistered))
    .map(({ name, title = name, description, input, output, annotations = {}, uses, mayUse = [], native }) => ({
      dialect: dialect.name,
      name,
      title,
      description,
      inputSchema: input,
      ...(output === undefined ? {} : { outputSchema: output }),
      annotations,
      mutates: [...uses, ...mayUse].some(mutates),
      ...(native === undefined ? {} : { native }),
    }))
}

/** `call` in a dialect. Like that of the workspace it gives a result or a refusal, and never rejects. */
export function createDialectCall(
  dialect: Dialect,
  spoken: Spoken,
): (name: string, input: unknown, options?: CallOptions) => Promise<DialectResult> {
  const byName = new Map(
    dialect.tools.flatMap((tool) => [tool.name, ...(tool.formerNames ?? [])].map((one) => [one, tool])),
  )
  return async (name, input, options = {}) => {
    const how = { ...options, via: `${dialect.name}.${String(name).slice(0, 100)}` }
    const callIds: string[] = []
    const warnings: string[] = []
    let seen: { readonly parts: readonly object[]; readonly shown: ShownVersion }[] = []
    const refused = (failure: Failure, own?: string): DialectResult => ({
      ...resultOf(
        { ...dialect.refusal(toDialectError(dialect, name, failure, { input, own })), isError: true },
        callIds,
        warnings,
      ),
      failure,
    })
    try {
      const tool = requireTool(byName, dialect, name, spoken)
      const steps = tool.steps(parseInput(tool, tool.normalizeInput?.(input) ?? input), dialect.pathMapping)
      let next = steps.next()
      while (next.done !== true) {
        const step = next.value
        if (!('tool' in step)) {
          if ('unseen' in step) seen = seen.filter(({ parts }) => !parts.includes(step.unseen))
          next = steps.next('shown' in step ? await spoken.shownVersion(step.shown) : '')
          continue
        }
        const { tool: own, input: given, continueOnError: goesOn, parts = [] } = step
        const shows = (shown: ShownVersion) => seen.push({ parts, shown })
        const result = await spoken.callTool(own, given, { ...how, shows })
        if (result.ok) {
          callIds.push(result.callId)
          warnings.push(...result.warnings)
        } else if (!goesOn) {
          return refused(result, own)
        }
        next = steps.next(result)
      }
      if (isFailure(next.value)) return refused(next.value)
      // What was read for a call that is refused, nobody has seen.
      for (const { shown } of seen) spoken.noteShown(shown)
      return resultOf(next.value, callIds, warnings)
    } catch (error) {
      return refused(await spoken.refuse(name, error, how))
    }
  }
}

function requireTool(
  byName: ReadonlyMap<string, DialectTool>,
  dialect: Dialect,
  name: string,
  { whyNot }: Spoken,
): DialectTool {
  const tool = byName.get(name)
  const isServed = ({ uses }: DialectTool) => uses.every((own) => whyNot(own) === undefined)
  if (tool === undefined) {
    throw new ToolError('UNKNOWN_TOOL', `There is no tool ${JSON.stringify(String(name).slice(0, 100))} here`, {
      hint: `Use one of: ${dialect.tools
        .filter(isServed)
        .map((one) => one.name)
        .join(', ')}.`,
    })
  }
  for (const own of tool.uses) {
    const why = whyNot(own)
    if (why !== undefined) throw new ToolError(why.code, why.message.replace(own, name), why.details)
  }
  return tool
}

function isFailure(end: Answer | Failure): end is Failure {
  return 'ok' in end
}

function resultOf(
  { output, content, structured, isError = false }: Answer,
  callIds: readonly string[],
  warnings: readonly string[],
): DialectResult {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return {
    isError,
    output,
    content: content ?? [{ type: 'text', text }],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    callIds,
    warnings,
  }
}
