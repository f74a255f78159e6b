import type { QuickJSAsyncContext, QuickJSAsyncWASMModule, QuickJSHandle } from 'quickjs-emscripten'
import { optionalPackage } from '../../../util/optional-package.ts'

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
    newMutablePointerArray(length: number): { value: { ptr: number }; dispose(): void }
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
  getMemory(runtime: number): Internals['memory']
}

/** Runs one job that waits, such as the next step of a promise; gives what it threw, where it threw. */
export async function runJob(context: QuickJSAsyncContext): Promise<QuickJSHandle | undefined> {
  const internals = context as unknown as Internals
  const { rt, module } = internals
  const memory = internals.getMemory(rt.value)
  const out = memory.newMutablePointerArray(1)
  const execute = module.cwrap('QTS_ExecutePendingJob', 'number', ['number', 'number', 'number'], { async: true })
  const handle = memory.heapValueHandle(await execute(rt.value, 1, out.value.ptr))
  out.dispose()
  // How many were run, or what the one threw.
  /* v8 ignore next -- @preserve: what a job throws rejects its promise; only an engine that fails itself gives a handle */
  return context.typeof(handle) === 'number' ? undefined : handle
}

export type { QuickJSAsyncContext }
