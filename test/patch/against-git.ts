import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { type Path, ROOT } from '../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../src/storage/backend.ts'
import {
  changeTree,
  type FileTree,
  type GitBench,
  generateTree,
  plainTree,
  randomFrom,
  readTree,
  writeTree,
} from './trees.ts'

const options = [[], ['-M'], ['-M', '-C'], ['-U1'], ['-U10', '--no-renames'], ['--patience', '-M']]

/**
 * Applies a series of diffs between generated trees with git and with apply_patch: in memory, and in every `disk`th
 * round also on disk. If git refuses its own diff, apply_patch must produce the target tree or change nothing.
 */
export async function compareWithGit(request: {
  readonly git: GitBench
  readonly seed: number
  readonly diffs: number
  readonly disk: number
}): Promise<{ diffs: number; refused: number }> {
  const { git } = request
  const random = randomFrom(request.seed)
  let from = generateTree(random, 150)
  let diffs = 0
  let refused = 0
  for (let round = 0; diffs < request.diffs; round++) {
    const to = changeTree(random, from)
    const patch = git.diff(from, to, options[round % options.length])
    const text = patch.toString('utf8')
    const expected = git.apply(from, patch)
    const { answer, tree } = await patchInMemory(from, text)
    if (expected === undefined) {
      // git cannot read all of its own diffs, such as the name "dir /sub" in a section without --- and +++.
      refused += 1
      expect(plainTree(tree)).toEqual(plainTree(answer.ok ? to : from))
    } else {
      expect([round, answer.ok, answer.message]).toEqual([round, true, undefined])
      expect(plainTree(tree)).toEqual(plainTree(expected))
      diffs += text.split(/^diff --git /m).length - 1
      if (round % request.disk === 0) {
        expect(plainTree((await patchOnDisk(git.root, from, text)).tree)).toEqual(plainTree(expected))
      }
    }
    from = expected ?? to
  }
  return { diffs, refused }
}

/** A policy that allows everything that a patch can do. */
export const everything = {
  preset: 'autonomous' as const,
  rules: [
    {
      name: 'patches may do anything',
      action: 'allow' as const,
      // A rename or a copy reads what it moves.
      permissions: ['file:patch:apply', 'file:read'],
      paths: ['**'],
      overrides: ['binary', 'mode', 'secret', 'generated', 'vendored', 'lockfile'] as const,
    },
  ],
}

const unlimited = {
  patchFiles: 1_000_000,
  patchDeletes: 1_000_000,
  patchInsertions: 100_000_000,
  patchDeletions: 100_000_000,
  patchBytes: 1 << 30,
  textFileBytes: 1 << 30,
}

export interface Outcome {
  readonly answer: {
    readonly ok: boolean
    readonly code?: string
    readonly message?: string
    readonly [field: string]: unknown
  }
  readonly tree: FileTree
}

/** The tree after apply_patch in memory. */
export async function patchInMemory(tree: FileTree, patch: string, input: object = {}): Promise<Outcome> {
  const backend = await memoryOf(tree)
  return { answer: await applyTo(backend, patch, input), tree: await treeOf(backend) }
}

/** The tree after apply_patch on disk. */
export async function patchOnDisk(root: string, tree: FileTree, patch: string): Promise<Outcome> {
  const directory = join(root, 'disk')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  writeTree(directory, tree)
  const backend = await nodeBackend(directory, { stateDir: `${directory}-state` })
  try {
    return { answer: await applyTo(backend, patch), tree: readTree(directory) }
  } finally {
    await backend.close()
  }
}

async function applyTo(backend: Backend, patch: string, input: object = {}): Promise<Outcome['answer']> {
  const workspace = await createWorkspace({ backend, policy: everything as never, limits: unlimited })
  return (await workspace.call('apply_patch', { patch, ...input })) as unknown as Outcome['answer']
}

export async function memoryOf(tree: FileTree): Promise<Backend> {
  const backend = memory({})
  const changes = new Map<string, Change>()
  for (const [path, { bytes, executable }] of tree) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const above = path.slice(0, slash) as Path
      changes.set(above, { path: above, expect: 'any', to: { type: 'directory' } })
    }
    const mode = executable ? 0o755 : 0o644
    changes.set(path, {
      path: path as Path,
      expect: 'absent',
      to: { type: 'file', bytes: new Uint8Array(bytes), mode },
    })
  }
  if (changes.size > 0) await backend.commit([...changes.values()], { durability: 'relaxed' })
  return backend
}

export async function treeOf(backend: Backend): Promise<FileTree> {
  const tree: FileTree = new Map()
  const waiting: Path[] = [ROOT]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, type } of await backend.list(directory)) {
      const path = (directory === '' ? name : `${directory}/${name}`) as Path
      if (type === 'directory') waiting.push(path)
      else {
        const { bytes, stat } = await backend.read(path)
        tree.set(path, { bytes: Buffer.from(bytes), executable: ((stat.mode ?? 0) & 0o100) !== 0 })
      }
    }
  }
  return tree
}
