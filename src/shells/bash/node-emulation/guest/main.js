import { Buffer } from './buffer.js'
import { chdir } from './chdir.js'
import { console } from './console.js'
import { inspect } from './inspect.js'
import { builtins, loadAny, loadFile, requireFrom } from './modules.js'
import { process } from './process.js'
import { startTests } from './test-runner.js'
import { TextDecoder, TextEncoder } from './text-coders.js'
import * as timers from './timers.js'
import { URL } from './url.js'
import { atob, btoa, performance, structuredClone } from './web-globals.js'

Object.assign(process, { chdir })

/**
 * What the host (`engine.ts`, `module-source.ts`) calls: `exportNames` once all is loaded, the module functions for each
 * script, and the rest from its event loop.
 */
const __ward = {
  /** Returns the builtin modules with the names of their exports. */
  exportNames: () => [...builtins].map(([name, module]) => [name, Object.keys(module)]),
  /** @param {string} name */
  builtin: (name) => builtins.get(name),
  requireFrom,
  load: loadFile,
  imported: loadAny,
  describe: (/** @type {unknown} */ error) => inspect(error),
  startTests,
  wait: timers.timeToNextTimer,
  fire: timers.runDueTimer,
  wantsInput: () => process.stdin.isWanted,
  enter: (/** @type {string | null} */ input) => process.stdin.enter(input),
}

const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, queueMicrotask } = timers
Object.assign(globalThis, {
  __ward,
  global: globalThis,
  process,
  console,
  Buffer,
  TextEncoder,
  TextDecoder,
  URL,
  performance,
  atob,
  btoa,
  structuredClone,
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout,
  clearInterval,
  clearImmediate,
  queueMicrotask,
})
