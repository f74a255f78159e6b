import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { builtinModules, createRequire } from 'node:module'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { type BuildResult, build, type Plugin } from 'esbuild'
import { COMMON_JS, common, modulesOf, type Replacements, replace, top } from './bundle-options.ts'
import { encodeBase85 } from './portable/base85.ts'

const PACKAGES = 'dist/shells/bash/packages'
const PORTABLE = join(top, 'build/portable')
const SQLITE = 'node_modules/just-bash/dist/bundle/chunks/sqlite3-worker.js'
const ENGINE = '@jitl/quickjs-wasmfile-release-asyncify'

/**
 * Bundles the packages of `bash()` once for every platform and every bundler: without imports of Node's modules, and with the
 * WebAssembly of the engine inside a module.
 */
export async function bundleShell(): Promise<BuildResult[]> {
  const { resolve } = createRequire(join(top, 'package.json'))
  const engine = createRequire(resolve('quickjs-emscripten')).resolve(`${ENGINE}/wasm`)
  const compressed = gzipSync(readFileSync(engine), { level: 9, memLevel: 7 })
  const sqlite = createRequire(join(top, SQLITE)).resolve('sql.js/dist/sql-wasm.wasm')
  const built = await Promise.all([
    build({
      ...common,
      entryPoints: modulesOf('src/shells/bash/packages'),
      outdir: PACKAGES,
      splitting: true,
      chunkNames: 'chunks/[hash]',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      // The build of the engine's loader without a platform's own way to read files.
      conditions: ['workerd'],
      inject: ['buffer.ts', 'streams.ts'].map((file) => join(PORTABLE, file)),
      plugins: [replace(replacements), portableModules, changedInterpreter],
    }),
    build({
      ...common,
      entryPoints: [join(PORTABLE, 'engine-wasm.ts')],
      outdir: PACKAGES,
      define: { ENGINE: JSON.stringify(encodeBase85(compressed)), ENGINE_BYTES: String(compressed.length) },
    }),
    // The command sqlite3 starts it by its file name.
    build({
      ...common,
      entryPoints: [SQLITE],
      outdir: `${PACKAGES}/chunks`,
      platform: 'node',
      banner: { js: `${COMMON_JS}const __dirname=import.meta.dirname;` },
      plugins: [compressedSqlite],
    }),
  ])
  copyFileSync(engine, join(top, PACKAGES, 'engine.wasm'))
  // Blocks of 64 KB give the smallest file.
  const params = { [constants.BROTLI_PARAM_LGBLOCK]: 16 }
  writeFileSync(join(top, PACKAGES, 'chunks/sqlite.wasm.br'), brotliCompressSync(readFileSync(sqlite), { params }))
  for (const [platform, file] of Object.entries(wasmModules)) {
    const text = `import wasm from ${JSON.stringify(file)}\nexport const compileEngine = async () => wasm\n`
    writeFileSync(join(top, PACKAGES, `engine-wasm.${platform}.js`), text)
  }
  return built
}

/** Loads the WebAssembly of sqlite3 from a compressed file. */
const compressedSqlite: Plugin = {
  name: 'compressed-sqlite',
  setup(to) {
    to.onLoad({ filter: /[/]sqlite3-worker\.js$/ }, ({ path }) => ({
      contents: `import { readFileSync as readWasm } from 'node:fs'
import { brotliDecompressSync as unzipWasm } from 'node:zlib'
${readFileSync(path, 'utf8').replace('initSqlJs()', `initSqlJs({ wasmBinary: unzipWasm(readWasm(new URL('./sqlite.wasm.br', import.meta.url))) })`)}`,
    }))
  },
}

/** The loop of just-bash that parses the parts of an arithmetic word. */
const PARTS = /(for\(;\w+\((\w+),(\w+)\);\)\{let\{expr:(\w+),pos:(\w+)\}=\w+\(\w+,\2,\3,!0\);)(\w+\.push\(\4\),\3=\5\})/

/** The start of the function that evaluates a part of an expression. The last parameter belongs to the whole expression. */
const EVALUATION =
  /(async function (\w+)\(\w+,(\w+),\w+,(\w+)\)\{)(let \w+=\(\w+,\w+=\w+\)=>\2\([\w,]+\);switch\(\3\.type\)\{case"ArithNumber":if\(Number\.isNaN\(\3\.value\)\)throw new (\w+)\()/

/** Maximum number of evaluated parts of an expression, including those of the variables in it. */
const MAX_PARTS = 10_000

/**
 * The start of the function that replaces paths of a host in messages. The files of commands are those of the workspace, so a message
 * of theirs, such as `ENOENT: no such file or directory, open '/home/me/a'`, keeps the path that the command named.
 */
const HOST_PATHS = /(function \w+\((\w+),\w+,\w+\)\{if\(!\2\)return \2;)(let \w+=\2\.replace\(\/\\n\\s\+at)/

/** The errors of an engine that has no more room for a recursion or a value. They go through the same function. */
const NO_ROOM =
  '/^(?:Maximum call stack size exceeded\\.?|too much recursion|Invalid (?:string|array|typed array) length|Array buffer allocation failed|out of memory)$/i'
const OWN_MESSAGES = `$1if(${NO_ROOM}.test($2))return"too large, or nested too deeply, for this shell";if(/^E[A-Z]+: [a-z /]+, [a-z]+ '/.test($2))return $2;$3`

/** What an error of a limit says about an option that only programs have. A script may write such an error to a file. */
const OPTION = /, increase executionLimits\.\w+/g
const NO_MORE = '; this shell allows no more'

/**
 * Commands that nothing here runs: one that converts pages of the web, which nothing fetches, and is a quarter of a megabyte, one that
 * fetches them, one of tables that few systems have, and two that the shell replaces.
 */
const UNUSED = ['html-to-markdown', 'curl', 'xan', 'xargs', 'ls'].map(
  (name) => new RegExp(`\\{name:"${name}",load:async\\(\\)=>\\(await import\\("[^"]+"\\)\\)\\.\\w+\\},?`),
)

/** Commands for which the interpreter names its own package if they are absent. */
const ABSENT = '"xan","sqlite3","python3","python"]'

/** The number of values at which a sequence such as `{1..20000}` ends without an error. What exceeds the limit of all braces is one. */
const SEQUENCE = /(?<name>\bvar \w+=)1e4(?<rest>,\w+=\{maxResults:)/

/** The heading of `help`, a built-in command that no other command replaces. */
const HELP = 'just-bash shell builtins'

/**
 * Makes arithmetic end. just-bash never leaves the first loop at a `$` that begins no expansion, as in the value `a$`; what follows
 * is now a syntax error, as in bash. Special variables such as `$@` may contain themselves, and others each other several times.
 * Sequences in braces are complete, or an error. Messages of the files keep their paths, and errors of limits name no option. And `help`
 * names no package.
 */
const changedInterpreter: Plugin = {
  name: 'changed-interpreter',
  setup(to) {
    to.onLoad({ filter: /[/]just-bash[/]dist[/]bundle[/]\w+\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!PARTS.test(text) || !EVALUATION.test(text))
        throw new Error(`${path} evaluates arithmetic in another way: see whether "a$" and "$@" end there`)
      const tooMany = `if(($4.parts=($4.parts??0)+1)>${MAX_PARTS})throw new $6("expression has too many parts");`
      if (!text.includes(HELP)) throw new Error(`${path} has another heading of help`)
      const changed = text.replace(PARTS, '$1if($5===$3)break;$6').replace(EVALUATION, `$1${tooMany}$5`)
      if (text.search(OPTION) === -1) throw new Error(`${path} has other errors of limits`)
      if (!SEQUENCE.test(text)) throw new Error(`${path} bounds sequences in braces in another way`)
      if (!UNUSED.every((command) => command.test(text))) throw new Error(`${path} lists its commands in another way`)
      const bounded = changed.replace(SEQUENCE, '$<name>1e5$<rest>')
      const used = UNUSED.reduce((all, command) => all.replace(command, ''), bounded)
      const named = used.replace(HELP, 'Shell builtins').replace(OPTION, NO_MORE)
      if (!named.includes(ABSENT)) throw new Error(`${path} names absent commands in another way`)
      const known = named.replace(ABSENT, ABSENT.replace('"xan",', ''))
      return { contents: known.replace(/: invalid (\$\{\w+\}) accounting/, ': incomplete $1') }
    })
    let isFound = false
    to.onLoad({ filter: /[/]just-bash[/]dist[/]bundle[/]chunks[/][\w-]+\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      isFound ||= HOST_PATHS.test(text)
      return { contents: text.replace(HOST_PATHS, OWN_MESSAGES).replace(OPTION, NO_MORE) }
    })
    to.onEnd(() => {
      if (!isFound) throw new Error('just-bash hides the paths of a host in another way')
    })
  },
}

/** How platforms that compile no WebAssembly at run time import it. */
const wasmModules: Readonly<Record<string, string>> = { workerd: './engine.wasm', 'edge-light': './engine.wasm?module' }

/** Replaces imports of Node's modules by what the platform has of them at run time. */
const portableModules: Plugin = {
  name: 'portable-modules',
  setup(to) {
    const names = new Set(builtinModules)
    to.onResolve({ filter: /^[\w:/]+$/ }, ({ path }) => {
      const name = path.replace(/^node:/, '')
      if (!names.has(name)) return undefined
      const file = join(PORTABLE, `${name}.ts`)
      return existsSync(file) ? { path: file } : { path: name, namespace: 'builtin' }
    })
    to.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = require('./node-module.ts').nodeModule('${path}') ?? {}`,
      resolveDir: join(top, 'src/util'),
    }))
    to.onResolve({ filter: new RegExp(`^${ENGINE}$`) }, () => ({ path: join(PORTABLE, 'engine-variant.ts') }))
    // The `imports` of package.json choose the one of the platform.
    to.onResolve({ filter: /[/]engine-wasm\.ts$/ }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: '#engine-wasm', external: true },
    )
  },
}

const missing = (name: string) => `throw new Error(${JSON.stringify(`${name} is not a part of this shell`)})`

/** Parts that commands without a network and without native modules never load, and other builds of the engine of scripts. */
const replacements: Replacements = {
  ...Object.fromEntries(
    ['undici', 'python3', 'js-exec', 'flag-coverage', '@mongodb-js/zstd', 'node-liblzma'].map((name) => [
      name,
      missing(name),
    ]),
  ),
  ...Object.fromEntries(
    // The package of the engine names all of its builds when it loads.
    ['debug-asyncify', 'debug-sync', 'release-sync'].map((name) => [
      `@jitl/quickjs-wasmfile-${name}`,
      'export default {}',
    ]),
  ),
}
