import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { parseNote } from '../files/text/front-matter.ts'
import type { Path } from '../paths/logical-path.ts'
import { visibleFiles } from '../storage/walk.ts'
import { highestLabel } from '../tools/shared/notes.ts'

const everyNote = {
  filters: { includeHidden: true, includeIgnored: true },
  ...{ see: () => true, enter: () => true, revision: 'all', links: false },
}

/** Labels the notes that are already there, for every way to read them, as their own text states it. */
export async function labelNotes({ backend, memory, labels, fileLabels, limits }: WorkspaceState): Promise<void> {
  const directory = memory?.path as Path | undefined
  if (directory === undefined || !labels.active || (await backend.stat(directory))?.type !== 'directory') return
  for (const path of await visibleFiles(backend, directory, everyNote)) {
    const stat = await backend.stat(path)
    if (!path.endsWith('.md') || stat === undefined || stat.size > limits.textFileBytes) continue
    const { bytes } = await backend.read(path)
    const note = parseNote(new TextDecoder().decode(bytes))
    if (note !== undefined) fileLabels.raise(path, highestLabel(note.labels))
  }
}
