import type { CommitHistory } from '../git/commit-history.ts'
import { addAncestors, GIT_DIRECTORY, type Path } from '../paths/logical-path.ts'
import type { ContentFlow } from '../policy/content-flow.ts'
import type { Label } from '../policy/labels.ts'
import { type ContentLabel, type FileLabels, isAbove, type Labels, maxLabel } from '../policy/taint.ts'

/** The labels of a workspace, for every path. */
interface PathLabels {
  readonly labels: Labels
  readonly fileLabels: FileLabels
  readonly nameLabels: FileLabels
}

/** What is known for one state of the labels. */
interface LabelState {
  readonly revision: string
  /** The labels of commits, each with all that leads to it; by id, or by several ids. */
  readonly commits: Map<string, Label>
  /** Every directory that contains a labelled path. */
  readonly directories: ReadonlySet<string>
}

const states = new WeakMap<FileLabels, LabelState>()

/**
 * Returns the highest label of the ids of commits. An id is computed from the message, the names and the contents of the commit
 * and of all its ancestors, so it has their highest label. A path has the label of any content that it had, as git may have it.
 *
 * @param flow the command that reads the ids, with its own changes
 */
export async function labelOfCommits(
  known: PathLabels,
  history: CommitHistory,
  ids: readonly string[],
  flow?: ContentFlow,
): Promise<ContentLabel> {
  const own = new Map<Path, Label>(flow?.written)
  for (const [path, { label }] of flow?.names ?? []) own.set(path, maxLabel(own.get(path) ?? 'public', label))
  const highest = [...own.values(), ...highestLabels(known)].reduce(maxLabel, 'public')
  const { commits, directories } = stateOf(known)
  const key = ids.join()
  const ownDirectories = new Set<Path>()
  for (const path of own.keys()) addAncestors(ownDirectories, path)
  const enters = (directory: Path) =>
    known.labels.mayLabelBelow(directory) || directories.has(directory) || ownDirectories.has(directory)
  let label: Label = 'public'
  const knows = (id: string) => {
    label = maxLabel(label, commits.get(id) ?? 'public')
    return commits.has(id)
  }
  try {
    if (highest !== 'public' && !knows(key)) {
      for await (const path of history.history(ids, { knows, enters })) {
        label = [labelOfPath(known, path), own.get(path) ?? 'public'].reduce(maxLabel, label)
        if (!isAbove(highest, label)) break
      }
    }
  } catch {
    // What cannot be read may contain anything.
    label = highest
  }
  if (own.size === 0) commits.set(key, label)
  return { label, path: GIT_DIRECTORY }
}

function highestLabels({ labels, fileLabels, nameLabels }: PathLabels): readonly Label[] {
  return [labels.highestOfPaths, fileLabels.highest?.label ?? 'public', nameLabels.highest?.label ?? 'public']
}

function labelOfPath({ labels, fileLabels, nameLabels }: PathLabels, path: Path): Label {
  return [labels.ofPath(path), fileLabels.of(path), nameLabels.of(path)].reduce(maxLabel)
}

function stateOf({ fileLabels, nameLabels }: PathLabels): LabelState {
  const revision = `${fileLabels.revision} ${nameLabels.revision}`
  let state = states.get(fileLabels)
  if (state?.revision !== revision) {
    const directories = new Set<Path>()
    for (const [path] of [...fileLabels, ...nameLabels]) addAncestors(directories, path)
    state = { revision, commits: new Map(), directories }
    states.set(fileLabels, state)
  }
  return state
}
