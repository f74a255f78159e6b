import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { diffLines, unifiedDiff } from '../src/patch/diff.ts'
import type { LogicalPath } from '../src/paths/logical-path.ts'
import { heading, medians, report } from './measure.ts'

/** Diffs of one file: a small edit against a fixed time, 5,000 lines against a `git diff --no-index` process and against jsdiff. */
export async function benchDiff(): Promise<void> {
  heading('Diff of one file')
  await smallEdit()
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-bench-'))
  try {
    for (const [name, change] of Object.entries(changes)) await againstGit(directory, name, change(sourceLines(5000)))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function smallEdit(): Promise<void> {
  const lines = sourceLines(160)
  const oldText = lines.join('')
  const newText = lines.with(80, 'changed\n').join('')
  const path = 'src/app.ts' as LogicalPath
  const times = 1000
  const { diff, unified } = await medians(15, {
    diff: () => repeat(times, () => diffLines(oldText, newText)),
    unified: () => repeat(times, () => unifiedDiff({ path, text: oldText }, { path, text: newText })),
  })
  const size = `${(oldText.length / 1024).toFixed(1)} KiB, one line`
  report(`diffLines, ${size}, of 5 µs`, (1000 * diff) / times, 5, 1, { unit: 'µs' })
  report(`unifiedDiff, ${size}, of 15 µs`, (1000 * unified) / times, 15, 1, { unit: 'µs' })
}

function repeat(times: number, work: () => unknown): void {
  for (let i = 0; i < times; i++) work()
}

async function againstGit(directory: string, name: string, lines: readonly string[]): Promise<void> {
  const oldText = sourceLines(5000).join('')
  const newText = lines.join('')
  writeFileSync(join(directory, 'old'), oldText)
  writeFileSync(join(directory, 'new'), newText)
  const path = 'old' as LogicalPath
  const { ours, git } = await medians(9, {
    ours: () => unifiedDiff({ path, text: oldText }, { path, text: newText }),
    git: () => spawnSync('git', ['diff', '--no-index', 'old', 'new'], { cwd: directory, maxBuffer: 1 << 28 }),
  })
  report(`unifiedDiff, 5,000 lines, ${name}, git diff`, ours, git, 1)
  const { jsdiff } = await medians(1, { jsdiff: () => createTwoFilesPatch('old', 'old', oldText, newText) })
  report(`unifiedDiff, 5,000 lines, ${name}, jsdiff`, ours, jsdiff, 1)
}

const changes: Readonly<Record<string, (lines: readonly string[]) => readonly string[]>> = {
  '1 % changed': (lines) => changed(lines, 0.01),
  '10 % changed': (lines) => changed(lines, 0.1),
  '50 % changed': (lines) => changed(lines, 0.5),
  '100 % changed': (lines) => changed(lines, 1),
  '10 % moved': (lines) => moved(lines, 0.1),
  shuffled: (lines) => moved(lines, 1),
}

function sourceLines(count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    i % 9 === 0
      ? '\n'
      : i % 9 === 8
        ? '}\n'
        : i % 11 === 0
          ? '    return\n'
          : `    const value${i} = compute(${i * 7})\n`,
  )
}

function changed(lines: readonly string[], share: number): string[] {
  const random = generator()
  return lines.map((line, i) => (random() < share ? `  // changed ${i}: ${line}` : line))
}

function moved(lines: readonly string[], share: number): string[] {
  const random = generator()
  const result = [...lines]
  for (let i = result.length - 1; i > 0; i--) {
    if (random() >= share) continue
    const other = Math.floor(random() * (i + 1))
    const line = result[i] as string
    result[i] = result[other] as string
    result[other] = line
  }
  return result
}

/** A linear congruential generator, which gives the same texts on every run. */
function generator(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) / 0x1000000
  }
}
