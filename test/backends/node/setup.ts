import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { type NodeOptions, nodeBackend } from '../../../src/backends/node/index.ts'
import { ToolError } from '../../../src/errors.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../../src/storage/backend.ts'
import { writeFiles } from '../../write-files.ts'

const closers: (() => unknown)[] = []

/** Registers a cleanup for the end of the test. Cleanups run in reverse order. */
export function afterwards(close: () => unknown): void {
  closers.push(close)
}

/** Call once in each test file that uses {@link afterwards} or {@link place}. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
}

/** Creates a root with files, and a backend over it. */
export function place(files: Record<string, string> = {}, options: NodeOptions = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'refused-')))
  afterwards(() => rmSync(base, { recursive: true, force: true }))
  const root = join(base, 'root')
  const state = join(base, 'state')
  mkdirSync(root)
  writeFiles(root, files)
  const open = (more: NodeOptions = {}) => {
    const backend = nodeBackend(root, { stateDir: state, ...options, ...more })
    afterwards(() => backend.close())
    return backend
  }
  /** The state directory of this root. */
  const own = () => join(state, readdirSync(state)[0] ?? '')
  return { base, root, state, own, open, backend: open() }
}

export const at = (path: string) => path as Path

export const put = (path: string, text: string): Change => ({
  path: at(path),
  expect: 'any',
  to: { type: 'file', bytes: new TextEncoder().encode(text) },
})

export const link = (path: string, target: string): Change => ({
  path: at(path),
  expect: 'any',
  to: { type: 'link', target },
})

export const directory = (path: string): Change => ({ path: at(path), expect: 'any', to: { type: 'directory' } })

export const absent = (path: string): Change => ({ path: at(path), expect: 'any', to: null })

export const move = (from: string, path: string, text: string): Change[] => [
  absent(from),
  { ...put(path, text), from: at(from) },
]

export const commit = (backend: Backend, ...changes: Change[]) => backend.commit(changes, { durability: 'durable' })

export const relaxed = (backend: Backend, ...changes: Change[]) => backend.commit(changes, { durability: 'relaxed' })

/** The ToolError of an action, which must fail with one. */
export async function told(action: Promise<unknown>): Promise<ToolError> {
  try {
    await action
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
  throw new Error('It was not refused')
}

export async function codeOf(action: Promise<unknown>): Promise<string> {
  return (await told(action)).code
}
