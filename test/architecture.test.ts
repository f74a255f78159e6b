import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = join(import.meta.dirname, '../src')
const dist = join(import.meta.dirname, '../dist')

/** The rules of who may import whom: a part, and the parts that it may name. `*` is all. */
const mayImport: Readonly<Record<string, readonly string[] | '*'>> = {
  errors: [],
  limits: ['errors'],
  'canonical-json': [],
  events: [],
  about: ['errors', 'evidence', 'plan-mode', 'run', 'tool'],
  paths: ['errors'],
  access: ['paths', 'files'],
  files: ['errors', 'paths'],
  vfs: ['errors', 'paths', 'access', 'files'],
  backends: ['vfs', 'paths', 'errors', 'files'],
  search: ['errors', 'paths', 'files'],
  patch: ['errors', 'paths', 'files'],
  git: ['vfs', 'paths', 'patch', 'files', 'errors'],
  policy: ['errors', 'paths', 'access', 'files', 'limits', 'canonical-json', 'vfs'],
  parking: ['errors', 'evidence', 'judge-changes', 'paths', 'policy', 'run', 'vfs'],
  'plan-mode': ['policy', 'record', 'run'],
  resume: ['errors', 'pipeline', 'policy', 'record', 'run'],
  operations: ['access', 'backends', 'errors', 'evidence', 'paths', 'run', 'tool', 'vfs'],
  'states-before': ['evidence', 'run', 'tool', 'vfs'],
  evidence: ['errors', 'paths', 'access', 'files', 'vfs', 'patch', 'policy', 'canonical-json'],
  'optional-package': ['errors'],
  shells: [
    'optional-package',
    'vfs',
    'paths',
    'policy',
    'search',
    'patch',
    'git',
    'errors',
    'access',
    'files',
    'backends',
  ],
  'command-desk': '*',
  'command-git': ['command-repository', 'errors', 'files', 'git', 'paths', 'shells', 'vfs'],
  'command-repository': ['errors', 'git', 'paths', 'shells', 'vfs'],
  background: ['errors', 'paths', 'shells', 'tool'],
  hooks: ['errors', 'access'],
  tool: ['evidence', 'policy', 'errors', 'paths', 'access', 'vfs', 'limits', 'git', 'shells'],
  input: ['tool', 'errors'],
  run: [
    'flow',
    'events',
    'plan-mode',
    'errors',
    'shells',
    'tool',
    'paths',
    'policy',
    'evidence',
    'vfs',
    'files',
    'limits',
    'hooks',
    'git',
  ],
  sight: ['policy', 'paths', 'files', 'vfs', 'access'],
  projection: ['evidence'],
  suggest: ['errors', 'paths', 'run', 'sight', 'vfs'],
  record: ['files', 'shells', 'errors', 'paths', 'access', 'policy', 'evidence', 'run', 'vfs', 'judge-changes'],
  'judge-changes': ['errors', 'paths', 'access', 'files', 'policy', 'evidence', 'run', 'tool', 'vfs', 'pipeline'],
  'keep-whole': ['evidence', 'tool'],
  context: [
    'flow',
    'command-desk',
    'errors',
    'run',
    'sight',
    'tool',
    'vfs',
    'record',
    'pipeline',
    'git',
    'files',
    'paths',
    'input',
    'policy',
  ],
  flow: ['access', 'errors', 'judge-changes', 'paths', 'pipeline', 'policy', 'run', 'vfs'],
  pipeline: '*',
  tools: [
    'tool',
    'errors',
    'limits',
    'paths',
    'access',
    'files',
    'vfs',
    'search',
    'patch',
    'policy',
    'evidence',
    'git',
    'shells',
  ],
  'workspace-files': ['errors', 'pipeline'],
  recording: ['files', 'pipeline', 'policy', 'run'],
  replay: ['canonical-json', 'dialect', 'recording', 'workspace'],
  dialect: ['errors', 'input', 'paths', 'pipeline', 'tool', 'tools'],
  dialects: ['backends', 'dialect', 'errors', 'paths', 'tools', 'workspace'],
  workspace: [
    'about',
    'events',
    'dialect',
    'recording',
    'flow',
    'plan-mode',
    'pipeline',
    'tools',
    'tool',
    'run',
    'policy',
    'evidence',
    'vfs',
    'files',
    'access',
    'errors',
    'limits',
    'hooks',
    'workspace-files',
    'operations',
    'resume',
    'backends',
    'git',
    'paths',
    'shells',
  ],
  index: '*',
  adapters: [
    'dialect',
    'policy',
    'workspace',
    'tool',
    'tools',
    'errors',
    'pipeline',
    'adapters',
    'events',
    'files',
    'paths',
  ],
  testing: ['vfs', 'paths', 'errors', 'files', 'backends', 'shells', 'workspace', 'tools', 'git', 'replay'],
  cli: '*',
}

/** Files whose job is Node: nothing else may name a module of it. */
const nodeFiles = [
  /^backends\/node(\.ts|\/)/,
  /^shells\/node(\.ts|\/)/,
  /^cli\//,
  /^adapters\/mcp-roots\.ts$/,
  /^evidence\/(directory-parking|jsonl-sink|jsonl-file|rotation|file-lock)\.ts$/,
  /^testing\/fixtures\.ts$/,
]

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8')
  const found: Import[] = []
  const statement =
    /^\s*(?:import|export)\s+(type\s+)?[^'"`;]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm
  for (const [, type, from, bare, dynamic] of text.matchAll(statement)) {
    found.push({ specifier: from ?? bare ?? dynamic ?? '', typeOnly: type !== undefined })
  }
  return found
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(relative(directory, entry.parentPath), entry.name))
}

const sources = filesBelow(src).filter((name) => name.endsWith('.ts'))

function partOf(name: string): string {
  return (name.split('/')[0] ?? name).replace(/\.ts$/, '')
}

describe('who may import whom', () => {
  it('has a rule for every part', () => {
    expect([...new Set(sources.map(partOf))].filter((part) => !(part in mayImport))).toEqual([])
  })

  it('holds in every file', () => {
    const broken: string[] = []
    for (const name of sources) {
      const allowed = mayImport[partOf(name)] ?? []
      for (const { specifier } of importsOf(join(src, name))) {
        if (!specifier.startsWith('.')) continue
        const target = partOf(relative(src, join(src, dirname(name), specifier)))
        if (target !== partOf(name) && allowed !== '*' && !allowed.includes(target))
          broken.push(`${name} → ${specifier}`)
      }
    }
    expect(broken).toEqual([])
  })

  it('has no circles at run time', () => {
    const graph = new Map(
      sources.map((name) => [
        name,
        importsOf(join(src, name))
          .filter(({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
          .map(({ specifier }) => posix.join(posix.dirname(name), specifier)),
      ]),
    )
    const done = new Set<string>()
    const circles: string[] = []
    const visit = (name: string, above: readonly string[]): void => {
      if (above.includes(name)) circles.push([...above.slice(above.indexOf(name)), name].join(' → '))
      if (done.has(name) || above.includes(name)) return
      for (const next of graph.get(name) ?? []) visit(next, [...above, name])
      done.add(name)
    }
    for (const name of sources) visit(name, [])
    expect(circles).toEqual([])
  })

  it('names modules of Node only where Node is the job', () => {
    const builtin = new Set(builtinModules)
    const broken = sources
      .filter((name) => !nodeFiles.some((pattern) => pattern.test(name)))
      .flatMap((name) =>
        importsOf(join(src, name))
          .filter(({ specifier, typeOnly }) => !typeOnly && (specifier.startsWith('node:') || builtin.has(specifier)))
          .map(({ specifier }) => `${name} → ${specifier}`),
      )
    expect(broken).toEqual([])
  })
})

describe('the built root entry', () => {
  /** Everything that a module loads, packages by name. */
  function closure(entry: string): { files: Set<string>; packages: Set<string> } {
    const files = new Set<string>()
    const packages = new Set<string>()
    const visit = (file: string): void => {
      if (files.has(file)) return
      files.add(file)
      for (const [, from, bare, dynamic] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']|^import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gm,
      )) {
        const specifier = from ?? bare ?? dynamic ?? ''
        if (specifier.startsWith('.')) visit(join(dirname(file), specifier))
        else packages.add(specifier)
      }
    }
    visit(join(dist, entry))
    return { files, packages }
  }

  it('loads nothing of Node and no package but zod', () => {
    const { files, packages } = closure('index.js')
    expect(files.size).toBeGreaterThan(30)
    expect([...packages]).toEqual(['zod'])
  })

  it('is told apart from an entry that does load Node', () => {
    expect([...closure('backends/node.js').packages].some((name) => name.startsWith('node:'))).toBe(true)
  })

  it('loads memory without any package', () => {
    expect([...closure('backends/memory.js').packages]).toEqual([])
  })
})
