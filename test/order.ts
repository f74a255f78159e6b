import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest test files, slowest first. If one of them started last, only one processor would be busy. */
const longest = [
  'runtimes/matrix.test',
  'backends/opfs/contract.browser',
  'playground/whole.test',
  'playground/agent-page.test',
  'shells/bash/bash.browser',
  'shells/bash/bombs.test',
  'runtimes/consumer.test',
  'shells/webcontainer/webcontainer.test',
  'shells/bash/traps.test',
  'shells/bash/git-sessions.test',
  'playground/interrupted.test',
  'shells/bash/redirect-targets.test',
  'patch/diff.test',
  'shells/bash/started-commands.test',
  'paths/ignore.test',
  'git/repository.test',
  'shells/node/',
  'playground/views.test',
  'package.test',
  'backends/opfs/tabs.test',
  'contract/shells.test',
  'playground/',
  'runtimes/bundlers.test',
  'shells/bash/process.test',
  'policy/every-change.test',
  'policy/name-ways.test',
  'tools/diff-workspace.test',
  'cli/',
  'attack/',
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
