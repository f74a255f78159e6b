import type { ProjectFile, ProjectSource } from './types.ts'

/** What a person gave, and a name for the project that is made of it. */
export interface Given {
  readonly name: string
  readonly source: ProjectSource
}

/** What was chosen in an `<input type="file">`: a zip, single files, or a folder with all below it. */
export function importFromInput(files: readonly File[]): Given | undefined {
  const [first] = files
  if (first === undefined) return undefined
  if (files.length === 1 && isZip(first)) return zip(first)
  return folder(
    files.map((file) => ({ path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath, file })),
  )
}

/** What was dropped. Must be called in the event itself: what was dropped is gone after it. */
export async function importFromDrop(dropped: DataTransfer): Promise<Given | undefined> {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const [first] = entries
  if (entries.length === 1 && first?.isFile === true) {
    const file = await fileOf(first as FileSystemFileEntry)
    if (isZip(file)) return zip(file)
  }
  const found: Found[] = []
  for (const entry of entries) await collect(entry, found)
  return folder(found)
}

interface Found {
  readonly path: string
  readonly file: File
}

function isZip({ name, type }: File): boolean {
  return /\.zip$/i.test(name) || type === 'application/zip'
}

function zip(file: File): Given {
  return { name: file.name.replace(/\.zip$/i, ''), source: { kind: 'zip', file } }
}

/** The folder that all lie in is the project itself, and gives it its name. */
function folder(found: readonly Found[]): Given | undefined {
  const [first] = found
  if (first === undefined) return undefined
  const top = first.path.slice(0, first.path.indexOf('/') + 1)
  const isOne = top !== '' && found.every(({ path }) => path.startsWith(top))
  const inside = isOne ? found.map(({ path, file }) => ({ path: path.slice(top.length), file })) : found
  return {
    name: isOne ? top.slice(0, -1) : first.path,
    source: { kind: 'files', files: read(inside), total: inside.length },
  }
}

async function* read(found: readonly Found[]): AsyncIterable<ProjectFile> {
  for (const { path, file } of found) yield { path, bytes: new Uint8Array(await file.arrayBuffer()) }
}

async function collect(entry: FileSystemEntry, into: Found[]): Promise<void> {
  if (entry.isFile) {
    into.push({ path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry as FileSystemFileEntry) })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    // A browser gives a hundred at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return
    for (const one of some) await collect(one, into)
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}
