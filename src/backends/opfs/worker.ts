import { serveSlots, type WorkerScope } from './serve-slots.ts'

/**
 * The worker that keeps the storage of a packed workspace open for a page. `opfs()` starts it. With a bundler that does
 * not support `new Worker(new URL(…))`, build this module as a separate entry and pass `opfs()` the worker.
 */
serveSlots(globalThis as unknown as WorkerScope)
