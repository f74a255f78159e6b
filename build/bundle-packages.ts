import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import type { Plugin } from 'vite'
import { COMMON_JS, common, modulesOf, type Replacements, replace, top } from './bundle-options.ts'
import { bundleShell } from './bundle-shell.ts'

/** Names the licences of everything that the package contains of others. */
const LICENCES = 'dist/THIRD-PARTY-LICENSES.txt'

/**
 * Bundles packages into the built modules that re-export them: the MCP SDK into the servers, the interpreter and the engine of
 * scripts into `bash()`, and what else the command line needs into the command line. They are development dependencies, so that
 * installing this package installs none of them.
 */
export function bundlePackages(): Plugin {
  return {
    name: 'bundle-packages',
    apply: 'build',
    async writeBundle() {
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
          entryPoints: modulesOf('dist/cli/packages'),
          outdir: 'dist/cli/packages',
          platform: 'node',
          banner: { js: COMMON_JS },
        }),
      ])
      built.push(...(await bundleShell()))
      writeFileSync(join(top, LICENCES), licencesOf(built.map(({ metafile }) => metafile as Metafile)))
    },
  }
}

/** The SDK's own choice of a validator and a process for the platform: these servers bring both. */
const sdkReplacements: Replacements = {
  '@modelcontextprotocol/server/_shims':
    'export const process = globalThis.process; export class DefaultJsonSchemaValidator {}',
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
