import type { Answer, Dialect, DialectTool, Refusal, SpokenResult, SpokenTool } from '../dialect.ts'
import { type ErrorCode, type Failure, ToolError } from '../errors.ts'
import { parseInput } from '../input.ts'
import { quote } from '../paths/logical-path.ts'
import type { CallOptions, Success } from '../pipeline.ts'

/** What a dialect is spoken over: a run's own calls. */
export interface Spoken {
  call(name: string, input: unknown, options: CallOptions & { readonly via: string }): Promise<Success | Failure>
  /** Why a tool is not registered; `undefined` where it is. */
  whyNot(name: string): ToolError | undefined
  /** Records a call that the dialect refuses by itself. */
  refuse(name: string, why: unknown, options: CallOptions & { readonly via: string }): Promise<Failure>
}

/** The tools of a dialect that a workspace can serve. */
export function spokenTools(
  dialect: Dialect,
  isRegistered: (name: string) => boolean,
  mutates: (name: string) => boolean,
): readonly SpokenTool[] {
  return dialect.tools
    .filter(({ uses }) => uses.every(isRegistered))
    .map(({ name, title = name, description, input, output, annotations = {}, uses }) => ({
      dialect: dialect.name,
      name,
      title,
      description,
      inputSchema: input,
      ...(output === undefined ? {} : { outputSchema: output }),
      annotations,
      mutates: uses.some(mutates),
    }))
}

/** `call` in a dialect. Like that of the workspace it gives a result or a refusal, and never rejects. */
export function speak(
  dialect: Dialect,
  spoken: Spoken,
): (name: string, input: unknown, options?: CallOptions) => Promise<SpokenResult> {
  const byName = new Map(dialect.tools.map((tool) => [tool.name, tool]))
  return async (name, input, options = {}) => {
    const how = { ...options, via: `${dialect.name}.${String(name).slice(0, 100)}` }
    const callIds: string[] = []
    const warnings: string[] = []
    const refused = (failure: Failure): SpokenResult => ({
      ...resultOf({ ...dialect.refusal(refusalOf(dialect, name, failure)), isError: true }, callIds, warnings),
      failure,
    })
    try {
      const tool = requireTool(byName, dialect, name, spoken)
      const steps = tool.steps(parseInput(tool, input), dialect.place)
      let next = steps.next()
      while (next.done !== true) {
        const { tool: own, input: given, goesOn } = next.value
        const result = await spoken.call(own, given, how)
        if (result.ok) {
          callIds.push(result.callId)
          warnings.push(...result.warnings)
        } else if (!goesOn) {
          return refused(result)
        }
        next = steps.next(result)
      }
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

/** A refusal with the dialect's paths, and with hints that name none of our tools and fields. */
export function refusalOf(dialect: Dialect, tool: string, failure: Failure): Refusal {
  const { code, message, path } = failure
  const { place } = dialect
  const shown = path === undefined ? undefined : place.outward(path)
  return {
    code,
    message: path === undefined || shown === undefined ? message : message.replace(quote(path), () => quote(shown)),
    hint: dialect.hints?.[code] ?? hints(place.roots)[code] ?? hintOf(failure, dialect),
    ...(shown === undefined ? {} : { path: shown }),
    tool,
    failure,
  }
}

/** Suggested names are logical ones. */
function hintOf({ hint, suggestions }: Failure, { place }: Dialect): string {
  if (!Array.isArray(suggestions)) return hint
  return suggestions.reduce(
    (text: string, one: string) => text.replace(`"${one}"`, () => `"${place.outward(one)}"`),
    hint,
  )
}

/** Hints of a workspace that name its own tools or fields, in words of no dialect. */
function hints(roots: readonly string[]): Readonly<Partial<Record<ErrorCode, string>>> {
  return {
    ...(roots.length === 0
      ? {}
      : {
          PATH_REJECTED: `Use a path below ${roots.join(' or ')} with forward slashes; the same path will not work.`,
        }),
    IS_DIRECTORY: 'Name a file; list a directory to see what is in it.',
    WRITE_CONFLICT: 'Read the whole file again and repeat the change on its current version.',
    EDIT_NO_MATCH: 'Copy the text exactly from the file, with its white space.',
    EDIT_AMBIGUOUS: 'Add surrounding lines until the text occurs once.',
    UNSUPPORTED_BINARY: 'The file is not text.',
    COMMAND_TIMEOUT: 'Use a shorter command or a longer time limit.',
  }
}

function resultOf(
  { output, content, structured, isError = false }: Answer,
  callIds: readonly string[],
  warnings: readonly string[],
): SpokenResult {
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
