import { analyzeCommand } from '../../../src/shells/analysis/index.ts'
import { forbiddenPrograms, hiddenCommand, randomFrom } from './hidden-commands.ts'
import { runInInterpreter } from './run-in-interpreter.ts'
import { type LineToRun, runLines } from './run-lines.ts'

export interface FuzzResult {
  readonly lines: number
  /** Number of allowed lines, per shell, that were run. */
  readonly passed: number
  /** Allowed lines that started the harmless stub, which shows that the record works. */
  readonly startedHarmless: number
  /** Allowed lines that started a forbidden program. */
  readonly escaped: readonly LineToRun[]
  /** Number of refused lines that were run as a sample. */
  readonly sampled: number
  /** Refused lines of the sample that started a forbidden program. */
  readonly wouldHaveStarted: number
}

const BATCH = 1000

/** Generates lines, analyzes them, and runs the allowed ones in real bash and dash. */
export async function fuzz(count: number, seed: number, sample: number): Promise<FuzzResult> {
  const random = randomFrom(seed)
  const passed: LineToRun[] = []
  const refused: LineToRun[] = []
  for (let i = 0; i < count; i++) {
    const line = hiddenCommand(random)
    for (const shell of ['bash', 'dash'] as const) {
      const verdict = analyzeCommand(line, { deny: ['forbidden'] }, { shell: shell === 'dash' ? 'sh' : 'bash' })
      if (verdict.decision === 'allow') passed.push({ shell, line })
      else if (refused.length < sample) refused.push({ shell, line })
    }
  }
  const escaped: LineToRun[] = []
  let startedHarmless = 0
  for (let start = 0; start < passed.length; start += BATCH) {
    const batch = passed.slice(start, start + BATCH)
    for (const [index, names] of (await runLines(batch)).entries()) {
      const line = batch[index]
      if (names.includes('ok')) startedHarmless += 1
      if (line !== undefined && names.some(isForbidden)) escaped.push(line)
    }
  }
  const sampled = sample === 0 ? [] : await runLines(refused)
  return {
    lines: count,
    passed: passed.length,
    startedHarmless,
    escaped,
    sampled: refused.length,
    wouldHaveStarted: sampled.filter((names) => names.some(isForbidden)).length,
  }
}

/** As {@link fuzz}, with the interpreter of `bash()`, which differs from real shells. */
export async function fuzzInterpreter(count: number, seed: number, sample: number): Promise<InterpreterFuzzResult> {
  const random = randomFrom(seed)
  const escaped: string[] = []
  const counts = { passed: 0, startedHarmless: 0, sampled: 0, wouldHaveStarted: 0 }
  for (let i = 0; i < count; i++) {
    const line = hiddenCommand(random)
    const { decision } = analyzeCommand(line, { deny: ['forbidden'] })
    const isSampled = decision !== 'allow' && counts.sampled < sample && WITHOUT_ARITHMETIC.test(line)
    if (decision !== 'allow' && !isSampled) continue
    const names = await runInInterpreter(line)
    if (isSampled) {
      counts.sampled += 1
      if (names.some(isForbidden)) counts.wouldHaveStarted += 1
    } else {
      counts.passed += 1
      if (names.includes('ok')) counts.startedHarmless += 1
      if (names.some(isForbidden)) escaped.push(line)
    }
  }
  return { lines: count, escaped, ...counts }
}

export interface InterpreterFuzzResult extends Omit<FuzzResult, 'escaped'> {
  readonly escaped: readonly string[]
}

/** The interpreter never ends a wrong arithmetic expression such as `$((a$))`, which the analysis refuses. */
const WITHOUT_ARITHMETIC = /^[^$([]*$/

function isForbidden(name: string): boolean {
  return (forbiddenPrograms as readonly string[]).includes(name)
}
