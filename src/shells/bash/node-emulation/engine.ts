import type { QuickJSHandle } from 'quickjs-emscripten'
import { ToolError } from '../../../errors.ts'
import { sha256 } from '../../../files/hash/sha256.ts'
import { bytesOfText, textOfBytes } from '../byte-encoding.ts'
import { createFileCalls } from './file-calls.ts'
import { guestSource } from './guest-source.ts'
import { moduleSource } from './module-source.ts'
import { makeEngine, type QuickJSAsyncContext, runJob } from './quickjs.ts'
import { createResolver, looksLikeModule, parentOf } from './resolve.ts'
import type { Script, ScriptFiles, ScriptResult, TestReport } from './script.ts'

export interface EngineLimits {
  /** When it is stopped, by `performance.now()`. */
  readonly deadline: number
  readonly memoryBytes: number
  readonly outputBytes: number
  readonly signal: AbortSignal
}

/** Far more than an engine takes in that time. */
const TURNS_PER_MS = 20
const MIN_TURNS = 10_000

const UNFOUND = 'unfound:'

/** The engine's own frames lie on the stack of the host, several for each of the script's. */
const MAX_STACK = 160 * 1024

/**
 * Runs a script of JavaScript as Node would, in an engine of its own that reaches nothing but the files that it is given:
 * each of its accesses waits for their answer. It has no network and no processes.
 *
 * @throws ToolError where it was ended from outside: `COMMAND_TIMEOUT`, `ABORTED`, `LIMIT_EXCEEDED`
 */
export async function runScript(script: Script, files: ScriptFiles, limits: EngineLimits): Promise<ScriptResult> {
  const engine = await makeEngine()
  const runtime = engine.newRuntime()
  runtime.setMemoryLimit(limits.memoryBytes)
  runtime.setMaxStackSize(MAX_STACK)
  const context = runtime.newContext()
  const out = { 1: [] as string[], 2: [] as string[], length: 0 }
  let exit: number | undefined
  let tests: TestReport | undefined
  const isLate = () => turns > mostTurns || limits.signal.aborted || performance.now() > limits.deadline
  // Where clocks stand still while code runs, as in workerd, turns of the engine stand for time.
  const mostTurns = Math.max(MIN_TURNS, (limits.deadline - performance.now()) * TURNS_PER_MS)
  let turns = 0
  runtime.setInterruptHandler(
    () => ++turns > mostTurns || exit !== undefined || out.length > limits.outputBytes || isLate(),
  )

  const say = (fd: 1 | 2, text: string) => {
    out[fd].push(text)
    out.length += text.length
  }
  const builtins = new Set<string>()
  const resolver = createResolver(files, builtins)
  const calls = createFileCalls(files, resolver)

  const nothing = context.undefined
  const newString = (content: string) => context.newString(content)
  const define = (name: string, run: (...args: QuickJSHandle[]) => QuickJSHandle | undefined) => {
    context
      .newFunction(name, (...args) => run(...args) ?? nothing)
      .consume((made) => context.setProp(context.global, name, made))
  }
  const defineAsync = (name: string, run: (...args: QuickJSHandle[]) => Promise<QuickJSHandle>) => {
    context
      .newAsyncifiedFunction(name, async (...args) => run(...args))
      .consume((made) => context.setProp(context.global, name, made))
  }
  const bytes = (handle: QuickJSHandle) => {
    const lifetime = context.getArrayBuffer(handle)
    const copy = lifetime.value.slice()
    lifetime.dispose()
    return copy
  }
  const buffer = (content: Uint8Array) => context.newArrayBuffer(content.slice().buffer)
  // A text of C ends at its first zero: one that holds any travels as its units.
  const text = (handle: QuickJSHandle | undefined) => {
    if (handle === undefined) return ''
    return context.typeof(handle) === 'object' ? decode(bytes(handle), 'utf16le') : context.getString(handle)
  }
  const told = (content: string) =>
    content.includes('\0') ? buffer(encode(content, 'utf16le')) : context.newString(content)

  defineAsync('__host', async (op, args) => {
    const answer = await calls.call(text(op), JSON.parse(text(args)))
    return answer instanceof Uint8Array ? buffer(answer) : newString(JSON.stringify(answer))
  })
  defineAsync('__write', async (path, content, append) => {
    const isAppended = append !== undefined && context.dump(append) === true
    return newString(JSON.stringify(await calls.write(text(path), bytes(content as QuickJSHandle), isAppended)))
  })
  define('__out', (fd, content) => {
    say(context.getNumber(fd as QuickJSHandle) === 2 ? 2 : 1, text(content))
    return undefined
  })
  define('__exit', (code) => {
    exit = context.getNumber(code as QuickJSHandle) & 255
    return undefined
  })
  define('__encode', (content, encoding) => buffer(encode(text(content), text(encoding))))
  define('__decode', (content, encoding) => told(decode(bytes(content as QuickJSHandle), text(encoding))))
  define('__sha256', (content) => newString(sha256(bytes(content as QuickJSHandle))))
  define('__tests', (report) => {
    tests = JSON.parse(text(report)) as TestReport
    return undefined
  })
  define('__compile', (source, path) => {
    const wrapped = `(function (exports, require, module, __filename, __dirname) {${text(source)}\n})`
    const result = context.evalCode(wrapped, text(path), { type: 'global' })
    if (result.error) throw errorOf(context, result.error)
    return result.value
  })

  const facts = {
    argv: ['/usr/bin/node', ...(script.main.kind === 'file' ? [script.main.path] : []), ...script.args],
    cwd: script.cwd,
    env: script.env,
    stdin: script.stdin,
    namePattern: script.namePattern,
  }
  context.setProp(context.global, '__facts', newString(JSON.stringify(facts)))
  const exportNames = new Map<string, readonly string[]>()
  runtime.setModuleLoader(
    async (name) => {
      try {
        if (name.startsWith(UNFOUND)) throw new Error(name.slice(UNFOUND.length))
        return await moduleSource(name, files, exportNames)
      } catch (error) {
        return { error: error as Error }
      }
    },
    // A name that cannot be found is one whose text cannot be had: only there can it be told why.
    async (from, name) => {
      try {
        const found = await resolver.resolve(name, parentOf(from), 'import')
        return 'builtin' in found
          ? `node:${found.builtin}`
          : `${found.format === 'module' ? '' : `${found.format}:`}${found.path}`
      } catch (error) {
        return `${UNFOUND}${(error as Error).message}`
      }
    },
  )

  /** What it was ended by from outside; `undefined` where the script itself went on or failed. */
  function requireRunning(): void {
    if (exit !== undefined) return
    if (limits.signal.aborted) throw new ToolError('ABORTED', 'The script was stopped')
    if (isLate()) throw new ToolError('COMMAND_TIMEOUT', 'The script took too long')
    if (out.length > limits.outputBytes) throw new ToolError('LIMIT_EXCEEDED', 'The script put out too much')
  }

  async function evaluate(code: string, name: string, type: 'global' | 'module'): Promise<QuickJSHandle | undefined> {
    try {
      const result = await context.evalCodeAsync(code, name, { type, strict: false })
      if (!result.error) return result.value
      fail(result.error)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      // The host's own stack was too small: this engine is lost, and so is the script.
      say(2, 'Uncaught:\nRangeError: Maximum call stack size exceeded\n')
      exit = 1
    }
    return undefined
  }

  /** A script ends with what it did not catch. */
  function fail(error: QuickJSHandle): void {
    requireRunning()
    if (exit !== undefined) return
    say(2, `Uncaught:\n${describe(context, error)}\n\nNode.js v20.19.0\n`)
    exit = 1
  }

  /** Runs what waits until nothing is left: promises, timers, tests. */
  async function drain(main: QuickJSHandle | undefined): Promise<void> {
    let isStarted = false
    for (;;) {
      while (exit === undefined && runtime.hasPendingJob()) {
        const failure = await runJob(context)
        /* v8 ignore if -- @preserve: what a job throws rejects its promise; only an engine that fails itself comes here */
        if (failure !== undefined) fail(failure)
        requireRunning()
      }
      requireRunning()
      if (exit !== undefined) return
      if (main !== undefined) {
        const state = context.getPromiseState(main)
        if (state.type === 'rejected') return fail(state.error)
      }
      if (!isStarted) {
        isStarted = true
        await evaluate('__ward.startTests()', '<tests>', 'global')
        continue
      }
      const wait = await evaluate('__ward.wait()', '<timers>', 'global')
      // What gives no value has failed, and the script with it.
      if (wait === undefined || exit !== undefined) return
      const ms = context.getNumber(wait)
      if (ms < 0) return
      if (ms > 0) await pause(ms, limits)
      requireRunning()
      await evaluate('__ward.fire()', '<timers>', 'global')
    }
  }

  await evaluate(guestSource, '<guest>', 'global')
  const names = await evaluate('JSON.stringify(__ward.exportNames())', '<names>', 'global')
  for (const [name, keys] of JSON.parse(text(names)) as [string, string[]][]) {
    builtins.add(name)
    exportNames.set(name, keys)
  }

  let main: QuickJSHandle | undefined
  if (script.main.kind === 'code') {
    const { text: code, prints, isModule } = script.main
    const where = `${script.cwd}/[eval]`
    if (isModule || (!prints && looksLikeModule(code))) main = await evaluate(code, where, 'module')
    else {
      const set = `var require = __ward.requireFrom(${JSON.stringify(script.cwd)}), module = { exports: {} }, exports = module.exports, __filename = '[eval]', __dirname = '.';
        ['assert', 'buffer', 'events', 'fs', 'os', 'path', 'url', 'util', 'crypto'].forEach(function (name) { if (!(name in globalThis)) Object.defineProperty(globalThis, name, { get: function () { return __ward.builtin(name); }, configurable: true }); });`
      await evaluate(set, '<eval>', 'global')
      const value = await evaluate(code, '[eval]', 'global')
      if (value !== undefined && prints && exit === undefined) {
        context.setProp(context.global, '__value', value)
        await evaluate('console.log(__value)', '<print>', 'global')
      }
    }
  } else {
    const found = await resolver.resolve(script.main.path, script.cwd, 'require').catch((error: Error) => error)
    if (found instanceof Error) {
      say(2, `node: ${found.message}\n`)
      exit = 1
    } else {
      const isModule = 'path' in found && found.format === 'module'
      const code = isModule
        ? `import ${JSON.stringify(found.path)}`
        : `__ward.load(${JSON.stringify(found)}); undefined`
      main = await evaluate(code, `${script.cwd}/<main>`, isModule ? 'module' : 'global')
    }
  }
  await drain(main)
  if (exit === undefined) {
    const code = await evaluate(
      "process.emit('exit', process.exitCode || 0); Number(process.exitCode || 0)",
      '<exit>',
      'global',
    )
    // What gives no value has failed, and has set it.
    if (exit === undefined && code !== undefined) exit = context.getNumber(code) & 255
  }
  requireRunning()
  // The engine is not cleared up piece by piece: all of its memory goes with it.
  return {
    stdout: out[1].join(''),
    stderr: out[2].join(''),
    exitCode: exit as number,
    ...(tests === undefined ? {} : { tests }),
  }
}

/** An error as the guest shows it, even where the guest itself cannot any more. */
function describe(context: QuickJSAsyncContext, error: QuickJSHandle): string {
  context.setProp(context.global, '__error', error)
  const result = context.evalCode('__ward.describe(__error)', '<error>', { type: 'global' })
  if (!result.error) return context.getString(result.value)
  const { name, message } = errorOf(context, error)
  return `${name}: ${message}`
}

/**
 * An error of the guest as one of ours, which may be thrown into the guest again, with the place that it tells. For want of
 * memory, the engine throws one that tells no place, or nothing at all.
 */
function errorOf(context: QuickJSAsyncContext, handle: QuickJSHandle): Error {
  const { name, message, stack } = (context.dump(handle) ?? {}) as { name?: string; message?: string; stack?: string }
  const [place] = (stack ?? '').trim().split('\n', 1)
  const told = message ?? 'unknown'
  return Object.assign(new Error(place === '' ? told : `${told} (${place})`), { name: name ?? 'Error' })
}

async function pause(ms: number, { deadline, signal }: EngineLimits): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, Math.max(0, Math.min(ms, deadline - performance.now() + 1)))
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}

function encode(content: string, encoding: string): Uint8Array {
  if (encoding === 'base64' || encoding === 'base64url') {
    const plain = content
      .replace(/[^A-Za-z0-9+/_-]/g, '')
      .replaceAll('-', '+')
      .replaceAll('_', '/')
    return bytesOfText(plain.length % 4 === 1 ? plain.slice(0, -1) : plain, 'base64')
  }
  if (encoding === 'hex') {
    const [pairs] = /^(?:[0-9a-f]{2})*/i.exec(content) as RegExpExecArray
    return bytesOfText(pairs, 'hex')
  }
  if (encoding !== 'utf16le') return bytesOfText(content, encoding)
  const bytes = new Uint8Array(content.length * 2)
  for (let i = 0; i < content.length; i++) {
    const unit = content.charCodeAt(i)
    bytes[i * 2] = unit & 255
    bytes[i * 2 + 1] = unit >> 8
  }
  return bytes
}

function decode(content: Uint8Array, encoding: string): string {
  if (encoding === 'utf16le') return new TextDecoder('utf-16le', { ignoreBOM: true }).decode(content)
  if (encoding === 'base64url') {
    return textOfBytes(content, 'base64').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  }
  if (encoding === 'ascii')
    return textOfBytes(
      content.map((byte) => byte & 127),
      'latin1',
    )
  return textOfBytes(content, encoding)
}
