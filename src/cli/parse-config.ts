import { findJsonError, type SyntaxProblem } from '../util/json-syntax.ts'
import { parse as parseToml, TomlError } from './packages/smol-toml.ts'
import { type Document, isNode, LineCounter, parseDocument } from './packages/yaml.ts'

/** A parsed configuration, with the lines of its fields. */
export interface ParsedConfig {
  readonly data: unknown
  /** Returns the line of a field such as `rules[0].action`. Unknown in TOML. */
  lineOf(field: string): number | undefined
}

export type ConfigFormat = 'json' | 'toml' | 'yaml'

/**
 * Reads the text of a configuration.
 *
 * @throws TypeError for a syntax error, with file, line and column
 */
export function parseConfig(text: string, format: ConfigFormat, name: string): ParsedConfig {
  if (format === 'toml') return { data: readToml(text, name), lineOf: () => undefined }
  if (format === 'json') {
    const problem = findJsonError(text, { uniqueNames: true })
    if (problem !== undefined) throw syntaxError(name, 'JSON', problem)
  }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, strict: true, schema: 'core' })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem !== undefined) {
    const { line, col } = lines.linePos(problem.pos[0])
    const message =
      problem.code === 'MULTIPLE_DOCS'
        ? 'expected the end, not another document'
        : problem.message + quoteHelp(text.slice(problem.pos[0]))
    throw syntaxError(name, format === 'json' ? 'JSON' : 'YAML', { line, column: col, message })
  }
  return { data: toData(document, name), lineOf: (field) => lineOf(document, lines, field) }
}

function toData(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    const { message } = error as Error
    const [, alias] = /^Unresolved alias .*?: (.*)/.exec(message) ?? []
    throw new TypeError(
      alias === undefined
        ? `${name}: ${message}`
        : `${name}: not valid YAML: *${alias} is an alias${quoteHelp(`*${alias}`)}`,
    )
  }
}

/** Returns that a value which begins with a sign of YAML needs quotes, as the end of a message. */
function quoteHelp(value: string): string {
  const [sign] = /^[*&!%@`]/.exec(value) ?? []
  return sign === undefined ? '' : `; a value that begins with ${sign} must be in quotes, such as "${sign}x"`
}

function readToml(text: string, name: string): unknown {
  try {
    return parseToml(text, { maxDepth: 100 })
  } catch (error) {
    /* v8 ignore if -- @preserve: the parser throws no other error */
    if (!(error instanceof TomlError)) throw new TypeError(`${name}: ${(error as Error).message}`)
    const message = error.message.replace(/^Invalid TOML document: /, '').replace(/\n.*/s, '')
    throw syntaxError(name, 'TOML', { line: error.line, column: error.column, message })
  }
}

function syntaxError(name: string, format: string, { line, column, message }: SyntaxProblem): TypeError {
  return new TypeError(`${name}:${line}:${column}: not valid ${format}: ${message}`)
}

/** Returns the line of a field, or of its nearest ancestor that exists. */
function lineOf(document: Document, lines: LineCounter, field: string): number | undefined {
  const path = field.split(/[.[\]]+/).filter((part) => part !== '')
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length).map(keyOf), true)
    const range = isNode(node) ? node.range : undefined
    if (range) return lines.linePos(range[0]).line
  }
  return undefined
}

function keyOf(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part
}
