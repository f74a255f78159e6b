import type { CheckFields, Finding, FunctionCheck } from '../call/state/checks.ts'
import { ToolError } from '../errors.ts'
import { compileGlobs } from '../paths/glob.ts'
import {
  checkOptions,
  isOneOrMore,
  isPositive,
  isText,
  type OptionTable,
  refuseSurplus,
} from '../util/check-options.ts'
import { findJsonError } from '../util/json-syntax.ts'

/** Options of `json`. */
export interface JsonCheckOptions extends Partial<Pick<CheckFields, 'name' | 'files' | 'timeoutMs'>> {
  /** Globs of the files that may have comments and commas before a closing bracket, in addition to those known by name. */
  readonly jsonc?: string | readonly string[]
}

const optionTable: OptionTable<JsonCheckOptions> = {
  name: isText,
  files: isOneOrMore(isText),
  timeoutMs: isPositive,
  jsonc: isOneOrMore(isText),
}

const FILES = '**/*.{json,jsonc,geojson,webmanifest,code-workspace,code-snippets}'

/** The files that their programs read with comments. */
const JSONC = [
  '**/*.{jsonc,code-workspace,code-snippets}',
  '**/{tsconfig,jsconfig}{,.*,-*}.json',
  '**/{.vscode,.devcontainer}/**/*.json',
  '**/{devcontainer,babel.config,.babelrc,.eslintrc,.swcrc,.jshintrc,api-extractor,typedoc,turbo,biome,angular,nx,project,deno,rush,tslint,language-configuration}.json',
]

/**
 * A check of the syntax of JSON, with the line and the column of the first error of each changed file. Files such as
 * `tsconfig.json` may have comments and trailing commas.
 *
 * @example
 * import { json } from 'wardspace/checks'
 *
 * const workspace = await createWorkspace({
 *   backend: memory({ 'package.json': '{ "name": "app" }\n' }),
 *   policy: 'autonomous',
 *   checks: [json()],
 * })
 */
export function json(options?: JsonCheckOptions): FunctionCheck {
  refuseSurplus('json()', 1, arguments)
  const {
    name = 'json',
    files = FILES,
    timeoutMs,
    jsonc = [],
  } = checkOptions<JsonCheckOptions>('json()', options, optionTable)
  const lenient = compileGlobs([...JSONC, ...(typeof jsonc === 'string' ? [jsonc] : jsonc)], { caseInsensitive: true })
  return {
    name,
    files,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    async check({ changed, files: workspaceFiles }) {
      const findings: Finding[] = []
      for (const { path, change } of changed) {
        if (change === 'deleted') continue
        try {
          const error = findJsonError(await workspaceFiles.readText(path), { isLenient: lenient.matches(path) })
          if (error !== undefined) findings.push({ path, ...error })
        } catch (error) {
          // The file is gone, or no text.
          if (!(error instanceof ToolError)) throw error
          if (error.code.startsWith('UNSUPPORTED')) findings.push({ path, message: 'The file is not text' })
        }
      }
      return findings
    },
  }
}
