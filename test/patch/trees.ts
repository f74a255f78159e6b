import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProgram } from '../run-program.ts'

/** A file of a generated tree. */
export interface TreeFile {
  readonly bytes: Buffer
  readonly executable: boolean
}

export type FileTree = Map<string, TreeFile>

/** A seeded generator of numbers from 0 to 1. */
export function randomFrom(seed: number): () => number {
  let state = (seed + 0x9e3779b9) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const names = [
  'a',
  'b.ts',
  'c d.txt',
  ' lead',
  'tail ',
  'é.md',
  '日本.txt',
  "it's",
  '"quoted"',
  'a"b',
  '[id].tsx',
  '$HOME',
  '~x',
  '-dash',
  '..foo',
  '...',
  '__proto__',
  'a&b;c',
  '%2e',
  'x → y',
  'b',
  'a b/c',
  'UPPER.TS',
  'dev',
  'null',
  '@@ -1 +1 @@',
  '--- a',
  '+++ b',
  '😀.txt',
]
const folders = ['', '', 'src', 'src/deep/er', 'with space', 'ümlaut', 'a', 'b', 'src/x→']

/** A tree with difficult names, line ends, modes and last lines. */
export function generateTree(random: () => number, count: number): FileTree {
  const tree: FileTree = new Map()
  while (tree.size < count) {
    const path = anyPath(random)
    if (isFree(tree, path)) tree.set(path, { bytes: anyContent(random), executable: random() < 0.15 })
  }
  return tree
}

function anyPath(random: () => number): string {
  // Rarely uses a name that git itself cannot parse in a header.
  const folder = random() < 0.0005 ? 'dir /sub' : pick(random, folders)
  const name = random() < 0.5 ? pick(random, names) : `${pick(random, names)}${Math.floor(random() * 40)}`
  return folder === '' ? name : `${folder}/${name}`
}

/** Whether there is no file at a path, above it or below it. */
function isFree(tree: FileTree, path: string): boolean {
  for (const other of tree.keys()) {
    if (other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) return false
  }
  return true
}

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

export function anyContent(random: () => number): Buffer {
  const kind = random()
  if (kind < 0.06) return Buffer.alloc(0)
  if (kind < 0.12)
    return Buffer.from(
      Array.from({ length: 1 + Math.floor(random() * 400) }, (_, i) => (i === 0 ? 0 : Math.floor(random() * 256))),
    )
  const text = anyLines(random).join('')
  if (kind < 0.16) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)])
  return Buffer.from(text)
}

function anyLines(random: () => number): string[] {
  const eol = random()
  const few = random() < 0.3
  const lines = Array.from({ length: Math.floor(random() ** 2 * 60) + 1 }, () => anyLine(random, few, eol))
  if (random() < 0.2) lines.push(lines.length > 0 ? 'no newline' : '')
  return lines
}

function anyLine(random: () => number, few: boolean, eol: number): string {
  const end = eol < 0.65 ? '\n' : eol < 0.8 ? '\r\n' : random() < 0.5 ? '\n' : '\r\n'
  const words = [
    'x',
    '',
    '}',
    '\ttab',
    ' blank',
    '--- a',
    '+++ b',
    '@@ -1 +1 @@',
    '\\ No newline at end of file',
    'diff --git a/x b/x',
    'é',
    'a\rb',
    '-',
    '+',
  ]
  if (few) return `${pick(random, ['a', 'b', '}'])}${end}`
  return `${random() < 0.3 ? pick(random, words) : `line ${Math.floor(random() * 1000)}`}${end}`
}

/** A changed tree: files are edited, created, deleted, renamed, copied, made executable, or replaced by directories. */
export function changeTree(random: () => number, tree: FileTree): FileTree {
  const changed: FileTree = new Map()
  for (const [path, file] of tree) {
    const subject = random()
    if (subject < 0.08) continue
    if (subject < 0.14) {
      const to = anyPath(random)
      if (isFree(changed, to) && isFree(tree, to)) {
        changed.set(to, random() < 0.5 ? file : edited(random, file))
        continue
      }
    }
    if (subject < 0.17 && isFree(changed, path)) {
      const below = `${path}/${pick(random, names)}`
      if (isFree(changed, below)) changed.set(below, edited(random, file))
      continue
    }
    if (!isFree(changed, path)) continue
    if (subject < 0.21) {
      const to = anyPath(random)
      if (isFree(tree, to) && isFree(changed, to) && !`${to}/`.startsWith(`${path}/`) && !path.startsWith(`${to}/`))
        changed.set(to, file)
    }
    const mode = random() < 0.08 ? { ...file, executable: !file.executable } : file
    changed.set(path, subject < 0.9 ? edited(random, mode) : mode)
  }
  for (let i = 0; i < 6; i++) {
    const path = anyPath(random)
    if (isFree(changed, path)) changed.set(path, { bytes: anyContent(random), executable: random() < 0.2 })
  }
  return changed
}

/** The file with some lines changed, added and removed. */
export function edited(random: () => number, file: TreeFile): TreeFile {
  if (file.bytes.includes(0) || random() < 0.05) return { ...file, bytes: anyContent(random) }
  const lines = file.bytes.toString('utf8').split(/(?<=\n)/)
  const share = random() < 0.8 ? 0.08 : 0.5
  const result: string[] = []
  for (const line of lines) {
    const action = random() / share
    if (action < 0.3) continue
    if (action < 0.6)
      result.push(
        `changed ${Math.floor(random() * 1000)}${line.endsWith('\r\n') ? '\r\n' : line.endsWith('\n') ? '\n' : ''}`,
      )
    else result.push(line)
    if (action >= 0.6 && action < 1 && line.endsWith('\n')) result.push(`added ${Math.floor(random() * 1000)}\n`)
  }
  let text = result.join('')
  const ending = random()
  if (ending < 0.05 && text.endsWith('\n')) text = text.replace(/\r?\n$/, '')
  else if (ending < 0.1 && text !== '' && !text.endsWith('\n')) text += '\n'
  return { ...file, bytes: Buffer.from(text) }
}

/** Runs git in its own temporary directories. */
export interface GitBench {
  readonly root: string
  /** The output of `git diff` between two trees. */
  diff(from: FileTree, to: FileTree, options?: readonly string[]): Buffer
  /** The tree after `git apply`; `undefined` if git refuses. */
  apply(tree: FileTree, patch: Buffer): FileTree | undefined
  remove(): void
}

export function createGitBench(): GitBench {
  const root = mkdtempSync(join(tmpdir(), 'wardspace-patch-'))
  const repository = join(root, 'repository')
  const plain = join(root, 'plain')
  mkdirSync(repository)
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CEILING_DIRECTORIES: root,
  }
  const git = (cwd: string, args: readonly string[], input?: Buffer) =>
    runProgram('git', args, { cwd, env, ...(input === undefined ? {} : { input }) })
  git(repository, ['init', '-q'])
  git(repository, ['config', 'core.autocrlf', 'false'])
  let stored: { tree: FileTree; id: string } | undefined
  let files: FileTree = new Map()
  const store = (tree: FileTree): string => {
    if (stored?.tree === tree) return stored.id
    replaceTree(repository, stored?.tree ?? new Map(), tree)
    git(repository, ['add', '-A', '-f'])
    const id = git(repository, ['write-tree']).stdout.toString().trim()
    stored = { tree, id }
    return id
  }
  return {
    root,
    diff(from, to, options = []) {
      const trees = [store(from), store(to)]
      return git(repository, ['diff', '--binary', '--full-index', '--no-color', ...options, ...trees]).stdout
    },
    apply(tree, patch) {
      mkdirSync(plain, { recursive: true })
      if (files !== tree) replaceTree(plain, files, tree)
      files = tree
      if (git(plain, ['apply', '--whitespace=nowarn', '-'], patch).status !== 0) return undefined
      files = readTree(plain)
      return files
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** Changes a tree on disk into another one, writing only the differing files. */
function replaceTree(directory: string, from: FileTree, to: FileTree): void {
  const changed: FileTree = new Map()
  for (const [path, file] of to) {
    const old = from.get(path)
    if (old === undefined || old.executable !== file.executable || !old.bytes.equals(file.bytes))
      changed.set(path, file)
  }
  for (const path of from.keys()) {
    if (to.has(path)) continue
    for (let at = path; at !== '' && at !== '.'; at = dirname(at)) {
      if (at === path) rmSync(join(directory, at))
      else if (readdirSync(join(directory, at)).length === 0) rmdirSync(join(directory, at))
      else break
    }
  }
  writeTree(directory, changed)
}

export function writeTree(directory: string, tree: FileTree): void {
  for (const [path, { bytes, executable }] of tree) {
    const to = join(directory, path)
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, bytes)
    chmodSync(to, executable ? 0o755 : 0o644)
  }
}

export function readTree(directory: string): FileTree {
  const tree: FileTree = new Map()
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const at = join(entry.parentPath, entry.name)
    tree.set(at.slice(directory.length + 1), {
      bytes: readFileSync(at),
      executable: (statSync(at).mode & 0o100) !== 0,
    })
  }
  return tree
}

/** A tree as a plain object, which is readable in a failed comparison. */
export function plainTree(tree: FileTree): Record<string, string> {
  const sorted = [...tree].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sorted.map(([path, { bytes, executable }]) => [path, `${executable ? 'x' : '-'} ${bytes.toString('latin1')}`]),
  )
}
