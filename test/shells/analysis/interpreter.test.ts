import { expect, it } from 'vitest'
import { analyzeCommand } from '../../../src/shells/analysis/index.ts'
import { part, times } from '../../counts.ts'
import { forbiddenPrograms } from './hidden-commands.ts'
import { linesOfConstructs, linesOfWords } from './interpreter-lines.ts'
import { runInInterpreter } from './run-in-interpreter.ts'

/** The interpreter of `bash()` has its own parser, so a word that is data for the analysis may be a command for it. */
it.each([
  ['words of several pieces', linesOfWords, 503],
  ['commands next to other constructs', linesOfConstructs, 499],
] as const)('analyzeCommand(): allows no line that starts a forbidden program in bash(): %s', async (_, lines, few) => {
  const escaped: string[] = []
  let passed = 0
  for (const line of part(lines().filter((_line, index) => index % times(few, 1) === 0))) {
    if (analyzeCommand(line, { deny: ['forbidden'] }).decision !== 'allow') continue
    passed += 1
    if ((await runInInterpreter(line)).some((name) => name !== 'ok' && isForbidden(name))) escaped.push(line)
  }
  expect(escaped).toEqual([])
  expect(passed).toBeGreaterThan(times(15, 30))
})

const isForbidden = (name: string): boolean => (forbiddenPrograms as readonly string[]).includes(name)
