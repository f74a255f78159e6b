/** @import { ResolvedModule } from './host-functions.d.ts' */
import { assert, strict } from './assert.js'
import { Buffer, bufferModule } from './buffer.js'
import { console } from './console.js'
import { crypto } from './crypto.js'
import { EventEmitter } from './events.js'
import { fs, promises } from './fs.js'
import { callHost, codedError, compile } from './host.js'
import { os } from './os.js'
import { path } from './path.js'
import { process } from './process.js'
import { readline, readlinePromises } from './readline.js'
import { testModule } from './test-runner.js'
import { timersModule, timersPromises } from './timers.js'
import { fileURLToPath, urlModule } from './url.js'
import { util } from './util.js'
import { performance } from './web-globals.js'

/**
 * @typedef {object} Module Node's `module` of a CommonJS file
 * @property {string} id
 * @property {string} filename
 * @property {string} path
 * @property {unknown} exports
 * @property {boolean} loaded
 * @property {unknown[]} children
 * @property {unknown[]} paths
 * @property {Require} [require]
 *
 * @typedef {((name: unknown) => unknown) & { resolve: (name: unknown) => unknown, cache: object, main: Module | undefined }} Require
 */

/** The modules of Node that scripts find here, by name. @type {Map<string, object>} */
export const builtins = new Map(
  Object.entries({
    buffer: bufferModule,
    console,
    events: EventEmitter,
    path,
    'path/posix': path,
    fs,
    'fs/promises': promises,
    process,
    util,
    timers: timersModule,
    'timers/promises': timersPromises,
    readline,
    'readline/promises': readlinePromises,
    perf_hooks: { performance },
    os,
    url: urlModule,
    crypto,
    module: { createRequire, builtinModules: /** @type {string[]} */ ([]) },
    assert,
    'assert/strict': strict,
    test: testModule,
  }),
)
Object.assign(builtins.get('module') ?? {}, { builtinModules: [...builtins.keys()] })

/** @type {Record<string, Module>} */
const cache = Object.create(null)
/** The first module that was loaded. @type {Module | undefined} */
let main

/** @param {string | { href: string }} from */
function createRequire(from) {
  return requireFrom(path.dirname(typeof from === 'string' && from.startsWith('/') ? from : fileURLToPath(from)))
}

/**
 * Makes the `require` of the files in a directory.
 *
 * @param {string} directory
 * @returns {Require}
 */
export function requireFrom(directory) {
  const resolve = (/** @type {unknown} */ name) => callHost('resolve', [String(name), directory, 'require'])
  const require = (/** @type {unknown} */ name) => loadAny(resolve(name))
  return Object.assign(require, {
    resolve(/** @type {unknown} */ name) {
      const module = resolve(name)
      return module.builtin ? name : module.path
    },
    cache,
    main,
  })
}

/**
 * Returns the exports of a module that is not an ES module.
 *
 * @param {ResolvedModule} module
 */
export function loadAny(module) {
  return module.builtin === undefined ? loadFile(module) : builtins.get(module.builtin)
}

/**
 * Loads a file of CommonJS or JSON, once.
 *
 * @param {{ path: string, format: string }} file
 */
export function loadFile({ path: file, format }) {
  if (file in cache) return cache[file].exports
  if (format === 'module') {
    const message = `require() of ES Module ${file} is not supported; use import`
    throw codedError(Error, 'ERR_REQUIRE_ESM', message)
  }
  /** @type {Module} */
  const module = {
    id: file,
    filename: file,
    path: path.dirname(file),
    exports: {},
    loaded: false,
    children: [],
    paths: [],
  }
  cache[file] = module
  main ??= module
  try {
    evaluate(
      module,
      Buffer.from(callHost('read', [file]))
        .toString()
        .replace(/^\uFEFF/, ''),
      format,
    )
    module.loaded = true
  } catch (error) {
    delete cache[file]
    throw error
  }
  return module.exports
}

/**
 * @param {Module} module
 * @param {string} text
 * @param {string} format
 */
function evaluate(module, text, format) {
  const { filename } = module
  if (format === 'json') {
    try {
      module.exports = JSON.parse(text)
    } catch (error) {
      throw new SyntaxError(`${filename}: ${/** @type {Error} */ (error).message}`)
    }
    return
  }
  const require = requireFrom(module.path)
  module.require = require
  const run = compile(text.replace(/^#!/, '//'), filename)
  run.call(module.exports, module.exports, require, module, filename, module.path)
}
