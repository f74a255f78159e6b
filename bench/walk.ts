import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { Volume } from 'memfs'
import { memory } from '../src/backends/memory/index.ts'
import { compileGlob } from '../src/paths/glob.ts'
import type { Path } from '../src/paths/logical-path.ts'
import { ROOT } from '../src/paths/logical-path.ts'
import type { Backend } from '../src/storage/backend.ts'
import { visibleFiles, type WalkOptions } from '../src/storage/walk.ts'
import { writeFiles } from '../test/write-files.ts'
import { medians } from './measure.ts'

const options: WalkOptions = {
  filters: { includeHidden: false, includeIgnored: false },
  see: () => true,
  enter: () => true,
  revision: 'bench',
}

/** The walk over a complete tree: in memory against memfs `readdirSync`, on disk against a native `rg --files` process. */
async function main(): Promise<void> {
  for (const size of [2500, 25_000]) {
    const files = project(size)
    console.log(`\n${size} files`)
    await inMemory(files)
    await onDisk(files)
  }
}

async function inMemory(files: Readonly<Record<string, string>>): Promise<void> {
  const volume = Volume.fromJSON(Object.fromEntries(Object.entries(files).map(([path, text]) => [`/${path}`, text])))
  const ours = memory(files)
  const glob = compileGlob('**/*.js')
  let round = 0
  const commit = () =>
    ours.commit(
      [
        {
          path: 'package.json' as Path,
          expect: 'any',
          to: { type: 'file', bytes: new TextEncoder().encode(`${round}`) },
        },
      ],
      {
        durability: 'relaxed',
      },
    )
  const deep = Object.keys(files).reduce((a, b) => (a.split('/').length > b.split('/').length ? a : b))
  const change = () =>
    ours.commit(
      [{ path: deep as Path, expect: 'any', to: { type: 'file', bytes: new TextEncoder().encode(`${round}`) } }],
      {
        durability: 'relaxed',
      },
    )
  await commit()
  const times = await medians(9, {
    memfs: () => volume.readdirSync('/', { recursive: true }),
    first: async () => {
      round += 1
      await visibleFiles(ours, ROOT, { ...options, revision: `bench${round}` })
    },
    edited: async () => {
      round += 1
      await change()
      await visibleFiles(ours, ROOT, options)
    },
    again: () => visibleFiles(ours, ROOT, options),
    find: async () => (await visibleFiles(ours, ROOT, options)).filter((path) => glob.matches(path)),
  })
  report('memory, first walk', times.first, 'memfs readdirSync', times.memfs, 0.1)
  report('memory, after an edit', times.edited, 'memfs readdirSync', times.memfs, 0.1)
  report('memory, unchanged', times.again, 'memfs readdirSync', times.memfs, 0.1)
  report('memory, unchanged, with a glob', times.find, 'memfs readdirSync', times.memfs, 0.1)
}

async function onDisk(files: Readonly<Record<string, string>>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'wardspace-bench-'))
  try {
    writeFiles(root, files)
    mkdirSync(join(root, '.git'))
    const rg = () =>
      spawnSync(rgPath, ['--files'], { cwd: root, maxBuffer: 1 << 28 })
        .stdout.toString()
        .split('\n')
    const backend = await disk(root)
    const ours = await visibleFiles(backend, ROOT, options)
    const theirs = rg().filter((path) => path !== '')
    if (ours.toSorted().join() !== theirs.toSorted().join()) {
      console.log(`  NOT THE SAME FILES: ours ${ours.length}, rg ${theirs.length}`)
    }
    const times = await medians(9, { rg, node: () => visibleFiles(backend, ROOT, options) })
    report('node', times.node, 'rg --files', times.rg, 1.2)
    await backend.close()
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function disk(root: string): Promise<Backend> {
  const { nodeBackend } = await import('../src/backends/node/index.ts')
  return nodeBackend(root)
}

/** Paths of installed packages, renamed so that no default filter excludes them, with ignore files as in projects. */
function project(size: number): Record<string, string> {
  const files: Record<string, string> = {
    '.gitignore': [
      ...['*.log', '*.tmp', '.env*', '/out/', 'coverage', '*.tsbuildinfo', '.cache/', 'logs', '*.pid', '*.seed'],
    ].join('\n'),
    'package.json': '{}',
  }
  let count = Object.keys(files).length
  for (let copy = 0; count < size; copy++) {
    for (const path of installed()) {
      if (count === size) break
      const renamed = path
        .split('/')
        .map((name) =>
          ['node_modules', 'dist', 'build', 'target', 'coverage', 'logs'].includes(name)
            ? `${name}s`
            : name.replace(/^\./, '_'),
        )
        .join('/')
      files[`packages${copy}/${renamed}`] = ''
      count += 1
      if (count % 500 === 0)
        files[`packages${copy}/${dirname(renamed)}/.gitignore`] = '*.map\n!index.js.map\n/lib/*.bak\n'
    }
  }
  return files
}

let paths: string[] | undefined

function installed(): string[] {
  if (paths !== undefined) return paths
  const root = 'node_modules'
  if (!existsSync(root)) throw new Error('Run this where packages are installed')
  paths = []
  const visit = (directory: string) => {
    for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`
      if (entry.isDirectory()) visit(path)
      else if (entry.isFile() && !/\.(log|tmp|pid|seed|tsbuildinfo|bak)$/.test(path)) paths?.push(path)
    }
  }
  visit('')
  return paths
}

function report(label: string, ours: number, against: string, theirs: number, target: number): void {
  const ratio = ours / theirs
  const verdict = ratio <= target ? 'ok' : 'OVER'
  console.log(
    `  ${label.padEnd(32)} ${ours.toFixed(3).padStart(9)} ms   ${against} ${theirs.toFixed(2)} ms   ratio ${ratio.toFixed(4)} (at most ${target}: ${verdict})`,
  )
}

await main()
