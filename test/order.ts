import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest test files, slowest first. If one of them started last, only one processor would be busy. */
const longest = [
  'runtimes/matrix.test',
  'backends/opfs/contract.browser',
  'playground/agent-page.test',
  'playground/whole.test',
  'runtimes/consumer.test',
  'shells/bash/bash.browser',
  'playground/following.test',
  'playground/interrupted.test',
  'playground/typed-text.test',
  'playground/views.test',
  'shells/webcontainer/webcontainer.test',
  'docs/guides.test',
  'playground/agent.test',
  'shells/bash/bombs.test',
  'shells/bash/process.test',
  'shells/analysis/command-line.test',
  'playground/nothing-lies.test',
  'playground/own-model.test',
  'playground/storage.test',
  'shells/bash/own-texts.test',
  'workspace/files.test',
  'runtimes/bundlers.test',
  'attack/',
  'shells/bash/started-commands.test',
  'policy/every-change.test',
  'policy/name-ways.test',
  'policy/entry-labels.test',
  'cli/dialect.test',
  'shells/node/',
  'backends/overlay.test',
  'shells/bash/thread.test',
  'shells/bash/live-output.test',
  'backends/opfs/tabs.test',
  'patch/diff.test',
  'tools/diff-workspace',
  'paths/ignore.test',
  'package.test',
  'contract/shells.test',
  'playground/',
  'cli/',
  'shells/bash/traps.test',
  'shells/bash/git-sessions.test',
  'git/repository.test',
  'docs/',
]

/** Starts the slowest test files first, also without timings of an earlier run. Vitest requires a class. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((part) => moduleId.includes(`/test/${part}`))
      return at < 0 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
