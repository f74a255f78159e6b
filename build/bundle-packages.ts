import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { type BuildOptions, build, type Plugin as EsbuildPlugin, type Metafile } from 'esbuild'
import type { Plugin } from 'vite'

const top = join(import.meta.dirname, '..')
const dist = join(top, 'dist')
/** Names the licences of everything that the package contains of others. */
const LICENCES = 'dist/THIRD-PARTY-LICENSES.txt'
const CHUNKS = 'dist/cli/packages/chunks'
const SQLITE = 'node_modules/just-bash/dist/bundle/chunks/sqlite3-worker.js'

const common: BuildOptions = {
  absWorkingDir: top,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  allowOverwrite: true,
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
}

/**
 * Bundles packages into the built modules that re-export them: the MCP SDK into the servers, and what the command line needs into
 * the command line. They are development dependencies, so that installing this package installs none of them.
 */
export function bundlePackages(): Plugin {
  return {
    name: 'bundle-packages',
    apply: 'build',
    async writeBundle() {
      const files = readdirSync(join(dist, 'cli/packages')).filter((name) => name.endsWith('.js'))
      const built = await Promise.all([
        build({
          ...common,
          entryPoints: ['dist/adapters/mcp/sdk.js'],
          outfile: 'dist/adapters/mcp/sdk.js',
          platform: 'neutral',
          mainFields: ['module', 'main'],
          external: ['zod/*'],
          plugins: [replace(sdkReplacements)],
        }),
        build({
          ...common,
          entryPoints: files.map((name) => `dist/cli/packages/${name}`),
          outdir: 'dist/cli/packages',
          splitting: true,
          chunkNames: 'chunks/[hash]',
          platform: 'node',
          banner: { js: COMMON_JS },
          plugins: [replace(commandLineReplacements)],
        }),
        // The command sqlite3 starts it by its file name.
        build({
          ...common,
          entryPoints: [SQLITE],
          outdir: CHUNKS,
          platform: 'node',
          banner: { js: `${COMMON_JS}const __dirname=import.meta.dirname;` },
        }),
      ])
      for (const file of wasmFiles()) copyFileSync(file, join(top, CHUNKS, basename(file)))
      writeFileSync(join(top, LICENCES), licencesOf(built.map(({ metafile }) => metafile as Metafile)))
    },
  }
}

/** What CommonJS modules of these packages use. */
const COMMON_JS =
  "import{createRequire as __requireFrom}from'node:module';const require=__requireFrom(import.meta.url);"

/** The WebAssembly of the engine of scripts and of sqlite3, each loaded from the directory of the code that uses it. */
function wasmFiles(): string[] {
  const { resolve } = createRequire(join(top, 'package.json'))
  const engine = createRequire(resolve('quickjs-emscripten'))
  const sqlite = createRequire(join(top, SQLITE))
  return [engine.resolve('@jitl/quickjs-wasmfile-release-asyncify/wasm'), sqlite.resolve('sql.js/dist/sql-wasm.wasm')]
}

type Replacements = Readonly<Record<string, string>>

const missing = (name: string) => `throw new Error(${JSON.stringify(`${name} is not a part of the command line`)})`

/** The SDK's own choice of a validator and a process for the platform: these servers bring both. */
const sdkReplacements: Replacements = {
  '@modelcontextprotocol/server/_shims':
    'export const process = globalThis.process; export class DefaultJsonSchemaValidator {}',
}

/** Parts that commands without a network and without native modules never load, and other builds of the engine of scripts. */
const commandLineReplacements: Replacements = {
  ...Object.fromEntries(['undici', '@mongodb-js/zstd', 'node-liblzma'].map((name) => [name, missing(name)])),
  ...Object.fromEntries(
    // The package of the engine names all of its builds when it loads.
    ['debug-asyncify', 'debug-sync', 'release-sync'].map((name) => [
      `@jitl/quickjs-wasmfile-${name}`,
      'export default {}',
    ]),
  ),
}

/** Replaces packages by other texts. The bundled chunks of a package have a hash in their names. */
function replace(replacements: Replacements): EsbuildPlugin {
  return {
    name: 'replace',
    setup(to) {
      to.onResolve({ filter: /./ }, ({ path }) => {
        const name = /(?:^|\/)(undici)-[A-Z0-9]+\.js$/.exec(path)?.[1] ?? path
        return Object.hasOwn(replacements, name) ? { path: name, namespace: 'replaced' } : undefined
      })
      to.onLoad({ filter: /./, namespace: 'replaced' }, ({ path }) => ({ contents: replacements[path] ?? '' }))
    },
  }
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Returns the licences of the bundled packages. just-bash contains its dependencies, which its files do not name. */
function licencesOf(metafiles: readonly Metafile[]): string {
  const directories = new Set<string>()
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const path of Object.keys(inputs)) {
        const directory = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
        if (directory !== undefined) directories.add(directory)
      }
    }
  }
  for (const name of Object.keys(manifestOf('node_modules/just-bash').dependencies ?? {})) {
    const directory = ['node_modules/just-bash/node_modules', 'node_modules'].map((base) => `${base}/${name}`)
    directories.add(directory.find((one) => existsSync(join(top, one))) ?? '')
  }
  directories.add('node_modules/@jitl/quickjs-wasmfile-release-asyncify')
  const namesByText = new Map<string, Set<string>>()
  for (const directory of [...directories].filter((one) => one !== '').sort()) {
    const { name, version, license = 'see its licence' } = manifestOf(directory)
    const text = licenceText(directory, license)
    namesByText.set(text, (namesByText.get(text) ?? new Set()).add(`${name} ${version} (${license})`))
  }
  const rule = `\n\n${'-'.repeat(80)}\n\n`
  const parts = [...namesByText].map(([text, names]) => `${[...names].join('\n')}\n\n${text}`)
  return `This package contains the following software of others.${rule}${parts.join(rule)}\n`
}

function manifestOf(directory: string): Manifest {
  return JSON.parse(readFileSync(join(top, directory, 'package.json'), 'utf8')) as Manifest
}

function licenceText(directory: string, license: string): string {
  const names = readdirSync(join(top, directory)).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name))
  const texts = names.map((name) => readFileSync(join(top, directory, name), 'utf8').trim())
  return texts.length > 0
    ? texts.join('\n\n')
    : `Licensed under ${license}. The package contains no text of its licence.`
}
