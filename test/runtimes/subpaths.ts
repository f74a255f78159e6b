import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { publishedModules } from '../published.ts'
import { programs } from './host-process.ts'
import { type Runtime, useOf, uses } from './subpath-uses.ts'

const run = promisify(execFile)

/** Lists the subpaths of an installed package that are modules. */
export function subpathsOf(directory: string): readonly string[] {
  return publishedModules(directory).map(([subpath]) => subpath)
}

/** Lists the subpaths that a runtime supports: all without a reason against it. */
export function fitting(subpaths: readonly string[], runtime: Runtime): readonly string[] {
  return subpaths.filter((subpath) => useOf(subpath)?.absent?.[runtime] === undefined)
}

/** Returns the expected result of each subpath. */
export function expected(subpaths: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(subpaths.map((subpath) => [subpath, useOf(subpath)?.gives]))
}

/** Lists the subpaths that not every runtime supports, as the table of `docs/runtimes.md`. */
export function absenceTable(): string {
  const names: readonly Runtime[] = ['Node', 'Deno', 'Bun', 'workerd', 'Chromium']
  const rows = Object.entries(uses).flatMap(([subpath, { absent = {} }]) => {
    const missing = names.filter((name) => absent[name] !== undefined)
    if (missing.length === 0) return []
    const cells = [`\`${subpath.replace(/^\./, 'wardspace')}\``, missing.join(', '), absent[missing[0] ?? 'Node'] ?? '']
    return [cells]
  })
  const all = [['subpath', 'not in', 'because'], ...rows]
  const widths = [0, 1, 2].map((i) => Math.max(...all.map((cells) => cells[i]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  return [line(all[0] ?? []), rule, ...rows.map(line)].join('\n')
}

/** Returns a module that uses the subpaths. Its `run(host)` returns their results. */
function programOf(subpaths: readonly string[]): BuildOptions {
  const loads = subpaths.map((subpath) => {
    return `${JSON.stringify(subpath)}: () => import(${JSON.stringify(subpath.replace(/^\./, 'wardspace'))})`
  })
  const uses = JSON.stringify(join(import.meta.dirname, 'subpath-uses.ts'))
  return {
    stdin: {
      contents: `import { runUses } from ${uses}\nexport const run = (host) => runUses({ ${loads.join(', ')} }, host)`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  }
}

export interface Outcome {
  /** Results or errors by subpath. */
  readonly found: Readonly<Record<string, unknown>>
  /** Names of new global variables. */
  readonly globals: readonly string[]
}

/** Uses every supported subpath in a process of a runtime, in a project with the package installed. */
export async function useInProcess(
  project: string,
  runtime: keyof typeof programs,
  subpaths: readonly string[],
  program: readonly string[] = programs[runtime],
): Promise<Outcome> {
  const { outputFiles } = await build({ ...programOf(subpaths), external: ['wardspace', 'wardspace/*'] })
  const home = join(project, runtime)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'uses.mjs'), outputFiles?.[0]?.text ?? '')
  writeFileSync(join(home, 'main.mjs'), mainModule)
  const [file = '', ...args] = program
  const env = { ...process.env, NO_COLOR: '1', DENO_DIR: join(home, 'deno'), XDG_STATE_HOME: join(home, 'state') }
  await run(file, [...args, join(home, 'main.mjs')], { cwd: home, env })
  return JSON.parse(readFileSync(join(home, 'found.json'), 'utf8'))
}

const mainModule = `
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
const before = new Set(Object.getOwnPropertyNames(globalThis))
const { run } = await import('./uses.mjs')
const directory = () => mkdtempSync(join(process.cwd(), 'made-'))
const found = await run({ directory })
const globals = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name))
writeFileSync('found.json', JSON.stringify({ found, globals }))
process.exit(0)
`

/** Returns a bundle for a web runtime that uses the subpaths. */
export async function bundleForWeb(project: string, subpaths: readonly string[]): Promise<string> {
  return textOf({ ...programOf(subpaths), ...forWeb(project) })
}

/** Bundles a single subpath as the module of a Web Worker. */
export async function bundleWorker(project: string, subpath: string): Promise<string> {
  const stdin = { contents: `import ${JSON.stringify(subpath.replace(/^\./, 'wardspace'))}`, resolveDir: project }
  return textOf({ ...programOf([]), ...forWeb(project), stdin })
}

async function textOf(options: BuildOptions): Promise<string> {
  return (await build({ ...options, write: false })).outputFiles[0]?.text ?? ''
}

function forWeb(project: string): BuildOptions {
  return { platform: 'browser', define: { 'process.env': '{}' }, plugins: [installedAt(project)] }
}

/** Resolves the package from the project, independent of the location of the program. */
function installedAt(project: string): Plugin {
  return {
    name: 'installed',
    setup(to) {
      to.onResolve({ filter: /^wardspace(\/|$)/ }, ({ path, pluginData }) => {
        if (pluginData === 'seen') return null
        return to.resolve(path, { resolveDir: project, kind: 'import-statement', pluginData: 'seen' })
      })
    },
  }
}
