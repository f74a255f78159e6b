import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace, type Path, type Workspace } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'

/**
 * The reference: trees as plain Maps from path to content, with DIR for a directory. Undo and rollback use the trees
 * before and after each call, independent of what the workspace stores for them.
 */
type Tree = Map<string, string>
const DIR = '<dir>'

interface Step {
  readonly callId: string
  readonly before: Tree
  readonly after: Tree
}

interface Line {
  tree: Tree
  steps: Step[]
  readonly checkpoints: { readonly id: string; readonly mark: number; readonly tree: Tree; readonly outside: number }[]
  /** Number of changes by other writers. */
  outside: number
  /** The origin of a fork, whose tree at that time is `base`. */
  readonly origin?: Line
  base: Tree
}

interface Model {
  readonly lines: Line[]
}

interface Real {
  readonly lines: { readonly workspace: Workspace; readonly backend: Backend | undefined }[]
  readonly counts: Map<string, number>
}

const parentsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, i, names) => names.slice(0, i + 1).join('/'))
const below = (tree: Tree, directory: string): string[] =>
  [...tree.keys()].filter((path) => path.startsWith(`${directory}/`))

/** The tree with all parents of a path; `undefined` if one of them is a file. */
function withParents(tree: Tree, path: string): Tree | undefined {
  const created = new Map(tree)
  for (const parent of parentsOf(path)) {
    if ((created.get(parent) ?? DIR) !== DIR) return undefined
    created.set(parent, DIR)
  }
  return created
}

interface Way {
  to: string | undefined
  from: string | undefined
}

function waysOf(steps: readonly Step[]): Map<string, Way> | undefined {
  const ways = new Map<string, Way>()
  const torn = new Set<string>()
  for (const { before, after } of steps) {
    for (const path of new Set([...before.keys(), ...after.keys()])) {
      const [was, became] = [before.get(path), after.get(path)]
      if (was === became) continue
      const way = ways.get(path)
      if (way === undefined) ways.set(path, { to: was, from: became })
      else {
        if (way.from !== was) torn.add(path)
        way.from = became
      }
    }
  }
  for (const [path, { to, from }] of ways) if (to === from) ways.delete(path)
  return [...torn].some((path) => ways.has(path)) ? undefined : ways
}

function leadsThroughFile(tree: Tree, path: string): boolean {
  const parts = path.split('/')
  return parts.some((_, i) => i > 0 && (tree.get(parts.slice(0, i).join('/')) ?? DIR) !== DIR)
}

/** The tree after undoing the changes; `undefined` if a path has changed since. */
function goBack(tree: Tree, ways: Map<string, Way> | undefined): Tree | undefined {
  if (ways === undefined) return undefined
  const result = new Map(tree)
  const back: string[] = []
  for (const [path, { to, from }] of [...ways].sort(([a], [b]) => (a < b ? 1 : -1))) {
    const now = tree.get(path)
    if (now !== from) {
      // A path below a file is never valid, not even for a directory that is already gone.
      const isGone = now === undefined && to === undefined && from === DIR && !leadsThroughFile(tree, path)
      const isThere = now === DIR && to === DIR
      if (isGone || isThere) continue
      return undefined
    }
    if (from === DIR && below(result, path).length > 0) {
      if (to !== undefined) return undefined
      continue
    }
    result.delete(path)
    if (to !== undefined) {
      result.set(path, to)
      back.push(path)
    }
  }
  let whole: Tree | undefined = result
  for (const path of back) whole = whole && withParents(whole, path)
  return whole
}

type Command = fc.AsyncCommand<Model, Real>

function count(real: Real, label: string): void {
  real.counts.set(label, (real.counts.get(label) ?? 0) + 1)
}

async function treeOf(workspace: Workspace): Promise<Tree> {
  const tree: Tree = new Map()
  const listed = await workspace.call('list_directory', { path: '.', maxDepth: 9, includeHidden: true })
  if (!listed.ok) throw new Error(listed.message)
  for (const { path, type } of listed.entries as { path: string; type: string }[]) {
    if (type === 'directory') tree.set(path, DIR)
    else {
      const read = await workspace.call('read_file', { path })
      if (!read.ok) throw new Error(read.message)
      tree.set(path, String(read.content))
    }
  }
  return tree
}

const sorted = (tree: Tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1))

/** Runs an action on one line. The result and the files of every line must equal those of the model. */
function command(
  name: string,
  at: number,
  run: (
    line: Line,
    workspace: Workspace,
    model: Model,
    real: Real,
    index: number,
  ) => Promise<[Tree | undefined, { ok: boolean }] | undefined>,
): Command {
  return {
    check: () => true,
    toString: () => `${name}@${at}`,
    async run(model, real) {
      const index = at % model.lines.length
      const line = model.lines[index] as Line
      const { workspace } = real.lines[index] as Real['lines'][number]
      const outcome = await run(line, workspace, model, real, index)
      if (outcome !== undefined) {
        const [expected, result] = outcome
        expect(result.ok, `${name}: ${JSON.stringify(result)}`).toBe(expected !== undefined)
        count(real, `${name.split(' ')[0]} ${result.ok ? 'ok' : 'refused'}`)
      }
      for (const [i, { tree }] of model.lines.entries()) {
        const { workspace: shown } = real.lines[i] as Real['lines'][number]
        expect(sorted(await treeOf(shown)), `line ${i} after ${name}`).toEqual(sorted(tree))
      }
    },
  }
}

/** A tool call, with its effect on the model. */
function toolCall(
  name: string,
  at: number,
  effect: (tree: Tree) => Tree | undefined,
  input: Record<string, unknown>,
  tool: string,
): Command {
  return command(name, at, async (line, workspace) => {
    const expected = effect(line.tree)
    let more = {}
    if (tool === 'write_file') {
      const read = await workspace.call('read_file', { path: String(input.path) })
      more = { expectedSha256: read.ok ? read.sha256 : null }
    }
    const result = await workspace.callTool(tool, { ...input, ...more })
    if (result.ok && expected !== undefined) took(line, result.callId, expected)
    return [expected, result]
  })
}

const write = (at: number, path: string, content: string) =>
  toolCall(
    `write ${path}`,
    at,
    (tree) => (tree.get(path) === DIR ? undefined : withParents(tree, path)?.set(path, content)),
    { path, content },
    'write_file',
  )

const remove = (at: number, path: string) =>
  toolCall(
    `delete ${path}`,
    at,
    (tree) => {
      if ((tree.get(path) ?? DIR) === DIR) return undefined
      const next = new Map(tree)
      next.delete(path)
      return next
    },
    { path },
    'delete_file',
  )

const makeDirectory = (at: number, path: string) =>
  toolCall(
    `mkdir ${path}`,
    at,
    (tree) => ((tree.get(path) ?? DIR) === DIR ? withParents(tree, path)?.set(path, DIR) : undefined),
    { path },
    'create_directory',
  )

const transfer = (at: number, from: string, to: string, keeps: boolean) =>
  toolCall(
    `${keeps ? 'copy' : 'move'} ${from} ${to}`,
    at,
    (tree) => {
      const source = tree.get(from)
      if (source === undefined || tree.has(to) || to.startsWith(`${from}/`)) return undefined
      const next = withParents(tree, to)
      if (next === undefined) return undefined
      for (const path of [from, ...below(tree, from)]) {
        next.set(to + path.slice(from.length), tree.get(path) as string)
        if (!keeps) next.delete(path)
      }
      return next
    },
    { path: from, to },
    keeps ? 'copy_file' : 'move_file',
  )

const undo = (at: number, which: number) =>
  command('undo', at, async (line, workspace) => {
    const step = line.steps[line.steps.length - 1 - (which % Math.max(1, line.steps.length))]
    if (step === undefined) return [undefined, await workspace.undo('none')]
    const expected = goBack(line.tree, waysOf([step]))
    const result = await workspace.undo(step.callId)
    if (result.ok && expected !== undefined) took(line, result.callId as string, expected)
    return [expected, result]
  })

const checkpoint = (at: number) =>
  command('checkpoint', at, async (line, workspace) => {
    const { id } = workspace.checkpoint()
    line.checkpoints.push({ id, mark: line.steps.length, tree: line.tree, outside: line.outside })
    return undefined
  })

const rollback = (at: number, which: number) =>
  command('rollback', at, async (line, workspace, _, real) => {
    const back = line.checkpoints[which % Math.max(1, line.checkpoints.length)]
    if (back === undefined) return [undefined, await workspace.rollback('none')]
    const expected = goBack(line.tree, waysOf(line.steps.slice(back.mark)))
    const result = await workspace.rollback(back.id)
    if (result.ok && expected !== undefined) {
      took(line, result.callId as string, expected)
      // Without changes by other writers, a rollback restores exactly the tree of the checkpoint.
      if (back.outside === line.outside) {
        expect(sorted(line.tree)).toEqual(sorted(back.tree))
        count(real, 'rollback exactly')
      }
    }
    return [expected, result]
  })

function took(line: Line, callId: string, tree: Tree): void {
  // A call without an effect has nothing to undo.
  if (sorted(tree).join() !== sorted(line.tree).join()) line.steps.push({ callId, before: line.tree, after: tree })
  line.tree = tree
}

const MOST_LINES = 4

const fork = (at: number) =>
  command('fork', at, async (line, workspace, model, real) => {
    if (model.lines.length >= MOST_LINES) return undefined
    real.lines.push({ workspace: await workspace.fork(), backend: undefined })
    model.lines.push({ tree: line.tree, steps: [], checkpoints: [], outside: 0, origin: line, base: line.tree })
    count(real, 'fork ok')
    return undefined
  })

/** Commits a fork to its origin. Refused if the origin has changed the same paths, or paths that the changes need. */
const giveBack = (at: number) =>
  command('commit', at, async (line, workspace) => {
    const { origin, base } = line
    const result = await workspace.commit()
    if (origin === undefined) return undefined
    const next = new Map(origin.tree)
    let isRefused = false
    for (const path of new Set([...base.keys(), ...line.tree.keys()])) {
      const [was, is] = [base.get(path), line.tree.get(path)]
      if (was === is) continue
      const isGone = was === DIR && is === undefined && origin.tree.get(path) === undefined
      if (origin.tree.get(path) !== was && !isGone) isRefused = true
      if (is === undefined) next.delete(path)
      else next.set(path, is)
    }
    for (const path of next.keys()) if (parentsOf(path).some((parent) => next.get(parent) !== DIR)) isRefused = true
    if (!isRefused) {
      // The origin can undo what was committed, like its own calls.
      if (result.ok && sorted(origin.tree).join() !== sorted(next).join())
        origin.steps.push({ callId: result.callId, before: origin.tree, after: next })
      origin.tree = next
      line.base = line.tree
    }
    return [isRefused ? undefined : next, result]
  })

/** Another writer changes the storage of the first line. */
const outside = (path: string, content: string) =>
  command(`outside ${path}`, 0, async (line, _, model, real) => {
    const { backend } = real.lines[0] as Real['lines'][number]
    const next = line.tree.get(path) === DIR ? undefined : withParents(line.tree, path)?.set(path, content)
    // Changes by other writers are visible in forks (see the docs), which the model does not cover.
    if (backend === undefined || next === undefined || model.lines.length > 1) return undefined
    await backend.commit(
      [...next]
        .filter(([one, is]) => line.tree.get(one) !== is)
        .map(([one, is]) => ({
          path: one as Path,
          expect: 'any',
          to: is === DIR ? { type: 'directory' } : { type: 'file', bytes: new TextEncoder().encode(is) },
        })),
      { durability: 'relaxed' },
    )
    line.tree = next
    line.outside += 1
    count(real, 'outside ok')
    return undefined
  })

const path = fc.constantFrom('a', 'b', 'd', 'd/a', 'd/b', 'd/e', 'd/e/a', 'f/g')
const content = fc.constantFrom('one\n', 'two\n', 'three\n')
const at = fc.nat(MOST_LINES - 1)
const recent = fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, fc.nat(20))
const all: fc.Arbitrary<Command>[] = [
  fc.tuple(at, path, content).map(([line, one, text]) => write(line, one, text)),
  fc.tuple(at, path, content).map(([line, one, text]) => write(line, one, text)),
  fc.tuple(at, path).map(([line, one]) => remove(line, one)),
  fc.tuple(at, path).map(([line, one]) => makeDirectory(line, one)),
  fc.tuple(at, path, path, fc.boolean()).map(([line, from, to, keeps]) => transfer(line, from, to, keeps)),
  fc.tuple(at, recent).map(([line, which]) => undo(line, which)),
  fc.tuple(at, recent).map(([line, which]) => undo(line, which)),
  at.map(checkpoint),
  fc.tuple(at, fc.nat(4)).map(([line, which]) => rollback(line, which)),
  at.map(fork),
  at.map(giveBack),
  fc.tuple(path, content).map(([one, text]) => outside(one, text)),
]

export type Place = 'memory' | 'overlay' | 'node'

/** Runs random calls, undos, checkpoints, rollbacks, forks and commits against the model. Counts each kind of step. */
export async function playAgainstModel(
  location: Place,
  numRuns: number,
  size: number,
  seed?: number,
): Promise<Record<string, number>> {
  const counts = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(fc.commands(all, { maxCommands: size, size: 'max' }), async (commands) => {
      const base = realpathSync(mkdtempSync(join(tmpdir(), 'undo-model-')))
      mkdirSync(join(base, 'root'))
      const backend =
        location === 'node'
          ? nodeBackend(join(base, 'root'), { stateDir: join(base, 'state') })
          : location === 'overlay'
            ? overlay(memory())
            : memory()
      const workspace = await createWorkspace({ backend, policy: 'autonomous', clock: () => 1 })
      const lines: Line[] = [{ tree: new Map(), steps: [], checkpoints: [], outside: 0, base: new Map() }]
      const real: Real = { lines: [{ workspace, backend }], counts }
      try {
        await fc.asyncModelRun(() => ({ model: { lines }, real }), commands)
      } finally {
        for (const line of real.lines.reverse()) await line.workspace.close()
        rmSync(base, { recursive: true, force: true })
      }
    }),
    { numRuns, ...(seed === undefined ? {} : { seed }) },
  )
  return Object.fromEntries([...counts].sort())
}
