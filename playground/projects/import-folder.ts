import type { ProjectFile, ProjectSource } from './types.ts'

/** The source of a new project, and a name for it. */
export interface ImportedProject {
  readonly name: string
  readonly source: ProjectSource
}

/** Imports the files of an `<input type="file">`: a zip, single files, or a folder with its subfolders. */
export function importFromInput(files: readonly File[]): ImportedProject | undefined {
  const [first] = files
  if (first === undefined) return undefined
  if (files.length === 1 && isZip(first)) return zip(first)
  return folder(
    files.map((file) => ({ path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath, file })),
  )
}

/** Imports dropped files or folders. Call it in the event handler: the browser clears the data after the event. */
export async function importFromDrop(dropped: DataTransfer): Promise<ImportedProject | undefined> {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const [first] = entries
  if (entries.length === 1 && first?.isFile === true) {
    const file = await fileOf(first as FileSystemFileEntry)
    if (isZip(file)) return zip(file)
  }
  const files: ImportedFile[] = []
  for (const entry of entries) await collect(entry, files)
  return folder(files)
}

interface ImportedFile {
  readonly path: string
  readonly file: File
}

function isZip({ name, type }: File): boolean {
  return /\.zip$/i.test(name) || type === 'application/zip'
}

function zip(file: File): ImportedProject {
  return { name: file.name.replace(/\.zip$/i, ''), source: { kind: 'zip', file } }
}

/** If one folder contains all files, it becomes the project and gives it its name. */
function folder(files: readonly ImportedFile[]): ImportedProject | undefined {
  const [first] = files
  if (first === undefined) return undefined
  const top = first.path.slice(0, first.path.indexOf('/') + 1)
  const hasTop = top !== '' && files.every(({ path }) => path.startsWith(top))
  const inside = hasTop ? files.map(({ path, file }) => ({ path: path.slice(top.length), file })) : files
  return {
    name: hasTop ? top.slice(0, -1) : first.path,
    source: { kind: 'files', files: read(inside), total: inside.length },
  }
}

async function* read(files: readonly ImportedFile[]): AsyncIterable<ProjectFile> {
  for (const { path, file } of files) yield { path, bytes: new Uint8Array(await file.arrayBuffer()) }
}

async function collect(entry: FileSystemEntry, into: ImportedFile[]): Promise<void> {
  if (entry.isFile) {
    into.push({ path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry as FileSystemFileEntry) })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    // Browsers return at most 100 entries at a time.
    const children = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (children.length === 0) return
    for (const child of children) await collect(child, into)
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}
