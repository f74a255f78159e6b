import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Metafile } from 'esbuild'
import type { Plugin } from 'vite'
import { COMMON_JS, common, modulesOf, type Replacements, replace, top } from './bundle-options.ts'
import { bundleShell } from './bundle-shell.ts'
import { shortenMappings } from './shorten-map.ts'
import { stripBlanks } from './strip-blanks.ts'

/** Names the licences of everything that the package contains of others. */
const LICENCES = 'dist/THIRD-PARTY-LICENSES.txt'

const SOURCES = join(top, 'src')

/** The packages whose used parts are combined with the own code into chunks. */
const COMBINED = /^(?:@modelcontextprotocol\/|preact|unbash|zod)/

/** The modules that re-export packages. They are bundled by themselves. */
const BUNDLED = /^\..*\/packages\/[^/]+\.ts$/
/** Precedes the path of such a module below `dist` until the importing file has its place. */
const BUILT = 'built:'

/** Whether a module that is imported stays out of the build. The stylesheets of packages are texts in it. */
export function isExternal(id: string): boolean {
  return !/^[./\0]/.test(id) && !COMBINED.test(id) && !/\.css\b/.test(id)
}

/**
 * Bundles packages, so that installing this package installs none of them: the MCP SDK, Preact, zod and unbash into the chunks that use them,
 * the interpreter and the engine of scripts into `bash()`, and what else the command line needs into the command line.
 */
export function bundlePackages(): Plugin {
  return {
    name: 'bundle-packages',
    apply: 'build',
    enforce: 'pre',
    resolveId(id, importer = '') {
      if (Object.hasOwn(sdkReplacements, id)) return `\0${id}`
      if (!BUNDLED.test(id)) return undefined
      const file = relative(join(top, 'src'), join(dirname(importer), id)).replace(/\.ts$/, '.js')
      return { id: `${BUILT}${file}`, external: true }
    },
    load: (id) => sdkReplacements[id.slice(1)],
    // Every server here brings its transport, so that of the SDK is left out.
    transform: (code, id) =>
      id.endsWith('/server/dist/stdio.mjs')
        ? { code: code.replace('?? new StdioServerTransport()', ''), map: null }
        : undefined,
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk')
          chunk.code = chunk.code.replaceAll(BUILT, `${relative(dirname(chunk.fileName), '.') || '.'}/`)
      }
    },
    async writeBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((chunk) => chunk.type === 'chunk')
      for (const { fileName, moduleIds } of chunks) {
        const file = join(top, 'dist', fileName)
        if (!moduleIds.some((id) => id.startsWith(`${SOURCES}/`) && !UNPUBLISHED.test(id))) removeMap(file)
        shorten(file)
      }
      const built = await Promise.all([
        build({
          ...common,
          entryPoints: modulesOf('src/cli/packages'),
          outdir: 'dist/cli/packages',
          platform: 'node',
          banner: { js: COMMON_JS },
          alias: asModules,
          plugins: [replace(ofNode)],
        }),
      ])
      built.push(...(await bundleShell()))
      const modules = [
        ...chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => relative(top, id))),
        ...built.flatMap(inputsOf),
      ]
      writeFileSync(join(top, LICENCES), licencesOf(modules))
    },
  }
}

/** Modules of the sources that the package does not contain. */
const UNPUBLISHED = /\/src\/cli\/|\/guest-source\.ts$/

/** The fields of a source map that the package keeps. */
interface SourceMap {
  readonly version: number
  readonly sources: readonly string[]
  readonly mappings: string
}

/** Shortens a chunk and its source map, if it has one: a chunk of imports has none. */
function shorten(file: string): void {
  const { code, removed, joined } = stripBlanks(readFileSync(file, 'utf8'))
  writeFileSync(file, code)
  if (!existsSync(`${file}.map`)) return
  const { version, sources, mappings } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as SourceMap
  const sourceRoot = sharedDirectory(sources)
  const map = {
    ...{ version, ...(sourceRoot === '' ? {} : { sourceRoot }) },
    sources: sources.map((source) => source.slice(sourceRoot.length)),
    mappings: shortenMappings(mappings, removed, joined),
  }
  writeFileSync(`${file}.map`, JSON.stringify(map))
}

/** Returns the longest directory that contains all sources, with a slash; none for a single source. */
function sharedDirectory([first = '', ...others]: readonly string[]): string {
  let directory = others.length === 0 ? '' : first.replace(/[^/]*$/, '')
  while (!others.every((source) => source.startsWith(directory))) directory = directory.replace(/[^/]*\/$/, '')
  return directory
}

/** Removes the source map of a chunk whose sources are not published. */
function removeMap(file: string): void {
  rmSync(`${file}.map`, { force: true })
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
}

/** The SDK's own choice of a validator and a process for the platform: these servers bring both. */
const sdkReplacements: Replacements = {
  '@modelcontextprotocol/server/_shims':
    'export const process = globalThis.process; export class DefaultJsonSchemaValidator {}',
}

/** The files of packages whose unused parts can be left out. For Node, these packages name files of CommonJS. */
const asModules = {
  'isomorphic-git': './node_modules/isomorphic-git/index.js',
  yaml: './node_modules/yaml/browser/dist/index.js',
}

/** What Node has itself, and isomorphic-git takes from packages. */
const ofNode: Replacements = {
  'sha.js/sha1.js': `import { createHash } from 'node:crypto'; export default function Hash() { return createHash('sha1') }`,
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Returns the modules that a build of esbuild has used. */
function inputsOf({ metafile }: { readonly metafile?: Metafile | undefined }): string[] {
  return Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.keys(inputs))
}

/** Returns the licences of the packages of these modules. just-bash contains its dependencies, which its files do not name. */
function licencesOf(modules: readonly string[]): string {
  const directories = new Set<string>()
  for (const path of modules) {
    const directory = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
    if (directory !== undefined) directories.add(directory)
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
  const printed = new Map<string, string>()
  const parts = [...namesByText].map(([text, names]) => `${[...names].join('\n')}\n\n${withoutTerms(text, printed)}`)
  return `This package contains the following software of others.${rule}${parts.join(rule)}\n`
}

/** Terms that many licences share: each wording is in the text once, and notices of copyright stay. */
const TERMS: readonly (readonly [name: string, terms: RegExp])[] = [
  ['The Apache License, Version 2.0', /Apache License\s+Version 2\.0, January 2004[\s\S]*?END OF TERMS AND CONDITIONS/],
  [
    'The MIT License',
    /Permission is hereby granted, free of charge, to any[\s\S]*?OTHER DEALINGS\s+IN\s+THE\s+SOFTWARE\./,
  ],
]

/** Replaces terms that are printed already by their name, and by the words in which they differ. */
function withoutTerms(text: string, printed: Map<string, string>): string {
  return TERMS.reduce(
    (shown, [name, pattern]) =>
      shown.replace(pattern, (terms) => {
        const words = terms.replace(/\s+/g, ' ')
        const key = words.replace(`to the ${VARIANT}`, `to ${VARIANT}`)
        const above = printed.get(key)
        if (above === words) return `${name}, whose terms are above.`
        if (above !== undefined) {
          const [own, other] = words === key ? ['to', 'to the'] : ['to the', 'to']
          return `${name}, whose terms are above, with "${own} ${VARIANT}" in place of "${other} ${VARIANT}".`
        }
        printed.set(key, words)
        return terms
      }),
    text,
  )
}

/** Words of the Apache License that some packages write with an article before. */
const VARIANT = 'Licensor for inclusion in the Work'

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
