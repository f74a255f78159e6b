import { type Path, ROOT } from '../../paths/logical-path.ts'

const MAX_FILES = 4_096

/** The handles of directories and files by path. Looking one up in the storage again costs four times as much. */
export class HandleCache {
  private readonly directories = new Map<Path, FileSystemDirectoryHandle>()
  private readonly files = new Map<Path, FileSystemFileHandle>()

  directory(path: Path): FileSystemDirectoryHandle | undefined {
    return this.directories.get(path)
  }

  /** `undefined` deletes the handle. */
  setDirectory(path: Path, handle: FileSystemDirectoryHandle | undefined): void {
    if (handle === undefined) this.directories.delete(path)
    else this.directories.set(path, handle)
  }

  file(path: Path): FileSystemFileHandle | undefined {
    return this.files.get(path)
  }

  setFile(path: Path, handle: FileSystemFileHandle): void {
    if (this.files.size >= MAX_FILES) this.files.clear()
    this.files.set(path, handle)
  }

  deleteFile(path: Path): void {
    this.files.delete(path)
  }

  /** Deletes the handles at and below a path. */
  forget(path: Path): void {
    for (const handles of [this.directories, this.files]) {
      for (const cached of handles.keys()) {
        if (cached === path || path === ROOT || cached.startsWith(`${path}/`)) handles.delete(cached)
      }
    }
  }
}
