import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { circles, importsOf, longFunctions, rootExports, sources, timesOfTimers } from './structure.ts'

const src = join(import.meta.dirname, '../src')

/**
 * The folders of `src/` (and its loose files), from the lowest layer to the highest, and the folders that each may
 * import. A folder may import only from rows above its own; `*` allows all of them. `errors` and `util` may be imported
 * anywhere.
 */
const mayImport: Readonly<Record<string, readonly string[] | '*'>> = {
  errors: [],
  limits: [],
  util: [],
  paths: [],
  search: [],
  files: ['paths', 'util'],
  storage: ['files', 'paths'],
  backends: ['files', 'paths', 'storage', 'util'],
  history: ['paths', 'storage'],
  patch: ['files', 'paths', 'util'],
  policy: ['files', 'limits', 'patch', 'paths', 'storage', 'util'],
  git: ['files', 'patch', 'paths', 'storage', 'util'],
  guard: ['files', 'paths', 'policy', 'storage'],
  audit: ['files', 'paths', 'policy', 'storage', 'util', 'history'],
  shells: ['backends', 'files', 'git', 'guard', 'patch', 'paths', 'policy', 'search', 'storage', 'util'],
  tools: [
    'files',
    'git',
    'guard',
    'history',
    'limits',
    'patch',
    'paths',
    'policy',
    'search',
    'shells',
    'storage',
    'util',
  ],
  call: [
    'audit',
    'backends',
    'files',
    'git',
    'guard',
    'history',
    'limits',
    'patch',
    'paths',
    'policy',
    'shells',
    'storage',
    'tools',
  ],
  checks: ['call', 'paths', 'util'],
  dialects: ['call', 'limits', 'patch', 'paths', 'tools'],
  workspace: [
    'audit',
    'backends',
    'call',
    'dialects',
    'files',
    'git',
    'history',
    'limits',
    'patch',
    'paths',
    'policy',
    'shells',
    'storage',
    'tools',
    'util',
  ],
  ui: ['audit', 'call', 'files', 'history', 'paths', 'patch', 'policy', 'storage', 'workspace'],
  elements: ['files', 'policy', 'ui'],
  adapters: ['call', 'checks', 'dialects', 'files', 'paths', 'policy', 'storage', 'tools', 'workspace'],
  testing: ['backends', 'files', 'git', 'paths', 'shells', 'storage', 'tools', 'workspace'],
  index: '*',
  cli: '*',
}

/** Files that may import modules of Node. */
const nodeFiles = [
  /^backends\/node\//,
  /^shells\/node\//,
  /^cli\//,
  /^adapters\/mcp-roots\//,
  /^audit\/(jsonl-sink|jsonl-file|rotation|file-lock)\.ts$/,
  /^policy\/directory-parking\.ts$/,
  /^util\/regular-file\.ts$/,
  /^testing\/fixtures\.ts$/,
]

function partOf(name: string): string {
  return (name.split('/')[0] ?? name).replace(/\.tsx?$/, '')
}

describe('imports between the folders of src/', () => {
  const rows = Object.keys(mayImport)

  it('has a row for each folder and each loose file, and no other rows', () => {
    expect([...rows].sort()).toEqual([...new Set(sources.map(partOf))].sort())
  })

  it('has rows that name only folders of lower layers', () => {
    const upward = rows.flatMap((row, i) => {
      const allowed = mayImport[row] ?? []
      return allowed === '*'
        ? []
        : allowed.filter((name) => !rows.slice(0, i).includes(name)).map((name) => `${row} → ${name}`)
    })
    expect(upward).toEqual([])
  })

  it('follows the table in every file', () => {
    const broken: string[] = []
    for (const name of sources) {
      const part = partOf(name)
      const row = mayImport[part] ?? []
      const allowed = row === '*' ? rows.slice(0, rows.indexOf(part)) : row
      for (const { specifier } of importsOf(name)) {
        if (!specifier.startsWith('.')) continue
        const target = partOf(relative(src, join(src, dirname(name), specifier)))
        if (target !== part && !['errors', 'util', ...allowed].includes(target)) broken.push(`${name} → ${specifier}`)
      }
    }
    expect(broken).toEqual([])
  })

  it('keeps at most four files outside of folders', () => {
    expect(sources.filter((name) => !name.includes('/')).length).toBeLessThanOrEqual(4)
  })

  it('has no file beside a folder of the same name', () => {
    const folders = new Set(sources.map((name) => posix.dirname(name)))
    expect(sources.filter((name) => folders.has(name.replace(/\.tsx?$/, '')))).toEqual([])
  })

  it('has no import cycle between files, type imports included', () => {
    expect(circles()).toEqual([])
  })

  it('imports modules of Node only in the files for Node', () => {
    const builtin = new Set(builtinModules)
    const broken = sources
      .filter((name) => !nodeFiles.some((pattern) => pattern.test(name)))
      .flatMap((name) =>
        importsOf(name)
          .filter(({ specifier, typeOnly }) => !typeOnly && (specifier.startsWith('node:') || builtin.has(specifier)))
          .map(({ specifier }) => `${name} → ${specifier}`),
      )
    expect(broken).toEqual([])
  })
})

describe('timers of src/', () => {
  it('are started with constants, except by runAfter, because a timer of over 24 days ends at once', () => {
    const times = sources
      .filter((name) => !name.startsWith('testing/') && name !== 'util/timers.ts')
      .flatMap((name) => timesOfTimers(name).map((time) => `${name}: ${time}`))
    expect(times.length).toBeGreaterThan(5)
    expect(times.filter((time) => /\bms\b|[a-z]Ms\b/.test(time))).toEqual([])
  })
})

describe('functions of src/ and playground/', () => {
  it('have at most 80 lines', () => {
    expect(longFunctions(80)).toEqual([])
  })
})

describe('the root entry', () => {
  const root = rootExports()
  const names = [...root.values, ...root.types]

  it('exports some 60 names', () => {
    expect(names.length).toBeGreaterThan(50)
    expect(names.length).toBeLessThanOrEqual(70)
  })

  it('exports no name of a global of Node or the DOM', () => {
    const types = join(import.meta.dirname, '../node_modules/@typescript')
    const platform = readdirSync(types).find((name) => name.startsWith('typescript-')) ?? ''
    const dom = readFileSync(join(types, platform, 'lib/lib.dom.d.ts'), 'utf8')
    const globals = new Set(
      [...dom.matchAll(/^(?:declare (?:var|function)|interface) (\w+)/gm)].map(([, name = '']) => name),
    )
    for (const name of Object.getOwnPropertyNames(globalThis)) globals.add(name)
    expect(globals.has('Document') && globals.has('Range') && globals.has('Buffer')).toBe(true)
    expect(names.filter((name) => globals.has(name))).toEqual([])
  })
})
