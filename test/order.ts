import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest test files, slowest first. If one of them started last, only one processor would be busy. */
const longest = [
  'runtimes/matrix.test',
  'backends/opfs/contract.browser',
  'playground/whole.test',
  'playground/agent-page.test',
  'shells/bash/bash.browser',
  'backends/opfs/tabs.test',
  'contract/shells.test',
  'playground/views.test',
  'playground/agent.test',
  'shells/webcontainer/webcontainer.test',
  'runtimes/consumer.test',
  'contract/backends.test',
  'cli/cli.test',
  'docs/',
  'package.test',
  'attack/',
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
