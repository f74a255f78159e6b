import { ToolError } from '../errors.ts'
import { decodeName, encodeName } from '../paths/name-bytes.ts'
import type { Change } from '../storage/backend.ts'
import { type Cone, conePatterns, parseCone } from './cone.ts'
import { booleanSetting, withSetting } from './config-file.ts'
import { gitPath, makeDirectories } from './isomorphic-fs.ts'
import type { RepositoryContext } from './repository-context.ts'
import { type GitFiles, gitFiles } from './repository-files.ts'

/** The settings of a sparse checkout. */
export interface SparseSettings {
  readonly isEnabled: boolean
  /** The directories of `.git/info/sparse-checkout`; `undefined` if it has patterns that are not those of git's cone mode. */
  readonly cone: Cone | undefined
}

const PATTERNS = 'info/sparse-checkout'

/** Reads the settings of a sparse checkout, whether it is enabled or not. */
export async function readSparse(files: GitFiles): Promise<SparseSettings> {
  const { isSet } = await readConfiguration(files)
  const isEnabled = isSet('sparseCheckout') === true
  const cone = isSet('sparseCheckoutCone') === false && isEnabled ? undefined : parseCone(await textOf(files, PATTERNS))
  return { isEnabled, cone }
}

/**
 * Returns the cone of the sparse checkout; `undefined` if there is none.
 *
 * @param action for the message of an error: `Cannot ACTION: reason`
 * @throws ToolError `INVALID_INPUT` if its patterns are not those of cone mode
 */
export async function requireCone({ backend }: RepositoryContext, action: string): Promise<Cone | undefined> {
  const { isEnabled, cone } = await readSparse(gitFiles(backend))
  if (!isEnabled || cone !== undefined) return isEnabled ? cone : undefined
  throw new ToolError(
    'INVALID_INPUT',
    `Cannot ${action}: the sparse checkout has patterns that are not those of git's cone mode, which only git itself supports`,
    { hint: 'Set directories for the sparse checkout, or disable it.' },
  )
}

/** Enables a sparse checkout, or disables it. As git does, `.git/config.worktree` has the settings. */
export async function writeSparse({ backend }: RepositoryContext, cone: Cone | undefined): Promise<void> {
  const files = gitFiles(backend)
  const { shared, own } = await readConfiguration(files)
  const isOn = cone !== undefined
  let settings = withSetting(own, 'core', 'sparseCheckout', isOn)
  settings = withSetting(settings, 'core', 'sparseCheckoutCone', isOn)
  if (!isOn) settings = withSetting(settings, 'index', 'sparse', false)
  const texts = new Map([
    ['config', withSetting(shared, 'extensions', 'worktreeConfig', true)],
    ['config.worktree', settings],
  ])
  if (cone !== undefined) texts.set(PATTERNS, conePatterns(cone))
  const changes: Change[] = []
  for (const [name, text] of texts) {
    const path = gitPath(...name.split('/'))
    await makeDirectories(backend, path)
    changes.push({ path, expect: 'any', to: { type: 'file', bytes: encodeName(text) } })
  }
  await backend.commit(changes, { durability: 'durable' })
}

async function readConfiguration(files: GitFiles) {
  const shared = await textOf(files, 'config')
  const own = await textOf(files, 'config.worktree')
  // Without the extension, git does not read the second file.
  const valid = booleanSetting(shared, 'extensions', 'worktreeConfig') === true ? own : ''
  const isSet = (key: string) => booleanSetting(valid, 'core', key) ?? booleanSetting(shared, 'core', key)
  return { shared, own, isSet }
}

async function textOf(files: GitFiles, name: string): Promise<string> {
  return decodeName((await files.read(name)) ?? new Uint8Array())
}
