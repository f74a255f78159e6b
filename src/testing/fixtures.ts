import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type MemoryEntry, memory } from '../backends/memory/index.ts'
import {
  checkArgument,
  checkOptions,
  isFunction,
  isOneOf,
  isPlainObject,
  isText,
  type OptionTable,
  refuseSurplus,
} from '../util/check-options.ts'
import { parseRecording, type Replay, replay } from '../workspace/replay.ts'
import { type TestWorkspace, type TestWorkspaceOptions, testOptions, testWorkspace } from './test-workspace.ts'

/** Options of the recorded run. `record` decides when it is recorded. */
export interface FixtureOptions extends Omit<TestWorkspaceOptions, 'record' | 'faults' | 'seed' | 'clock'> {
  /**
   * When the run is recorded: if the file is missing, always, or never, so that a missing file is an error. Default: `missing`, and
   * `never` if the environment has `CI`, because an unreviewed recording proves nothing.
   */
  readonly record?: 'missing' | 'always' | 'never'
}

const { faults: _, seed: __, clock: ___, ...ownOptions } = testOptions
const fixtureOptions: OptionTable<FixtureOptions> = { ...ownOptions, record: isOneOf('missing', 'always', 'never') }

/** The outcome of a fixture. */
export interface Fixture {
  /** Whether the run was recorded. Otherwise it was replayed. */
  readonly recorded: boolean
  readonly steps: number
}

/**
 * Records a run into a file the first time, and replays the file later, without the model or program that made the calls. Each step
 * must have the recorded result, including versions and diffs. The file is a recording for `wardspace replay`, without secrets,
 * and the same for the same run.
 *
 * @throws Error for the first step with another result, with both results
 * @throws TypeError for a file that is not a recording
 * @example
 * await recordFixture('test/fixtures/mend.jsonl', files, (workspace) =>
 *   generateText({ model, tools: aiSdkTools(workspace), prompt: 'Mend the test.' }),
 * )
 */
export async function recordFixture(
  file: string,
  files: Readonly<Record<string, MemoryEntry>>,
  run: (workspace: TestWorkspace) => Promise<unknown>,
  requested?: FixtureOptions,
): Promise<Fixture> {
  refuseSurplus('recordFixture()', 4, arguments)
  const checked = checkArguments('recordFixture()', file, files, requested)
  checkArgument('recordFixture()', 'run', run, isFunction)
  const { record = process.env.CI ? 'never' : 'missing', ...options } = checked
  if (record === 'never' || (record === 'missing' && existsSync(file))) return replayFixture(file, files, options)
  const lines: string[] = []
  const workspace = await testWorkspace(files, { ...options, record: (line) => void lines.push(line) })
  try {
    await run(workspace)
  } finally {
    await workspace.close()
  }
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${lines.join('\n')}\n`)
  return { recorded: true, steps: parseRecording(lines.join('\n')).filter(isStep).length }
}

/**
 * Replays a recording of {@link recordFixture} on the same files.
 *
 * @throws Error for the first step with another result, and for a missing file
 * @throws TypeError for a file that is not a recording
 */
export async function replayFixture(
  file: string,
  files: Readonly<Record<string, MemoryEntry>>,
  options?: Omit<FixtureOptions, 'record'>,
): Promise<Fixture> {
  refuseSurplus('replayFixture()', 3, arguments)
  const { shell, hooks, git, history } = checkArguments('replayFixture()', file, files, options)
  if (!existsSync(file)) throw new Error(`Fixture "${file}" does not exist: record it first`)
  const settings = { shell, hooks, git, history }
  const replayOptions = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
  const outcome = await replay(parseRecording(await readFile(file, 'utf8')), {
    ...replayOptions,
    backend: memory(files),
  })
  if (!outcome.ok) throw new Error(differenceText(file, outcome))
  return { recorded: false, steps: outcome.steps }
}

/** Checks the arguments that recording and replaying have in common. Returns the options. */
function checkArguments(owner: string, file: string, files: unknown, options: unknown): FixtureOptions {
  checkArgument(owner, 'file', file, isText)
  checkArgument(owner, 'files', files, isPlainObject)
  return checkOptions<FixtureOptions>(owner, options, fixtureOptions)
}

function differenceText(
  file: string,
  { steps, step, why: reason, ...difference }: Extract<Replay, { ok: false }>,
): string {
  const subject = `Fixture "${file}": step ${steps + 1}, ${step.name ?? step.type} ${JSON.stringify(step.input)}`
  if (reason === 'secret')
    return `${subject} contains a secret, which recordings do not store, so it cannot be replayed`
  const location = difference.field === '' ? '' : ` in ${difference.field}`
  return [
    `${subject} has a different result${location}`,
    `- recorded: ${JSON.stringify(difference.recorded)}`,
    `+ replayed: ${JSON.stringify(difference.replayed)}`,
  ].join('\n')
}

function isStep({ type }: { readonly type: string }): boolean {
  return type !== 'workspace' && type !== 'run' && type !== 'answer'
}
