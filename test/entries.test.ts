import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { publishedModules } from './published.ts'

const top = join(import.meta.dirname, '..')
const entries = publishedModules(top)

/** Parts of `src/` that every entry may load. */
const COMMON = ['errors.ts', 'limits.ts', 'util', 'paths', 'files']
const WORKSPACE = ['policy', 'storage', 'audit', 'call', 'git', 'history', 'workspace', 'guard', 'tools']

/** A chunk of two small modules: adapters find the run of `workspace.files`, and open files reserve the bytes that they collect. */
const FILES_PARTS = ['call', 'workspace']

/** The parts of `src/` that an entry may load when it is imported, beside the common ones. The first matching row applies. */
const mayLoad: readonly (readonly [entry: RegExp, parts: readonly string[] | '*'])[] = [
  [/^\.(\/core|\/replay)?$/, WORKSPACE],
  [/^\.\/dialects\/exec-workspace$/, [...WORKSPACE, 'dialects', 'backends']],
  [/^\.\/tools$/, ['tools', 'guard', 'policy', 'storage']],
  [/^\.\/checks$/, ['checks']],
  [/^\.\/tool$/, ['tools', 'search', 'patch']],
  [/^\.\/policy$/, ['policy']],
  [/^\.\/(audit|evidence\/jsonl-sink)$/, ['audit', 'policy']],
  [/^\.\/evidence\/directory-parking$/, ['policy']],
  [/^\.\/backend$/, ['storage']],
  [/^\.\/backends\//, ['backends', 'storage']],
  [/^\.\/dialect$/, ['dialects', 'search']],
  [/^\.\/dialects\/(codex|deepagents|mcp-filesystem|index)$/, ['dialects', 'patch']],
  [/^\.\/dialects\//, ['dialects']],
  [/^\.\/shell$/, ['shells', 'policy', 'storage']],
  [/^\.\/shells\/node$/, ['shells', 'policy', 'storage', 'backends']],
  [/^\.\/shells\/bash-thread$/, ['shells', 'search']],
  [/^\.\/shells\//, ['shells', 'policy', 'storage']],
  [/^\.\/git$/, ['git', 'patch', 'storage']],
  [/^\.\/testing\/(vitest|scripted-model)$/, ['testing', 'storage']],
  [/^\.\/testing/, '*'],
  // Clients get no notification of a change that policy hides.
  [/^\.\/mcp$/, ['adapters', 'dialects', 'guard', 'policy', ...FILES_PARTS]],
  // The review of changes compares lines.
  [/^\.\/ui$/, ['ui', 'patch']],
  [/^\.\/elements$/, ['elements']],
  // Functions that read at once cannot load anything first: `call/read-now.ts`.
  [/^\.\/fs$/, ['adapters', 'storage', 'workspace', 'audit', 'call', 'guard', 'policy', 'shells']],
  [/^\.\/just-bash$/, ['adapters', 'storage', ...FILES_PARTS]],
  [/^\.\/(acp|deepagents|openai-agents)$/, ['adapters', 'dialects']],
  [/^\.\/(ai-sdk|mastra)$/, ['adapters', 'dialects', 'storage', ...FILES_PARTS]],
  [/^\.\/(json-schema|langchain)$/, ['adapters', 'dialects', ...FILES_PARTS]],
  [/^\.\/(mcp-http|mcp-roots|webmcp)$/, ['adapters', 'dialects']],
]

/** The entries that need Node. No other entry names a module of Node, not even for later. */
const forNode = /^\.\/(backends\/node|shells\/node|testing\/fixtures|mcp-roots|evidence\/.*)$/

/** The packages that an entry names, also for later. */
const packagesOf: Readonly<Record<string, readonly string[]>> = {
  './elements': [
    '@codemirror/commands',
    '@codemirror/lang-css',
    '@codemirror/lang-html',
    '@codemirror/lang-javascript',
    '@codemirror/lang-json',
    '@codemirror/lang-markdown',
    '@codemirror/language',
    '@codemirror/merge',
    '@codemirror/search',
    '@codemirror/state',
    '@codemirror/view',
    '@lezer/highlight',
    '@xterm/addon-fit',
    '@xterm/xterm',
  ],
  './checks': ['typescript'],
  './git': ['buffer/index.js', 'isomorphic-git'],
  './langchain': ['@langchain/core/load/serializable', '@langchain/core/messages/tool', '@langchain/core/tools'],
  './shells/webcontainer': ['@webcontainer/api'],
}

interface Closure {
  readonly files: ReadonlySet<string>
  readonly packages: ReadonlySet<string>
}

/** Returns the files and packages that a built module loads, directly and indirectly. `later`: also by `import()`. */
function closure(entry: string, later: boolean): Closure {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const [, from, bare, dynamic] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']|^import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gm,
    )) {
      const specifier = from ?? bare ?? (later ? dynamic : undefined)
      if (specifier === undefined) continue
      if (specifier.startsWith('.')) visit(join(dirname(file), specifier))
      else packages.add(specifier)
    }
  }
  visit(join(top, entry))
  return { files, packages }
}

/** Returns the parts of `src/` whose code is in built files, by their source maps. */
function partsOf(files: Iterable<string>): readonly string[] {
  const parts = new Set<string>()
  for (const file of files) {
    if (!existsSync(`${file}.map`)) continue
    const { sourceRoot = '', sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as {
      sourceRoot?: string
      sources: readonly string[]
    }
    for (const source of sources) {
      const [, part] = /^(?:\.\.\/)+src\/([^/]+)/.exec(sourceRoot + source) ?? []
      if (part !== undefined) parts.add(part)
    }
  }
  return [...parts].sort()
}

const nodeModules: ReadonlySet<string> = new Set(builtinModules)
const isOfNode = (name: string) => name.startsWith('node:') || nodeModules.has(name)

describe.each(entries)('%s as built', (entry, file) => {
  it('loads only its parts of src/ when it is imported', () => {
    const parts = mayLoad.find(([pattern]) => pattern.test(entry))?.[1] ?? []
    const extra = partsOf(closure(file, false).files).filter(
      (part) => parts !== '*' && ![...COMMON, ...parts].includes(part),
    )
    expect(extra).toEqual([])
  })

  it(`names ${forNode.test(entry) ? 'modules of Node' : 'no module of Node, also for later'}`, () => {
    const names = [...closure(file, true).packages].filter(isOfNode)
    if (forNode.test(entry)) expect(names).not.toEqual([])
    else expect(names).toEqual([])
  })

  it('names only its packages', () => {
    const names = [...closure(file, true).packages].filter((name) => !isOfNode(name))
    expect(names.sort()).toEqual(packagesOf[entry] ?? [])
  })
})

describe('the table of entries', () => {
  it('has no row that no entry needs', () => {
    const unused = mayLoad.filter(
      (row) => !entries.some(([entry]) => mayLoad.find(([pattern]) => pattern.test(entry)) === row),
    )
    expect(unused.map(([pattern]) => String(pattern))).toEqual([])
  })

  it('sees what an entry loads', () => {
    const parts = (name: string) => partsOf(closure(`dist/${name}`, false).files)
    expect(parts('git/index.js')).toContain('git')
    expect(parts('workspace/core.js')).toContain('call')
    expect(closure('dist/index.js', true).files.size).toBeGreaterThan(closure('dist/index.js', false).files.size)
  })
})
