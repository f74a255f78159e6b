import { createWorkspace, type Path, type PolicyInput, type WorkspaceHistory } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import { ancestorsOf, type Change, childOf, type EntryState, ROOT } from 'wardspace/backend'
import { memory } from 'wardspace/backends/memory'
import { redact } from 'wardspace/tool'
import { counted } from '../../src/util/counted.ts'
import { firstStates } from './changes.ts'
import { textOf } from './text.ts'
import type { SessionProject } from './types.ts'

/** A patch that `git apply` accepts, and what it leaves out. */
export interface Patch {
  readonly text: string
  readonly leftOut: readonly string[]
}

/** Shows the owner all but secrets, with the content of binary files. */
const policy: PolicyInput = {
  preset: 'autonomous',
  rules: [
    {
      name: 'the owner of the files',
      action: 'allow',
      overrides: ['generated', 'vendored', 'lockfile', 'binary', 'mode'],
    },
  ],
}

/** A patch is made at once, whatever its size. */
const limits = {
  diffBytesHard: Number.MAX_SAFE_INTEGER,
  diffFiles: Number.MAX_SAFE_INTEGER,
  projectionBytes: Number.MAX_SAFE_INTEGER,
}

/**
 * Returns the patch from the project as it was first opened here to its current files, as Changes shows them. Contains no
 * secret and no ignored files.
 */
export async function projectPatch(
  { backend }: Pick<SessionProject, 'backend'>,
  history: WorkspaceHistory,
): Promise<Patch> {
  const now = async (path: Path): Promise<EntryState> => {
    const stat = await backend.stat(path).catch(() => undefined)
    if (stat?.type === 'link') return { type: 'link', target: await backend.readLink(path) }
    if (stat?.type !== 'file') return null
    const { bytes } = await backend.read(path)
    return { type: 'file', bytes, ...(stat.mode === undefined ? {} : { mode: stat.mode }) }
  }
  const leftOut: string[] = []
  const lost = history.first + history.entries.filter(({ changes }) => changes === undefined).length
  if (lost > 0) leftOut.push(`Left out: the first ${counted(lost, 'change')}, no longer kept`)
  const [original, present] = [new Map<Path, State>(), new Map<Path, State>()]
  const changed = new Set<Path>()
  for (const [path, before] of firstStates(history)) {
    const after = await now(path)
    // With a mark instead of a secret, the patch would not fit the file.
    if (hasSecret(before) || hasSecret(after)) leftOut.push(`Left out: "${path}", which contains a secret`)
    else {
      changed.add(path)
      // A directory has no state of its own in git.
      if (before !== null && before.type !== 'directory') original.set(path, before)
      if (after !== null) present.set(path, after)
    }
  }
  // They decide which files are ignored.
  for (const directory of [ROOT, ...directoriesAbove(changed)]) {
    const path = childOf(directory, '.gitignore')
    const state = changed.has(path) ? null : await now(path)
    if (state === null) continue
    original.set(path, state)
    present.set(path, state)
  }
  const copy = memory()
  await copy.commit(changesOf(original, 'create'), { durability: 'relaxed' })
  const workspace = await createWorkspace({ backend: copy, policy, limits, audit: callbackSink(() => {}) })
  try {
    // What becomes a directory, or was one, has to go first.
    await copy.commit(changesOf(original, 'delete'), { durability: 'relaxed' })
    await copy.commit(changesOf(present, 'create'), { durability: 'relaxed' })
    const result = await workspace.call('diff_workspace', { maxBytes: Number.MAX_SAFE_INTEGER })
    if (!result.ok) throw new Error(result.message)
    const shown = new Set(result.stat.flatMap(({ path, oldPath }) => [path, oldPath]))
    for (const path of changed) {
      if (shown.has(path)) continue
      const reading = await workspace.explain('read_file', { path })
      const isSecret = reading.ok && reading.verdict.decision !== 'allow'
      leftOut.push(`Left out: "${path}", which ${isSecret ? 'is protected' : 'git ignores'}`)
    }
    return { text: result.diff, leftOut }
  } finally {
    await workspace.close()
  }
}

type State = Exclude<EntryState, null>

/** Returns the changes that create all of a tree, with the directories above its files, or delete all of it. */
function changesOf(tree: ReadonlyMap<Path, State>, act: 'create' | 'delete'): Change[] {
  const directories = [...directoriesAbove(tree.keys())].map((path): [Path, State] => [path, { type: 'directory' }])
  return [...directories, ...tree].map(([path, state]) => ({
    path,
    expect: 'any',
    to: act === 'create' ? state : null,
  }))
}

/** Searches binary content and UTF-16 as well: the characters of secrets are ASCII. */
function hasSecret(state: EntryState): boolean {
  if (state?.type !== 'file') return false
  const text = textOf(state.bytes)?.text ?? new TextDecoder('latin1').decode(state.bytes)
  return redact(text).marks.length > 0
}

/** Returns the directories above paths, outer ones first, without the root. */
function directoriesAbove(paths: Iterable<Path>): ReadonlySet<Path> {
  return new Set([...paths].flatMap((path) => ancestorsOf(path).reverse()))
}
