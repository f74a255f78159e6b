import type { Scenario } from '../types.ts'
import { call, calls } from './calling.ts'
import { failingTests, hasTests, importsOf, lastLine, lineOf, outputOf } from './reading.ts'

/** Runs the tests, follows the first failing one to the code it tests, changes one line, and runs the tests again. */
export const mendATest: Scenario = {
  id: 'mend-a-test',
  sample: 'price-list',
  prompt: 'Some tests of this project fail. Find out why, and mend the code (not the tests).',
  workspace: { policy: 'autonomous' },
  *script() {
    const first = yield* call('I run the tests to see what fails.', 'run_command', { command: 'npm test' })
    if (!first.ok) return `I could not run the tests: ${first.message}.`
    const failing = failingTests(outputOf(first))
    if (first.exitCode === 0) {
      return hasTests(outputOf(first))
        ? 'All tests pass, so there is nothing to mend.'
        : 'This project has no tests that I could find, so I changed nothing.'
    }
    if (failing.length === 0) return `\`npm test\` does not work here: ${lastLine(outputOf(first))}. I changed nothing.`

    // The failing test with the fewest imports is closest to the cause.
    const files = [...new Set(failing.map(({ file }) => file))]
    const read = yield* calls(
      `${failing.length === 1 ? 'One test fails' : `${failing.length} tests fail`}: ${failing.map(({ name }) => `“${name}”`).join(', ')}. I read what they test.`,
      ...files.map((path) => ({ name: 'read_file', input: { path } })),
    )
    const tests = files.map((path, i) => ({ path, content: String(read[i]?.content ?? '') }))
    tests.sort((a, b) => importsOf(a.path, a.content).length - importsOf(b.path, b.content).length)
    const [closest] = tests
    const [source] = closest === undefined ? [] : importsOf(closest.path, closest.content)
    const unread = files.find((_, i) => read[i]?.ok !== true)
    if (unread !== undefined) return `I cannot read ${unread}, so I changed nothing.`
    if (closest === undefined || source === undefined) {
      return 'I cannot see what the failing tests are about. I changed nothing.'
    }

    const file = yield* call(`${closest.path} tests \`${source}\`.`, 'read_file', { path: source, lineNumbers: false })
    if (!file.ok) return `I cannot read ${source}: ${file.message}. I changed nothing.`
    const line = lineOf(file.content, /return Math\.floor\(.*\/ 100\)/)
    const failure = failing.find(({ file: path }) => path === closest.path)
    if (line === undefined) {
      return `I read ${source}, and see no line that explains ${failure?.detail ?? 'what the test says'}. I changed nothing.`
    }
    const edited = yield* call(
      `The test says ${failure?.detail ?? 'that a cent is missing'}. Line ${line.number} of ${source} always rounds down: \`${line.text.trim()}\`. It has to round to the nearest cent.`,
      'edit_file',
      {
        path: source,
        oldText: line.text,
        newText: line.text.replace('Math.floor', 'Math.round'),
        expectedSha256: file.sha256,
        reason: 'A discount is rounded to the nearest cent',
      },
    )
    // Someone else changed the file, or this call did before it was interrupted. The tests show the effect.
    const isConflict = !edited.ok && edited.code === 'WRITE_CONFLICT'
    if (!edited.ok && edited.code === 'ABORTED') return `The edit was interrupted: look at ${source} before you go on.`
    if (!edited.ok && !isConflict) {
      return `The edit was refused (${edited.code}): ${edited.message}. I changed nothing.`
    }
    const words = isConflict ? `${source} has been changed meanwhile. What do the tests say?` : 'Now the tests again.'
    const second = yield* call(words, 'run_command', { command: 'npm test' })
    if (!second.ok) return `${source} is changed, and I could not run the tests again: ${second.message}.`
    const left = failingTests(outputOf(second))
    if (left.length > 0) return `${source} is changed, and ${left.length} of the tests still fail: “${left[0]?.name}”.`
    if (second.exitCode !== 0) return `${source} is changed, and \`npm test\` fails: ${lastLine(outputOf(second))}.`
    return `All tests pass. The cause was line ${line.number} of ${source}, which rounded every discount down; now it rounds to the nearest cent. ${failing.length} tests had failed because of it.`
  },
}
