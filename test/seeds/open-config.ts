import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dialectOf } from '../../src/cli/dialect.ts'
import { type Options, openWorkspace } from '../../src/cli/options.ts'
import type { DialectWorkspace } from '../../src/index.ts'
import { writeFiles } from '../write-files.ts'

/** A directory on disk, with configuration files next to it. */
export interface Project {
  readonly home: string
  /** The root of the agent. */
  readonly root: string
  /** Writes a configuration next to the root. */
  write(name: string, text: string): Promise<string>
  /** Opens the root as `wardspace call --policy FILE --dialect NAME` does. */
  open(file: string, dialect: string, more?: Partial<Options>): Promise<DialectWorkspace>
}

/** Creates a project in a temporary directory. The caller removes `home`. */
export async function createProject(files: Readonly<Record<string, string>>): Promise<Project> {
  const home = await mkdtemp(join(tmpdir(), 'wardspace-seed-'))
  const root = join(home, 'workspace')
  writeFiles(root, files)
  return {
    home,
    root,
    async write(name, text) {
      await writeFile(join(home, name), text)
      return join(home, name)
    },
    async open(policy, dialect, more = {}) {
      const options: Options = { policy, dialect, root: [root], ...more }
      return (await openWorkspace(options, {}, await dialectOf(dialect))) as DialectWorkspace
    },
  }
}
