import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join, posix, relative } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from './counts.ts'
import { publishedModules } from './published.ts'
import { type Installed, install } from './runtimes/consumer.ts'
import { type Runtime, useOf, uses } from './runtimes/subpath-uses.ts'
import { absenceTable, expected, fitting, subpathsOf, useInProcess } from './runtimes/subpaths.ts'

const top = join(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
const peers = Object.keys(manifest.peerDependencies)
/** Modules with a side effect: the scripts of workers, and the definitions of elements. */
const effects = ['./shells/bash-thread', './backends/opfs-worker', './elements']

let installed: Installed
let files: string[]
let subpaths: readonly string[]

beforeAll(() => {
  installed = install(peers)
  files = readdirSync(installed.package, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(relative(installed.package, entry.parentPath), entry.name))
  subpaths = subpathsOf(installed.package)
}, 300_000)
afterAll(() => installed.remove())

const textOf = (file: string) => readFileSync(join(installed.package, file), 'utf8')

/** The packages that a file imports, with any kind of import. */
function packagesIn(text: string): string[] {
  const imports =
    /^\s*(?:import|export)\b[^;'"`]*?\bfrom\s*["']([^"'.][^"']*)["']|^\s*import\s*["']([^"'.][^"']*)["']|\bimport\(\s*["']([^"'.][^"']*)["']/gm
  return [...text.matchAll(imports)]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'))
}

/** Modules that the build bundles packages into. */
const isBundled = (file: string) =>
  /^dist\/(chunks\/(modelcontextprotocol|preact|unbash|zod)\d*|(cli|shells\/bash)\/packages\/.*)\.js$/.test(file)
const bundledPackages = [
  ...['@modelcontextprotocol/server', '@modelcontextprotocol/core', 'isomorphic-git', 'just-bash'],
  ...['quickjs-emscripten', 'smol-toml', 'sql.js', 'unbash', 'yaml', 'zod'],
]

/** The size of the files of a package, in bytes. */
function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

describe('the packed package', () => {
  it('contains the build, its manifest and documents, and no other files', () => {
    const outside = files.filter((file) => !file.startsWith('dist/'))
    const documents = outside.filter((file) => !file.startsWith('src/'))
    expect(documents.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(files.filter((file) => file.startsWith('dist/') && !/\.(js|d\.ts)(\.map)?$/.test(file)).sort()).toEqual([
      'dist/THIRD-PARTY-LICENSES.txt',
      'dist/shells/bash/packages/chunks/sqlite.wasm.br',
      'dist/shells/bash/packages/engine.wasm',
    ])
    expect(
      files.filter((file) => /\.(test|spec|long|browser)\.|^dist\/(test|bench|examples|playground)\//.test(file)),
    ).toEqual([])
    expect(files.length).toBeGreaterThan(200)
  })

  it('has types for each published module and what they refer to', () => {
    const published = publishedModules(installed.package).map(([, file]) => file.replace(/\.js$/, '.d.ts'))
    expect(published.filter((file) => !files.includes(file))).toEqual([])
    const declarations = files.filter((file) => /^dist\/.*\.d\.ts$/.test(file))
    const referred = declarations.flatMap((file) =>
      [...textOf(file).matchAll(/\b(?:from |import\(?\s*)['"](\.[^'"]+)['"]/g)].map(([, specifier = '']) =>
        posix.join(posix.dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')),
      ),
    )
    expect(referred.filter((file) => !declarations.includes(file))).toEqual([])
    expect(declarations.filter((file) => !published.includes(file) && !referred.includes(file))).toEqual([])
  })

  it('has source maps of all code that a program can import and of its types, whose sources it contains', () => {
    const own = files.filter((file) => /^dist\/.*(\.js|\.d\.ts)$/.test(file) && !isBundled(file))
    const hasCode = (file: string) => textOf(file).replace(/^(?:import|export) ?[{*"'].*$|^\/\/.*$|\s/gm, '') !== ''
    const mapped = own.filter((file) => !file.startsWith('dist/packages/') && (file.endsWith('.d.ts') || hasCode(file)))
    // The emulated Node is one minified script.
    const written = mapped.filter((file) => file !== 'dist/chunks/guest-source.js')
    const maps = written.map((file) => `${file}.map`).filter((file) => files.includes(file))
    expect(files.filter((file) => file.endsWith('.map')).sort()).toEqual(maps.sort())
    // The sources of the command line are not contained: nothing imports it.
    const imported = new Set<string>()
    const follow = (file: string): void => {
      if (imported.has(file) || !files.includes(file)) return
      imported.add(file)
      for (const [, name = ''] of textOf(file).matchAll(/["'](\.{1,2}\/[\w./-]+\.js)["']/g))
        follow(posix.join(posix.dirname(file), name))
    }
    for (const [, file] of publishedModules(installed.package)) follow(file)
    expect(written.filter((file) => imported.has(file) && !maps.includes(`${file}.map`))).toEqual([])
    expect(imported.size).toBeGreaterThan(200)
    const sources = maps.flatMap((file) => {
      const map = JSON.parse(textOf(file)) as { sourceRoot?: string; sources: string[] }
      return map.sources.map((source) => posix.join(posix.dirname(file), (map.sourceRoot ?? '') + source))
    })
    expect(sources.length).toBeGreaterThan(600)
    expect(sources.filter((file) => !/^src\/.*\.(tsx?|js|json)$/.test(file) || !files.includes(file))).toEqual([])
    const links = files.filter((file) => file.startsWith('dist/') && textOf(file).includes('\n//# sourceMappingURL='))
    expect(links.map((file) => `${file}.map`).sort()).toEqual(maps)
  })

  it('maps each declared name to the name in its source', () => {
    const declared =
      /^((?:export )?(?:declare )?(?:abstract )?(?:function|class|interface|type|const) )(\w+)|^(\t(?:readonly )?)(\w+)\??[:(<]/
    let names = 0
    const wrong = files
      .filter((file) => file.endsWith('.d.ts.map'))
      .flatMap((file) => {
        const map = new SourceMap(JSON.parse(textOf(file)))
        const sources = new Map<string, string[]>()
        return textOf(file.replace(/\.map$/, ''))
          .split('\n')
          .flatMap((line, index) => {
            const [, lead, name, memberLead, member] = declared.exec(line) ?? []
            const text = name ?? member
            if (text === undefined) return []
            const column = (lead ?? memberLead ?? '').length
            const entry = map.findEntry(index, column)
            const isMapped =
              'originalSource' in entry && entry.generatedLine === index && entry.generatedColumn === column
            // A member of an inferred type is nowhere in the source.
            if (!isMapped) return name === undefined ? [] : [`${file}: ${text}`]
            names += 1
            const source = posix.join(posix.dirname(file), entry.originalSource)
            const lines = sources.get(source) ?? textOf(source).split('\n')
            sources.set(source, lines)
            return lines[entry.originalLine]?.startsWith(text, entry.originalColumn) ? [] : [`${file}: ${text}`]
          })
      })
    expect(names).toBeGreaterThan(2000)
    expect(wrong).toEqual([])
  })

  it('maps the place of a thrown error to its source', () => {
    const { stderr } = spawnSync(
      process.execPath,
      ['--enable-source-maps', '--input-type=module', '-e', "import { parsePath } from 'wardspace'; parsePath('../x')"],
      { cwd: installed.directory, encoding: 'utf8' },
    )
    const [, source = '', line] = /[/]wardspace[/](src[/]\S+\.ts):(\d+):\d+\)/.exec(stderr) ?? []
    expect(textOf(source).split('\n')[Number(line) - 1]).toContain('throw new ToolError(')
  })

  it('has every file that its manifest names', () => {
    for (const [subpath, target] of Object.entries(manifest.exports)) {
      for (const file of typeof target === 'string' ? [target] : Object.values(target as Record<string, string>)) {
        if (!file.includes('*')) expect(existsSync(join(installed.package, file)), `${subpath}: ${file}`).toBe(true)
      }
    }
    expect(textOf(manifest.bin.wardspace)).toMatch(/^#!\/usr\/bin\/env node\n/)
    for (const file of manifest.sideEffects) expect(existsSync(join(installed.package, file)), file).toBe(true)
    expect(subpaths.length).toBeGreaterThan(25)
  })

  it('imports only optional peers, in modules and in types', () => {
    const strange = files
      .filter((file) => /\.js$|\.d\.ts$/.test(file) && !isBundled(file))
      .flatMap((file) => packagesIn(textOf(file)).map((name) => `${file}: ${name}`))
      .filter((line) => !peers.includes(line.split(': ')[1] ?? ''))
    expect(strange).toEqual([])
    expect(Object.keys(manifest.peerDependenciesMeta).sort()).toEqual([...peers].sort())
    for (const name of peers) expect(manifest.peerDependenciesMeta[name], name).toEqual({ optional: true })
  })

  it('has no dependencies', () => {
    expect(manifest.dependencies).toBeUndefined()
  })

  it('contains whole packages in the modules that bundle them, with their licences', async () => {
    const { metafile } = await build({
      entryPoints: files.filter(isBundled).map((file) => join(installed.package, file)),
      ...{ bundle: true, write: false, metafile: true, format: 'esm', platform: 'node', packages: 'external' },
      ...{ outdir: 'never-written', logLevel: 'silent', loader: { '.wasm': 'empty' } },
    })
    const external = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
    expect([...new Set(external)].filter((name) => !name.startsWith('node:')).sort()).toEqual([])
    const licences = textOf('dist/THIRD-PARTY-LICENSES.txt')
    for (const name of bundledPackages) expect(licences).toMatch(new RegExp(`^${name} \\d[\\w.-]* \\(`, 'm'))
    expect(licences).toContain('Apache License')
  })

  it('stays within its size limits', () => {
    expect(installed.packedBytes).toBeLessThan(4_600_000)
    const largerThan = (size: number) => files.filter((file) => statSync(join(installed.package, file)).size > size)
    expect(largerThan(400_000).filter((file) => file.startsWith('dist/chunks/'))).toEqual([])
    expect(largerThan(150_000).filter((file) => !isBundled(file) && !/^dist\/chunks\//.test(file))).toEqual([
      'dist/shells/bash/packages/engine.wasm',
      'dist/shells/bash/packages/chunks/sqlite.wasm.br',
    ])
  })

  it('installs at most 10 packages and 14 MB', () => {
    const directories = new Set([installed.package])
    for (const directory of directories) {
      const { dependencies = {} } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
      for (const name of Object.keys(dependencies)) directories.add(join(top, 'node_modules', name))
    }
    expect(directories.size).toBeLessThanOrEqual(10)
    expect([...directories].reduce((sum, directory) => sum + sizeOf(directory), 0)).toBeLessThan(14_000_000)
  })

  it('adds nothing to a bundle that uses nothing of it, except for modules with only a side effect', async () => {
    // Peers do not count.
    const external = peers.flatMap((name) => [name, `${name}/*`])
    const programs = join(installed.directory, 'unused')
    mkdirSync(programs)
    const entryPoints = subpaths.map((subpath, index) => {
      const specifier = JSON.stringify(subpath.replace(/^\./, 'wardspace'))
      writeFileSync(join(programs, `${index}.js`), `import * as unused from ${specifier}`)
      return join(programs, `${index}.js`)
    })
    const { outputFiles } = await build({
      ...{ entryPoints, outdir: join(programs, 'out'), bundle: true, write: false, minify: true },
      ...{ format: 'esm', platform: 'node', logLevel: 'silent', external },
    })
    const sizes = subpaths.map((subpath, index) => {
      const output = outputFiles.find(({ path }) => path.endsWith(`/${index}.js`))
      return [subpath, output?.text.trim().length ?? -1] as const
    })
    expect(sizes.filter(([, size]) => size !== 0).map(([subpath]) => subpath)).toEqual(
      subpaths.filter((subpath) => effects.includes(subpath)),
    )
  })

  it('has a root entry that bundles with no other package', async () => {
    const { metafile, outputFiles } = await build({
      stdin: { contents: "export * from 'wardspace'", resolveDir: installed.directory },
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      logLevel: 'silent',
    })
    const inputs = Object.keys(metafile.inputs).filter((path) => path !== '<stdin>')
    const names = inputs.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? path)
    expect([...new Set(names)].sort()).toEqual(['wardspace'])
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
    expect(outputFiles[0]?.text).toContain('createWorkspace')
  })
})

describe('every subpath', () => {
  it('has a row with its use or the reason for none, and each row belongs to a subpath', () => {
    expect(subpaths.filter((subpath) => useOf(subpath) === undefined)).toEqual([])
    const used = new Set(subpaths.map(useOf))
    expect(Object.keys(uses).filter((name) => !used.has(uses[name]))).toEqual([])
  })

  it('that does not fit every runtime is listed in docs/runtimes.md with the reason', () => {
    expect(readFileSync(join(top, 'docs/runtimes.md'), 'utf8')).toContain(`\n${absenceTable()}\n`)
  })

  it.each<Exclude<Runtime, 'workerd' | 'Chromium'>>(isLong ? ['Node', 'Deno', 'Bun'] : ['Bun'])(
    'that fits %s works there',
    async (runtime) => {
      const fit = fitting(subpaths, runtime)
      expect(fit.length).toBeGreaterThan(15)
      const { found: imports, globals } = await useInProcess(installed.directory, runtime, fit)
      expect(imports).toEqual(expected(fit))
      // Adds no globals, except those of zod, the tslib of memfs, LangChain and Deno itself.
      expect(globals.filter((name) => !/^__|^lc_|^nodeBootstrap$/.test(name))).toEqual([])
    },
    120_000,
  )
})
