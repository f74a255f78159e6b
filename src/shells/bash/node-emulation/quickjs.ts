import type { QuickJSAsyncContext, QuickJSAsyncWASMModule, QuickJSHandle } from 'quickjs-emscripten'
import { loadPart } from '../../../util/load-part.ts'

/**
 * Creates an engine for one script. Scripts do not share engines, since an engine waits for one access at a time.
 * The built package contains quickjs-emscripten.
 *
 * @throws ToolError `SHELL_UNAVAILABLE`
 */
export async function makeEngine(): Promise<QuickJSAsyncWASMModule> {
  return loadPart('node', async () => {
    const { newQuickJSAsyncWASMModule } = await import('../packages/quickjs-emscripten.ts')
    return newQuickJSAsyncWASMModule()
  })
}

/** Internals of the package's context: its public method that runs jobs does not wait for accesses in them. */
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
      options: { readonly async: true },
    ): (...args: number[]) => Promise<number>
  }
  getMemory(runtime: number): Internals['memory']
}

/** Runs one pending job, such as the next step of a promise. Returns what it threw, if it threw. */
export async function runJob(context: QuickJSAsyncContext): Promise<QuickJSHandle | undefined> {
  const internals = context as unknown as Internals
  const { rt, module } = internals
  const memory = internals.getMemory(rt.value)
  const out = memory.newMutablePointerArray(1)
  const execute = module.cwrap('QTS_ExecutePendingJob', 'number', ['number', 'number', 'number'], { async: true })
  const handle = memory.heapValueHandle(await execute(rt.value, 1, out.value.ptr))
  out.dispose()
  // A number is the count of jobs run; anything else was thrown.
  /* v8 ignore next -- @preserve: an error in a job rejects its promise; only a failure of the engine itself gives a handle */
  return context.typeof(handle) === 'number' ? undefined : handle
}
