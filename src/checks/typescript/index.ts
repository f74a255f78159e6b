import type { CheckFields, FunctionCheck } from '../../call/state/checks.ts'
import { ToolError } from '../../errors.ts'
import {
  checkOptions,
  isFunction,
  isOneOrMore,
  isPositive,
  isText,
  type OptionTable,
  refuseSurplus,
} from '../../util/check-options.ts'
import { optionalPackage, rethrow } from '../../util/optional-package.ts'
import type { Compiler } from './api.ts'
import type { ReadLib } from './loaded-files.ts'
import type { Session } from './session.ts'

/** Options of `typescript`. */
export interface TypeScriptCheckOptions extends Partial<Pick<CheckFields, 'name' | 'files' | 'timeoutMs'>> {
  /**
   * Paths of the configurations to check after each change. Default: the nearest `tsconfig.json` or `jsconfig.json` above each
   * changed file, and those that it refers to.
   */
  readonly project?: string | readonly string[]
  /**
   * Loads the compiler: the package `typescript` of version 5 or 6. Version 7 has no compiler in JavaScript, but can be
   * installed beside it: `npm install @typescript/typescript6`. Default: imports the package `typescript`.
   */
  readonly compiler?: () => unknown
  /**
   * Returns the text of a declaration file of the compiler by its name, such as `lib.es2022.d.ts`. Default: from the directory
   * of the package, which needs a platform with files. In a page, fetch or bundle them.
   */
  readonly lib?: (name: string) => string | undefined | Promise<string | undefined>
}

const optionTable: OptionTable<TypeScriptCheckOptions> = {
  name: isText,
  files: isOneOrMore(isText),
  timeoutMs: isPositive,
  project: isOneOrMore(isText),
  compiler: isFunction,
  lib: isFunction,
}

const FILES = '**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,json}'

/**
 * A check of types by the compiler of TypeScript: what is wrong in the changed files, and what the change has broken in files
 * that depend on them. Needs the optional package `typescript`, version 5 or 6, which is loaded with the first change. It reads
 * what the agent may read, and keeps what it has computed for the next change.
 *
 * @example
 * import { typescript } from 'wardspace/checks'
 *
 * const workspace = await createWorkspace({
 *   backend: memory({ 'tsconfig.json': '{ "compilerOptions": { "strict": true } }', 'a.ts': 'export const a = 1\n' }),
 *   policy: 'autonomous',
 *   checks: [typescript()],
 * })
 */
export function typescript(options?: TypeScriptCheckOptions): FunctionCheck {
  refuseSurplus('typescript()', 1, arguments)
  const {
    name = 'typescript',
    files = FILES,
    timeoutMs,
    project = [],
    compiler,
    lib,
  } = checkOptions<TypeScriptCheckOptions>('typescript()', options, optionTable)
  const configs = typeof project === 'string' ? [project] : project
  return {
    name,
    files,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    async check(context) {
      // Checks at the same time share the session.
      const opening = (context.state.get(SESSION) as Promise<Session> | undefined) ?? openSession(compiler, lib)
      context.state.set(SESSION, opening)
      const session = await opening.catch((error: unknown) => {
        context.state.delete(SESSION)
        throw error
      })
      return session.check(context, configs)
    },
  }
}

const SESSION = 'session'

async function openSession(
  load: TypeScriptCheckOptions['compiler'],
  lib: TypeScriptCheckOptions['lib'],
): Promise<Session> {
  const module = load === undefined ? await loadPackage() : await load()
  const compiler = compilerIn(module)
  const readLib = lib ?? installedLib(compiler)
  const { Session: Opened } = await import('./session.ts')
  return new Opened(compiler, readLib)
}

function loadPackage(): Promise<unknown> {
  return optionalPackage(
    'typescript',
    'typescript()',
    async () => {
      try {
        return await import('typescript')
      } catch (error) {
        return rethrow(error)
      }
    },
    'BACKEND_ERROR',
  )
}

/** @throws ToolError `BACKEND_ERROR` for a version without a compiler in JavaScript */
function compilerIn(module: unknown): Compiler {
  const { default: inner = module } = Object(module) as { readonly default?: unknown }
  for (const each of [module, inner]) {
    const { createSemanticDiagnosticsBuilderProgram: builder, matchFiles } = Object(each) as Partial<Compiler>
    if (typeof builder === 'function' && typeof matchFiles === 'function') return each as Compiler
  }
  const { version } = Object(inner) as { readonly version?: unknown }
  const found = typeof version === 'string' ? `, not ${version.slice(0, 40)}` : ''
  throw new ToolError(
    'BACKEND_ERROR',
    `needs the compiler of typescript 5 or 6${found}: npm install @typescript/typescript6, and the option compiler, which imports it`,
  )
}

/** @throws ToolError `BACKEND_ERROR` on a platform without files */
function installedLib({ sys }: Compiler): ReadLib {
  if (sys === undefined) {
    throw new ToolError(
      'BACKEND_ERROR',
      'needs the option lib on this platform: it returns the declarations of the compiler',
    )
  }
  const directory = sys.getExecutingFilePath().replace(/(?<![^/\\])[^/\\]*$/, '')
  return (name) => (/^[\w.-]+$/.test(name) ? sys.readFile(`${directory}${name}`) : undefined)
}
