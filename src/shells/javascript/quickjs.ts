import type { QuickJSAsyncContext, QuickJSAsyncWASMModule, QuickJSHandle } from 'quickjs-emscripten'
import { optionalPackage } from '../../optional-package.ts'

/**
 * Makes an engine of its own for one script: an engine waits for one access at a time. quickjs-emscripten is an optional
 * package of whoever embeds this.
 *
 * @throws ToolError `SHELL_UNAVAILABLE`
 */
export function makeEngine(): Promise<QuickJSAsyncWASMModule> {
  return optionalPackage('quickjs-emscripten', 'node', async () => {
    const { newQuickJSAsyncWASMModule } = await import('quickjs-emscripten')
    return newQuickJSAsyncWASMModule()
  })
}

/** What of the package's context waits for accesses in jobs, which its public form of the same does not. */
interface Internals {
  readonly rt: { readonly value: number }
  readonly memory: {
    newMutablePointerArray(length: number): { value: { ptr: number; typedArray: Int32Array }; dispose(): void }
    heapValueHandle(value: number): QuickJSHandle
  }
  readonly module: {
    cwrap(
      name: string,
      returns: string,
      takes: readonly string[],
      how: { readonly async: true },
    ): (...args: number[]) => Promise<number>
  }
  readonly ffi: { QTS_FreeValuePointerRuntime(runtime: number, value: number): void }
  getMemory(runtime: number): Internals['memory']
}

/** Runs one job that waits, such as the next step of a promise; gives what it threw, where it threw. */
export async function runJob(context: QuickJSAsyncContext): Promise<unknown> {
  const { rt, module, ffi } = context as unknown as Internals
  const memory = (context as unknown as Internals).getMemory(rt.value)
  const out = memory.newMutablePointerArray(1)
  const execute = module.cwrap('QTS_ExecutePendingJob', 'number', ['number', 'number', 'number'], { async: true })
  const value = await execute(rt.value, 1, out.value.ptr)
  const isDone = out.value.typedArray[0] === 0
  out.dispose()
  if (isDone) {
    ffi.QTS_FreeValuePointerRuntime(rt.value, value)
    return undefined
  }
  const handle = memory.heapValueHandle(value)
  if (context.typeof(handle) === 'number') return undefined
  return context.dump(handle) ?? new Error('A job failed')
}

export type { QuickJSAsyncContext }
