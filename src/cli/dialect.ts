import { closeSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkDialect } from '../dialects/runtime/check-dialect.ts'
import type { VirtualRoots } from '../dialects/runtime/path-mapping.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import { builtinTools } from '../tools/index.ts'
import { didYouMean } from '../util/check-options.ts'
import { openRegularFile } from '../util/regular-file.ts'

/**
 * Loads the dialect that `--dialect` names: a built-in one by its name, or a module by its path. A path starts with `.` or
 * `/`, or ends in `.js` or `.mjs`. The module runs with the rights of this process, so pass only the option of the command
 * line, never a value from a file.
 *
 * @throws TypeError for an unknown dialect, and for a module that exports no dialect
 */
export async function dialectOf(option: string | undefined): Promise<Dialect | undefined> {
  if (option === undefined) return undefined
  return isModulePath(option) ? loadModule(option) : builtInDialect(option)
}

/**
 * Returns a built-in dialect by its name. Never loads a module.
 *
 * @param roots virtual roots of its paths. Default: those of the dialect
 * @throws TypeError that lists the dialects, for an unknown name
 */
export async function builtInDialect(name: string, roots?: VirtualRoots): Promise<Dialect> {
  const { dialects } = await import('../dialects/index.ts')
  const open = Object.hasOwn(dialects, name) ? dialects[name] : undefined
  if (open === undefined) {
    const help = didYouMean(name, Object.keys(dialects), 'the dialects are')
    throw new TypeError(
      `There is no dialect "${name}"${help}${help.endsWith('?') ? '' : '.'} A dialect of your own is a file, such as ./mine.js`,
    )
  }
  return open(roots)
}

/** Whether the value of `--dialect` is the path of a module. */
export function isModulePath(option: string): boolean {
  return /^[./]|\.m?js$/.test(option)
}

async function loadModule(file: string): Promise<Dialect> {
  let exported: unknown
  try {
    // Node would wait for a FIFO, and read a device without end.
    closeSync(openRegularFile(resolve(file)))
    const module: { readonly default?: unknown; readonly dialect?: unknown } = await import(
      /* @vite-ignore */ pathToFileURL(resolve(file)).href
    )
    exported = module.default ?? module.dialect
    if (typeof exported === 'function') exported = await exported()
  } catch (error) {
    throw new TypeError(`Cannot load the dialect "${file}": ${error instanceof Error ? error.message : String(error)}`)
  }
  const problem = problemOf(exported)
  if (problem === undefined) return exported as Dialect
  throw new TypeError(
    `Cannot use the dialect "${file}": ${problem}. Export a Dialect, or a function that returns one, as default or as "dialect"`,
  )
}

/** Returns what an exported value lacks to be a dialect. */
function problemOf(exported: unknown): string | undefined {
  if (!isObject(exported)) return 'the module exports no dialect'
  const { name, description, pathMapping, tools, formatError } = exported
  if (typeof name !== 'string' || name === '') return 'its "name" must be a text'
  if (typeof description !== 'string') return 'its "description" must be a text'
  if (!isObject(pathMapping) || typeof pathMapping.inward !== 'function' || typeof pathMapping.outward !== 'function') {
    return 'its "pathMapping" must come from createPathMapping'
  }
  if (typeof formatError !== 'function') return 'its "formatError" must be a function'
  if (!Array.isArray(tools)) return 'its "tools" must be an array'
  try {
    checkDialect(exported as unknown as Dialect, builtinTools)
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
