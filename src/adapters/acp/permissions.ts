import { commandLine } from '../../dialects/codex/shell-line.ts'
import { protocolError } from './errors.ts'
import type { AcpPermissionOption, AcpPermissionResponse, AcpToolCall } from './types.ts'

/** A call of the workspace that does what an agent announces. */
export interface AnnouncedCall {
  readonly tool: 'read_file' | 'write_file' | 'delete_file' | 'run_command'
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * Returns the calls that do what an agent announces: all that it names in any form, because it acts on the answer as a whole. None if it
 * names nothing. The texts of a change may be parts of the file: only its path is meant.
 *
 * @param inward returns the path of the workspace for a path of the message
 */
export function announcedCalls(call: AcpToolCall, inward: (path: string) => string): AnnouncedCall[] {
  const inputs = inputsIn(call.rawInput)
  const changed = (call.content ?? []).flatMap(({ type, path }) =>
    type === 'diff' && path !== undefined ? [path] : [],
  )
  const named = [
    ...(call.locations ?? []).map(({ path }) => path),
    ...inputs.flat().flatMap(([name, value]) => (PATH_FIELD.test(name) ? textsOf(value) : [])),
    // Codex names the files that it changes by the names of fields.
    ...inputs.flat().flatMap(([name]) => (inward(name) === name ? [] : [name])),
  ]
  return [
    ...changed.map((path): AnnouncedCall => ({ tool: 'write_file', input: { path: inward(path), content: '' } })),
    ...named.flatMap((path) => toolsOf(call.kind).map((tool) => fileCall(tool, inward(path)))),
    ...commandsOf(call, inputs).map((command): AnnouncedCall => ({ tool: 'run_command', input: { command } })),
  ]
}

/** Fields that agents use for paths, and for commands. */
const PATH_FIELD =
  /^(?:(?:abs(?:olute)?|file|notebook|dir(?:ectory)?|target|source|src|dest(?:ination)?|old|new|from|to)_?)?(?:path|file|filename|dir|directory)s?$/i
const COMMAND_FIELD = /^(?:command|cmd|commandline|command_line|script)s?$/i
/** The commands of text editors, which are no command lines. */
const EDITOR_COMMAND = /^(?:view|create|str_replace|insert|undo_edit|delete|rename)$/

function toolsOf(kind: string | null | undefined): readonly AnnouncedCall['tool'][] {
  if (kind === 'edit') return ['write_file']
  if (kind === 'delete') return ['delete_file']
  return kind === 'move' ? ['read_file', 'write_file', 'delete_file'] : ['read_file']
}

function fileCall(tool: AnnouncedCall['tool'], path: string): AnnouncedCall {
  return { tool, input: tool === 'write_file' ? { path, content: '' } : { path } }
}

/** The fields of an object. */
type Fields = readonly (readonly [string, unknown])[]

/** Returns the command lines that are named. Some agents have the line of a command as the title alone. */
function commandsOf({ kind, title }: AcpToolCall, inputs: readonly Fields[]): string[] {
  const lines = inputs.flatMap((fields) => linesOf(kind, fields))
  if (lines.length > 0 || kind !== 'execute') return lines
  const line = (title ?? '').trim().replace(/^(`+)([^`]+)\1$/, '$2')
  return line === '' ? [] : [line]
}

function linesOf(kind: AcpToolCall['kind'], fields: Fields): string[] {
  const args = fields.flatMap(([name, value]) => (/^arg(?:ument)?s$/i.test(name) ? textsOf(value) : []))
  return fields.flatMap(([name, value]) => {
    if (!COMMAND_FIELD.test(name)) return []
    const words = textsOf(value)
    if (Array.isArray(value)) return words.length === 0 ? [] : [commandLine([...words, ...args]), ...words]
    const [line] = words
    if (line === undefined || (kind !== 'execute' && EDITOR_COMMAND.test(line))) return []
    return args.length === 0 ? [line] : [commandLine([line, ...args])]
  })
}

/** Returns the fields of an input, and of each object in it at any depth. */
function inputsIn(input: unknown): readonly Fields[] {
  const inputs: Fields[] = []
  // What is added while it is iterated is visited, too.
  const values = new Set([input])
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    for (const each of Object.values(value)) values.add(each)
    if (!Array.isArray(value)) inputs.push(Object.entries(value))
  }
  return inputs
}

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string' && one !== '')
}

/** @throws AcpError if two options have one id, so that an answer could mean either */
export function requireDistinct(options: readonly AcpPermissionOption[]): void {
  if (new Set(options.map(({ optionId }) => optionId)).size < options.length)
    throw protocolError('invalid', 'options: two of them have one id')
}

/** Returns the answer with the option of this kind, or `cancelled` if the agent offers none. */
export function answerWith(
  kind: 'allow_once' | 'reject_once',
  options: readonly AcpPermissionOption[],
): AcpPermissionResponse {
  const option = options.find((option) => option.kind === kind)
  if (option === undefined) return { outcome: { outcome: 'cancelled' } }
  return { outcome: { outcome: 'selected', optionId: option.optionId } }
}
