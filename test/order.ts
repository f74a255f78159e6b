import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest test files, slowest first. If one of them started last, only one processor would be busy. */
const longest = [
  'runtimes/matrix.test',
  'backends/opfs/contract.browser',
  'runtimes/consumer.test',
  'backends/sql/contract.test',
  'playground/agent-page.test',
  'playground/whole.test',
  'shells/bash/bash.browser',
  'shells/webcontainer/webcontainer.test',
  'cli/dialect.test',
  'playground/following.test',
  'shells/bash/bombs.test',
  'shells/node/',
  'policy/name-ways.test',
  'policy/every-change.test',
  'playground/interrupted.test',
  'playground/own-model.test',
  'attack/',
  'playground/views.test',
  'shells/bash/own-texts.test',
  'package.test',
  'tools/diff-workspace',
  'playground/typed-text.test',
  'playground/agent.test',
  'runtimes/bundlers.test',
  'backends/overlay.test',
  'patch/diff.test',
  'policy/entry-labels.test',
  'contract/',
  'playground/',
  'backends/opfs/tabs.test',
  'shells/bash/process.test',
  'shells/bash/live-output.test',
  'shells/analysis/',
  'history/model.test',
  'shells/bash/',
  'cli/',
  'policy/',
  'dialects/',
  'files/secrets/',
  'patch/',
  'edge/',
  'search/',
  'docs/',
  'elements/content-policy.test',
  'frameworks/',
  'workspace/',
  'tools/look.test',
  'checks/',
  'guard/',
  'audit/',
  'git/',
  'backends/',
  'paths/ignore.test',
  'tools/edit-turns.test',
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
