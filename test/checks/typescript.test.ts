import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import ts from '@typescript/typescript6'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { type CheckReport, type Finding, type TypeScriptCheckOptions, typescript } from '../../src/checks/index.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { isLong, times } from '../counts.ts'

const compiler = () => ts

/** Few declarations, so that a program is there in a moment. */
const CONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler' },
    ...{ allowImportingTsExtensions: true, lib: ['es5'], types: [] },
  },
  include: ['src'],
}

const config = (value: object = CONFIG) => ({ 'tsconfig.json': JSON.stringify(value) })

function open(
  files: Readonly<Record<string, string>>,
  options: TypeScriptCheckOptions = {},
  workspaceOptions: Partial<WorkspaceOptions> = {},
) {
  const checks = [typescript({ compiler, timeoutMs: 60_000, ...options })]
  return createWorkspace({ backend: memory(files), policy: 'autonomous', checks, ...workspaceOptions })
}

async function write(workspace: Workspace, path: string, content: string): Promise<CheckReport> {
  await workspace.call('read_file', { path })
  const result = await workspace.call('write_file', { path, content, mode: 'CREATE_OR_REPLACE' })
  if (!result.ok) throw new Error(result.message)
  return (result.checks as readonly [CheckReport])[0]
}

const shown = ({ path, line, code }: Finding) => `${path}:${line} ${code}`

describe('typescript', () => {
  it('reports what is wrong in a changed file, and what the change has broken in others', async () => {
    const workspace = await open({
      ...config(),
      'src/a.ts': 'export const f = (n: number): number => n\n',
      'src/b.ts': "import { f } from './a.ts'\nexport const b = f(1)\n",
      'src/c.ts': "import { b } from './b.ts'\nexport const c: number = b\nexport const old: string = 1\n",
      'src/alone.ts': 'export const x: string = 1\n',
    })
    const first = await write(workspace, 'src/a.ts', 'export const f = (n: string): number => n\n')
    expect(first.findings).toEqual([
      {
        ...{ path: 'src/a.ts', line: 1, column: 41, code: 'TS2322' },
        message: "Type 'string' is not assignable to type 'number'.",
      },
      expect.objectContaining({ path: 'src/b.ts', line: 2, code: 'TS2345' }),
      // Nothing is known of dependent files before the first change.
      expect.objectContaining({ path: 'src/c.ts', line: 3, code: 'TS2322' }),
    ])
    expect(await write(workspace, 'src/a.ts', 'export const f = (n: number): number => n\n')).toEqual({
      name: 'typescript',
      findings: [],
    })
    const again = await write(workspace, 'src/a.ts', "export const f = (n: number): string => n + ''\n")
    expect(again.findings.map(shown)).toEqual(['src/c.ts:2 TS2322'])
    const syntax = await write(workspace, 'src/a.ts', "export const f = (n: number): string => n + ''\nlet =\n")
    expect(syntax.findings.map(shown)).toContain('src/a.ts:2 TS1109')
  })

  it('follows files that come and go, packages, and the configuration', async () => {
    const backend = memory({
      ...config(),
      'src/a.ts': "import { later } from './later.ts'\nimport { z } from 'zz'\nexport const a: string = z + later\n",
      'node_modules/zz/package.json': '{ "name": "zz", "types": "types.d.ts" }',
      'node_modules/zz/types.d.ts': "export { z } from './inner'\n",
      'node_modules/zz/inner.d.ts': 'export declare const z: number\n',
    })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', checks: [typescript({ compiler })] })
    const first = await write(workspace, 'src/b.ts', "export * from './a.ts'\n")
    expect(first.findings.map(shown)).toEqual([])
    const created = await write(workspace, 'src/later.ts', 'export const later = 1\n')
    expect(created.findings.map(shown)).toEqual(['src/a.ts:3 TS2322'])
    const deleted = await workspace.call('delete_file', { path: 'src/later.ts' })
    expect(deleted).toMatchObject({ checks: [{ findings: [{ path: 'src/a.ts', code: 'TS2307' }] }] })
    const installed = new TextEncoder().encode('export declare const z: string\n')
    const change = {
      path: 'node_modules/zz/inner.d.ts' as Path,
      expect: 'any',
      to: { type: 'file', bytes: installed },
    } as const
    await backend.commit([change], { durability: 'relaxed' })
    expect((await write(workspace, 'src/later.ts', "export const later = 'x'\n")).findings).toEqual([])
    const unknown = { ...CONFIG, compilerOptions: { ...CONFIG.compilerOptions, noImplicitAny: false, zork: true } }
    const changed = await write(workspace, 'tsconfig.json', JSON.stringify(unknown, null, 1))
    expect(changed.findings.map(shown)).toEqual(['tsconfig.json:14 TS5023'])
  })

  it('sees only files that the agent may read', async () => {
    const workspace = await open(
      {
        ...config(),
        'src/private/plan.ts': 'export const plan: number = "the plan"\n',
        'src/a.ts': 'export {}\n',
      },
      {},
      { policy: { preset: 'autonomous', deniedPaths: ['src/private/**'] } },
    )
    const { findings } = await write(workspace, 'src/a.ts', "export { plan } from './private/plan.ts'\n")
    expect(findings.map(shown)).toEqual(['src/a.ts:1 TS2307'])
    expect(JSON.stringify(workspace.auditRecords())).not.toContain('plan.ts')
  })

  it('labels each run that learns from a labelled file, also without reading it again', async () => {
    const workspace = await open(
      { ...config(), 'src/a.ts': "export { b } from './b.ts'\n", 'src/b.ts': 'export const b = 1\n' },
      {},
      { policy: { preset: 'autonomous', labels: { sources: [{ label: 'restricted', paths: ['src/b.ts'] }] } } },
    )
    for (const id of ['first', 'second']) {
      const run = workspace.run({ id })
      await run.call('read_file', { path: 'src/a.ts' })
      const change = { path: 'src/a.ts', content: `export { b as ${id} } from './b.ts'\n`, mode: 'CREATE_OR_REPLACE' }
      expect(await run.call('write_file', change as never)).toMatchObject({ ok: true, label: 'restricted' })
    }
  })

  it('checks the projects that a configuration refers to, named ones, and files without one', async () => {
    const project = {
      ...CONFIG,
      compilerOptions: { ...CONFIG.compilerOptions, composite: true, noEmit: false, emitDeclarationOnly: true },
    }
    const files = {
      'tsconfig.json': JSON.stringify({ files: [], references: [{ path: './app' }, { path: './lib' }] }),
      'app/tsconfig.json': JSON.stringify({ ...project, references: [{ path: '../lib' }] }),
      'app/src/main.ts': "import { lib } from '../../lib/src/lib.ts'\nexport const main: number = lib\n",
      'lib/tsconfig.json': JSON.stringify(project),
      'lib/src/lib.ts': 'export const lib = 1\n',
      'lib/src/other.ts': 'export const other = 1\n',
    }
    const workspace = await open(files)
    const own = await write(workspace, 'lib/src/lib.ts', 'export const lib: string = 1\n')
    expect(own.findings.map(shown)).toEqual(['lib/src/lib.ts:1 TS2322'])
    const all = await open(files, { project: ['app/tsconfig.json', 'lib/tsconfig.json'] })
    const both = await write(all, 'lib/src/lib.ts', "export const lib: string = ''\n")
    expect(both.findings.map(shown)).toEqual(['app/src/main.ts:2 TS2322'])
    const bare = await open({ 'a.ts': 'export const a = 1\n' })
    const { findings } = await write(bare, 'b.ts', "import { a } from './a'\nexport const b: string = a\n")
    expect(findings.map(shown)).toEqual(['b.ts:2 TS2322'])
  })

  it('ends within its time, and loses no finding by that', async () => {
    let passedMs = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs)
    let slowPath = ''
    const createSourceFile: typeof ts.createSourceFile = (path, ...rest) => {
      if (path === slowPath) passedMs += 100_000
      return ts.createSourceFile(path, ...rest)
    }
    const workspace = await open(
      {
        ...config(),
        'src/a.ts': 'export const a = 1\n',
        'src/b.ts': "import { a } from './a.ts'\nexport const b: number = a\n",
      },
      { compiler: () => ({ ...ts, createSourceFile }) },
    )
    const late = { problem: 'did not end within 60000 ms', findings: [] }
    slowPath = '/src/b.ts'
    expect(await write(workspace, 'src/a.ts', 'export const a = 2\n')).toMatchObject(late)
    expect(await write(workspace, 'src/a.ts', 'export const a = 3\n')).toEqual({ name: 'typescript', findings: [] })
    slowPath = '/src/a.ts'
    expect(await write(workspace, 'src/a.ts', "export const a = ''\n")).toMatchObject(late)
    const { findings } = await write(workspace, 'src/c.ts', 'export {}\n')
    expect(findings.map(shown)).toEqual(['src/b.ts:2 TS2322'])
    vi.restoreAllMocks()
  })

  it('names the package that it needs, and the version', async () => {
    for (const compiler of [undefined, () => import('typescript')]) {
      const checks = [typescript(compiler === undefined ? {} : { compiler })]
      const workspace = await createWorkspace({ backend: memory(config()), policy: 'autonomous', checks })
      const { problem } = await write(workspace, 'src/a.ts', 'export {}\n')
      expect(problem).toBe(
        'needs the compiler of typescript 5 or 6, not 7.0.2: npm install @typescript/typescript6, and the option compiler, which imports it',
      )
    }
    expect(() => typescript({ projects: 'x' } as never)).toThrow(/"projects".*project/)
  })

  it('takes the declarations of the compiler from the program on a platform without files', async () => {
    const { sys: _, ...inPage } = ts
    const without = await open(config(), { compiler: () => inPage })
    expect(await write(without, 'src/a.ts', 'export {}\n')).toMatchObject({
      problem: 'needs the option lib on this platform: it returns the declarations of the compiler',
    })
    const names: string[] = []
    const lib = async (name: string) => {
      names.push(name)
      return ts.sys.readFile(join(dirname(ts.sys.getExecutingFilePath()), name))
    }
    const workspace = await open(config(), { compiler: () => inPage, lib })
    const { findings } = await write(workspace, 'src/a.ts', 'export const a: string[] = [1]\n')
    expect(findings.map(shown)).toEqual(['src/a.ts:1 TS2322'])
    expect(names).toContain('lib.es5.d.ts')
  })

  describe('beside the compiler on a disk', () => {
    const directory = mkdtempSync(join(tmpdir(), 'wardspace-tsc-'))
    afterAll(() => rmSync(directory, { recursive: true }))

    it('reports exactly what is new, after each change of generated programs', async () => {
      const random = numbersFrom(11)
      for (let program = 0; program < times(1, 60); program++) {
        const present = new Map(Object.entries(config()))
        for (let i = 0; i < MODULES; i++) present.set(`src/m${i}.ts`, moduleText(i, random))
        const workspace = await open(Object.fromEntries(present))
        let before: readonly string[] = []
        for (let change = 0; change < times(4, 6); change++) {
          // Every module depends on the first one, so that all are known after the first change.
          const index = change === 0 ? 0 : random(MODULES)
          const path = `src/m${index}.ts`
          present.set(path, moduleText(index, random))
          for (const [name, text] of present) writeOn(directory, name, text)
          const { all: after, printed } = compile(directory)
          if (isLong) expect(runCompiler(directory)).toEqual(printed)
          const { findings } = await write(workspace, path, present.get(path) as string)
          const expected = after.filter((line) => line.startsWith(`${path}(`) || !before.includes(line))
          expect([...new Set(findings.map(asLine))].sort(), [...present].join('\n')).toEqual(expected)
          before = after
        }
      }
    })
  })
})

const MODULES = 6
const TYPES = ['number', 'string', '{ a: number }', '(x: number) => string', 'number[]', 'G["p"]']
const VALUES = ['1', "''", '{ a: 1 }', '(x: number) => String(x)', '[1]', '({} as G).p', 'none']

/** A module that imports others, with types that may be wrong. */
function moduleText(index: number, random: (below: number) => number): string {
  const other = random(MODULES)
  const lines = [
    index === 0 ? '' : "import { v0 } from './m0.ts'",
    other === 0 || other === index ? '' : `import { v${other}, f${other} } from './m${other}.ts'`,
    `export const v${index}: ${TYPES[random(TYPES.length)]} = ${VALUES[random(VALUES.length)]}`,
    `export const f${index} = (x: ${TYPES[random(TYPES.length)]}) => ${random(2) === 0 || index === 0 ? 'x' : 'v0'}`,
    other === 0 || other === index ? '' : `f${other}(v${other})`,
    // Of two that contradict, the compiler reports the later one, in an order that each import changes.
    index === 0 && random(3) > 0 ? `declare global { interface G { p: ${TYPES[random(4)]} } }` : '',
    random(9) === 0 ? 'let =' : '',
  ]
  return `${lines.filter((line) => line !== '').join('\n')}\n`
}

function asLine({ path, line, column, code, message }: Finding): string {
  const at = path === undefined ? '' : `${path}(${line},${column}): `
  return `${at}error ${code}: ${message.split('\n')[0]}`
}

/** The lines for all findings of the compiler in a project, sorted, and those that `tsc` prints: after a wrong syntax, no others. */
function compile(directory: string): { readonly all: string[]; readonly printed: string[] } {
  const read = ts.readConfigFile(join(directory, 'tsconfig.json'), ts.sys.readFile)
  const { options, fileNames: rootNames } = ts.parseJsonConfigFileContent(read.config, ts.sys, directory)
  const program = ts.createProgram({ rootNames, options })
  const syntax = program.getSyntacticDiagnostics()
  const all = linesOf(directory, ts.getPreEmitDiagnostics(program))
  return { all, printed: syntax.length > 0 ? linesOf(directory, syntax) : all }
}

function linesOf(directory: string, diagnostics: readonly ts.Diagnostic[]): string[] {
  const lines = diagnostics.map(({ file, start = 0, code, messageText }) => {
    const { line, character } = file?.getLineAndCharacterOfPosition(start) ?? { line: 0, character: 0 }
    const place = { line: line + 1, column: character + 1, code: `TS${code}` }
    const message = ts.flattenDiagnosticMessageText(messageText, '\n')
    return asLine({ message, ...place, ...(file && { path: file.fileName.slice(directory.length + 1) }) })
  })
  return [...new Set(lines)].sort()
}

function runCompiler(directory: string): string[] {
  const bin = join(dirname(ts.sys.getExecutingFilePath()), '../bin/tsc')
  const { stdout } = spawnSync(process.execPath, [bin, '-p', '.', '--pretty', 'false'], {
    cwd: directory,
    encoding: 'utf8',
  })
  return [...new Set(stdout.split('\n').filter((line) => /^\S/.test(line)))].sort()
}

function writeOn(directory: string, path: string, text: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), text)
}

/** Returns a function that returns pseudo-random integers from 0 on, below a limit. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
