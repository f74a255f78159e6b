import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shortenTestOutput } from '../../src/adapters/model/test-output.ts'

/** Returns what `node --test --test-reporter=tap` prints for a file with these tests. */
function runTests(source: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-tap-'))
  writeFileSync(
    join(directory, 'a.test.mjs'),
    `import test from 'node:test'\nimport assert from 'node:assert'\n${source}`,
  )
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  try {
    return execFileSync(process.execPath, ['--test', '--test-reporter=tap'], { cwd: directory, env, encoding: 'utf8' })
  } catch (error) {
    return String(Object(error).stdout)
  }
}

// A text for another process: the skipped test is there because the output of skipped tests must stay.
const source = `
test('passes', () => {})
test.skip('is skipped', () => {})
test('outer', async (t) => { await t.test('inner', () => {}) })
test('fails', () => assert.equal(1, 2))
`

describe('the output of a test run for a model', () => {
  const whole = runTests(source)
  const short = shortenTestOutput(whole)

  it('has no durations and no repeated names of passing tests', () => {
    expect(whole).toContain('# Subtest: passes\nok 1 - passes\n  ---\n  duration_ms')
    expect(short).toMatch(
      /^TAP version 13, without durations\nok 1 - passes\nok 2 - is skipped # SKIP\n# Subtest: outer\n {4}ok 1 - inner\n/,
    )
    expect(short).toContain('# tests 5\n# pass 3\n# fail 1\n# skipped 1\n')
    expect(short.length).toBeLessThan(whole.length)
  })

  it('keeps a failure as it is', () => {
    const failure = /^# Subtest: fails\nnot ok 4 - fails\n {2}---\n[\s\S]*?\n {2}\.\.\.\n/m
    expect(short.match(failure)?.[0]).toBe(whole.match(failure)?.[0])
    expect(short).toContain("error: '1 == 2'")
  })

  it('has every result of the whole output, in the same order', () => {
    const results = (text: string) => text.split('\n').filter((line) => /^ *(not )?ok \d|^ *1\.\.\d/.test(line))
    expect(results(whole)).toHaveLength(7)
    expect(results(short)).toEqual(results(whole))
  })

  it.each([
    ['no test run', '# Subtest: a\nok 1 - a\n  ---\n  duration_ms: 1\n  ...\n# todo 0\n'],
    ['a block with more than a duration', "TAP version 13\nok 1 - a\n  ---\n  duration_ms: 1\n  note: 'kept'\n  ...\n"],
    ['a name that the next line does not repeat', 'TAP version 13\n# Subtest: a\nok 1 - b\n'],
    ['a failure with that name', 'TAP version 13\n# Subtest: a\nnot ok 1 - a\n'],
    ['a time that is a text', 'TAP version 13\n# duration_ms FAILED: 3 migrations were rolled back\n'],
    ['a type that is a text', 'TAP version 13\nok 1 - a\n  ---\n  type: AssertionError expected 1 got 2\n  ...\n'],
    ['the times of a failure', "TAP version 13\nnot ok 1 - a\n  ---\n  duration_ms: 1\n  type: 'test'\n  ...\n"],
    ['what comes before the run', '---\ntype: post\n...\n# duration_ms 5\n# todo 0\nTAP version 13\nok 1 - a\n'],
    ['a count', 'TAP version 13\n# fail 0\n# skipped 2\n# tests 0\n'],
  ])('keeps %s', (_, text) => {
    expect(shortenTestOutput(text)).toBe(text.replace('13\n', '13, without durations\n'))
  })
})
