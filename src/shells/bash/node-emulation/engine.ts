import type { QuickJSHandle } from 'quickjs-emscripten'
import { createFileCalls } from './file-calls.ts'
import { guestSource } from './guest-source.ts'
import { textOf } from './guest-values.ts'
import { installFacts, installHostFunctions } from './host-functions.ts'
import { moduleSource } from './module-source.ts'
import { createResolver, dirname, looksLikeModule, type Resolver } from './resolve.ts'
import type { Script, ScriptFiles, ScriptResult, ScriptStreams } from './script.ts'
import { createScriptContext, type EngineLimits, type ScriptContext } from './script-context.ts'

/** Marks the name of a module that was not found: the engine can report the reason only when it loads the module. */
const NOT_FOUND = 'not-found:'

/** Modules of Node that `node -e` has as globals. */
const EVAL_GLOBALS = ['assert', 'buffer', 'events', 'fs', 'os', 'path', 'url', 'util', 'crypto']

/**
 * Runs a script of JavaScript as Node does, in an engine of its own. The script can access nothing but the given files, and
 * each access waits for their answer. It has no network and no processes.
 *
 * @throws ToolError if it was ended from outside: `COMMAND_TIMEOUT`, `ABORTED`, `LIMIT_EXCEEDED`
 */
export async function runScript(
  script: Script,
  files: ScriptFiles,
  limits: EngineLimits,
  streams: ScriptStreams = {},
): Promise<ScriptResult> {
  const isTerminal = streams.input !== undefined
  const { onOutput, input = onceEntered(script.stdin) } = streams
  const run = await createScriptContext(limits, { onOutput, input })
  const exportNames = new Map<string, readonly string[]>()
  const resolver = createResolver(files, exportNames)
  installHostFunctions(run, createFileCalls(files, resolver), input)
  installFacts(run, script, isTerminal)
  installModuleLoader(run, resolver, files, exportNames)
  await run.evaluate(guestSource, '<guest>')
  const builtins = await run.evaluate('JSON.stringify(__ward.exportNames())', '<names>')
  for (const [name, keys] of JSON.parse(textOf(run.context, builtins)) as [string, string[]][]) {
    exportNames.set(name, keys)
  }

  const { main } = script
  await run.drain(await (main.kind === 'code' ? runCode(run, script.cwd, main) : runFile(run, script, resolver)))
  if (run.exitCode === undefined) {
    const code = await run.evaluate(
      "process.emit('exit', process.exitCode || 0); Number(process.exitCode || 0)",
      '<exit>',
    )
    // Without a value it has failed, which sets the exit code.
    if (run.exitCode === undefined && code !== undefined) run.exitCode = run.context.getNumber(code) & 255
  }
  run.requireRunning()
  // The engine's memory is released as a whole, not value by value.
  const { stdout, stderr, tests } = run
  return { stdout, stderr, exitCode: run.exitCode as number, ...(tests === undefined ? {} : { tests }) }
}

/** An input that is complete before the script starts. */
function onceEntered(stdin: string): NonNullable<ScriptStreams['input']> {
  let rest: string | undefined = stdin || undefined
  return {
    async next() {
      const text = rest
      rest = undefined
      return text
    },
  }
}

function installModuleLoader(
  { context }: ScriptContext,
  resolver: Resolver,
  files: ScriptFiles,
  exportNames: ReadonlyMap<string, readonly string[]>,
): void {
  context.runtime.setModuleLoader(
    async (name) => {
      try {
        if (name.startsWith(NOT_FOUND)) throw new Error(name.slice(NOT_FOUND.length))
        return await moduleSource(name, files, exportNames)
      } catch (error) {
        return { error: error as Error }
      }
    },
    async (from, name) => {
      try {
        const module = await resolver.resolve(name, dirname(from), 'import')
        if ('builtin' in module) return `node:${module.builtin}`
        return module.format === 'module' ? module.path : `${module.format}:${module.path}`
      } catch (error) {
        return `${NOT_FOUND}${(error as Error).message}`
      }
    },
  )
}

/** Runs code of the command line. Returns the promise of a module. */
async function runCode(
  run: ScriptContext,
  cwd: string,
  { text, prints, isModule }: Extract<Script['main'], { kind: 'code' }>,
): Promise<QuickJSHandle | undefined> {
  if (isModule || (!prints && looksLikeModule(text))) return run.evaluate(text, `${cwd}/[eval]`, 'module')
  await run.evaluate(
    `var require = __ward.requireFrom(${JSON.stringify(cwd)}), module = { exports: {} }, exports = module.exports;
     var __filename = '[eval]', __dirname = '.';
     for (const name of ${JSON.stringify(EVAL_GLOBALS)}) {
       if (!(name in globalThis)) {
         Object.defineProperty(globalThis, name, { get: () => __ward.builtin(name), configurable: true });
       }
     }`,
    '<eval>',
  )
  const value = await run.evaluate(text, '[eval]')
  if (value !== undefined && prints && run.exitCode === undefined) {
    run.context.setProp(run.context.global, '__value', value)
    await run.evaluate('console.log(__value)', '<print>')
  }
  return undefined
}

/** Runs a file. Returns the promise of a module. */
async function runFile(run: ScriptContext, script: Script, resolver: Resolver): Promise<QuickJSHandle | undefined> {
  const { path } = script.main as Extract<Script['main'], { kind: 'file' }>
  const module = await resolver.resolve(path, script.cwd, 'require').catch((error: Error) => error)
  if (module instanceof Error) {
    run.write(2, `node: ${module.message}\n`)
    run.exitCode = 1
    return undefined
  }
  const isModule = 'path' in module && module.format === 'module'
  const code = isModule ? `import ${JSON.stringify(module.path)}` : `__ward.load(${JSON.stringify(module)}); undefined`
  return run.evaluate(code, `${script.cwd}/<main>`, isModule ? 'module' : 'global')
}
