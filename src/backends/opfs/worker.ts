import { serveSlots, type WorkerScope } from './serve-slots.ts'

/**
 * The worker that keeps a packed workspace's storage open for a page. `opfs()` starts it by itself; with a bundler that
 * does not follow `new Worker(new URL(…))`, make this module an entry of its own and give `opfs()` the worker.
 */
serveSlots(globalThis as unknown as WorkerScope)
