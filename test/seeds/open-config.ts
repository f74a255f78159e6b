import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { checkPolicy } from '../../src/cli/check-policy.ts'
import { dialectOf } from '../../src/cli/dialect.ts'
import { configOf, type Options, openWorkspace } from '../../src/cli/options.ts'
import type { DialectWorkspace } from '../../src/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
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
      const opened = (await openWorkspace(options, {}, await dialectOf(dialect))) as DialectWorkspace
      const config = await configOf(options, await dialectOf(dialect))
      const findings = checkPolicy(config.written, { tools: builtinTools })
      // Without a preset, the notes of some originals are not readable for the workspace's own tools.
      expect(findings.filter(({ rule }) => rule !== 'memory')).toEqual([])
      return opened
    },
  }
}
