import type { QuickJSHandle } from 'quickjs-emscripten'
import { sha256 } from '../../../files/hash/sha256.ts'
import { isUint8Array } from '../../../util/bytes.ts'
import { bytesOfText } from '../byte-encoding.ts'
import type { createFileCalls } from './file-calls.ts'
import { bytesOf, errorOf, newBytes, newText, textOf } from './guest-values.ts'
import type { Script, ScriptStreams, TestReport } from './script.ts'
import type { ScriptContext } from './script-context.ts'
import { decode, encode } from './text-encoding.ts'

/** Installs the functions that the guest calls (`guest/host-functions.d.ts`) on its global object. */
export function installHostFunctions(
  run: ScriptContext,
  calls: ReturnType<typeof createFileCalls>,
  input: NonNullable<ScriptStreams['input']>,
): void {
  const { context } = run
  const text = (handle: QuickJSHandle | undefined) => textOf(context, handle)
  const bytes = (handle: QuickJSHandle | undefined) => bytesOf(context, handle as QuickJSHandle)
  const number = (handle: QuickJSHandle | undefined) => context.getNumber(handle as QuickJSHandle)

  const install = (name: string, call: (...args: QuickJSHandle[]) => QuickJSHandle | undefined) => {
    context
      .newFunction(name, (...args) => call(...args) ?? context.undefined)
      .consume((created) => context.setProp(context.global, name, created))
  }
  const installAsync = (name: string, call: (...args: QuickJSHandle[]) => Promise<QuickJSHandle>) => {
    context
      .newAsyncifiedFunction(name, async (...args) => call(...args))
      .consume((created) => context.setProp(context.global, name, created))
  }

  installAsync('__host', async (operation, args) => {
    const answer = await calls.call(text(operation), JSON.parse(text(args)))
    return isUint8Array(answer) ? newBytes(context, answer) : context.newString(JSON.stringify(answer))
  })
  installAsync('__write', async (path, content, append) => {
    const isAppended = append !== undefined && context.dump(append) === true
    const answer = await calls.write(text(path), bytes(content), isAppended)
    return context.newString(JSON.stringify(answer))
  })
  installAsync('__input', async () => {
    const content = await input.next()
    return content === undefined ? context.undefined : newBytes(context, bytesOfText(content, 'latin1'))
  })
  install('__out', (fd, content) => {
    run.write(number(fd) === 2 ? 2 : 1, text(content))
    return undefined
  })
  install('__exit', (code) => {
    run.exitCode = number(code) & 255
    return undefined
  })
  install('__encode', (content, encoding) => newBytes(context, encode(text(content), text(encoding))))
  install('__decode', (content, encoding) => newText(context, decode(bytes(content), text(encoding))))
  install('__sha256', (content) => context.newString(sha256(bytes(content))))
  install('__tests', (report) => {
    run.tests = JSON.parse(text(report)) as TestReport
    return undefined
  })
  install('__compile', (source, path) => {
    const wrapped = `(function (exports, require, module, __filename, __dirname) {${text(source)}\n})`
    const result = context.evalCode(wrapped, text(path), { type: 'global' })
    if (result.error) throw errorOf(context, result.error)
    return result.value
  })
}

/** Installs what the guest knows about the script's surroundings. */
export function installFacts({ context }: ScriptContext, script: Script, isTerminal: boolean): void {
  const facts = {
    argv: ['/usr/bin/node', ...(script.main.kind === 'file' ? [script.main.path] : []), ...script.args],
    cwd: script.cwd,
    root: script.root,
    env: script.env,
    isTerminal,
    namePattern: script.namePattern,
  }
  context.setProp(context.global, '__facts', context.newString(JSON.stringify(facts)))
}
