import type { Backend } from 'wardspace'
import { fill } from './fill.ts'
import { sampleOf } from './samples.ts'
import type { ProjectFile, ProjectSource, Task } from './types.ts'

/** A source whose files are copied into the project. */
export type FillSource = Exclude<ProjectSource, { kind: 'directory' }>

/** Fills a new project from its source and returns warnings about skipped files. The importers load on demand. */
export async function fillFrom(backend: Backend, source: FillSource, task: Task): Promise<readonly string[]> {
  switch (source.kind) {
    case 'empty':
      return []
    case 'sample':
      return fill(backend, { files: asBytes(await (await sampleOf(source.id)).files()) }, task)
    case 'files':
      return fill(backend, source, task)
    case 'zip': {
      const { readZip } = await import('./import-zip.ts')
      return fill(backend, await readZip(source.file, task, source.maxBytes), task)
    }
    case 'github': {
      const { filesOfGithub } = await import('./import-git.ts')
      return fill(backend, filesOfGithub(source, task), task)
    }
    case 'git': {
      const { cloneFrom } = await import('./import-git.ts')
      return fill(backend, cloneFrom(source, task), task)
    }
  }
}

function* asBytes(files: Readonly<Record<string, string>>): Iterable<ProjectFile> {
  const encoder = new TextEncoder()
  for (const [path, text] of Object.entries(files)) yield { path, bytes: encoder.encode(text) }
}
