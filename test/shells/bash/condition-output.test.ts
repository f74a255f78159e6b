import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { part, times } from '../../counts.ts'
import { runPrintingScript } from './run-printing-script.ts'

/** What ends the script, the function or the condition. */
const ends = [
  'exit 3',
  'f',
  'eval "echo e; exit 4"',
  'exec echo x',
  'echo "$unset_name"',
  ': ${unset_name:?gone}',
  'false',
]

/** Statements that print something before `X`. */
const lists = [
  'X',
  'echo a; X',
  'echo a && X',
  'echo a >&2; X',
  'echo a; ! X',
  '{ echo a; X; }',
  'if echo a; then X; fi',
  'if echo a; false; then :; elif echo b; X; then echo t; fi',
  'case a in a) echo a; X ;; esac',
  'for j in 1 2; do echo j$j; [ $j = 2 ] && X; done',
  'echo $(echo a; X)',
  '(echo a; X)',
]

const step = 'echo body$n; n=$((n+1)); [ $n -gt 3 ] && exit 9'

/** Where the list `L` stands. Most reach it in a later round. */
const places = [
  `while L; do ${step}; done`,
  `until L; do ${step}; done`,
  `while echo c$n; if [ $n -ge 1 ]; then L; fi; do ${step}; done`,
  `until echo c$n; if [ $n -ge 1 ]; then L; fi; [ $n -gt 2 ]; do ${step}; done`,
  `while [ $n -lt 1 ] || { L; }; do ${step}; done`,
  `while echo c$n; [ $n -lt 1 ] || { L; }; do n=$((n+1)); continue; done`,
  'if L; then echo yes; else echo no; fi',
  'if echo c; false; then :; elif L; then echo yes; else echo no; fi',
  'if echo c; false; then :; elif echo d; false; then :; elif echo e; L; then echo yes; fi',
  `for i in 1 2; do echo i$i; while echo c$n; L; do ${step}; done; echo after; done`,
  `while echo o$n; do until echo c; L; do ${step}; done; ${step}; done`,
  `while echo c$n; [ $n -lt 1 ] || { L; }; do ${step}; done 2> /dev/null`,
  `while echo c$n; [ $n -lt 1 ] || { L; }; do ${step}; done | cat`,
  `(while echo c$n; [ $n -lt 1 ] || { L; }; do ${step}; done)`,
  `x=$(until echo c$n; [ $n -ge 1 ] && { L; }; do ${step}; done); echo "[$x]"`,
  `g() { while echo c$n; [ $n -lt 1 ] || { L; }; do ${step}; done; echo in; }; g`,
  `g() { if [ $n -lt 2 ]; then n=$((n+1)); while echo g$n; g; do break; done; else L; fi; }; g`,
]

const heads = [
  'n=0; f() { echo inf; exit 8; }; ',
  'set -u; n=0; f() { echo inf; exit 8; }; ',
  'set -e; n=0; f() { echo inf; return 1; }; ',
]

const lines = part(
  heads
    .flatMap((head) =>
      places.flatMap((place) =>
        lists.flatMap((list) =>
          ends.map((end) => ({
            line: `${head}${place.replace('L', () => list.replaceAll('X', () => end))}; echo end`,
            end,
          })),
        ),
      ),
    )
    .filter((_, index) => index % times(431, 1) === 0),
)

const version = spawnSync('bash', ['-c', 'echo $BASH_VERSION'], { encoding: 'utf8' }).stdout ?? ''

const isBash = process.platform !== 'win32' && version.startsWith('5.2')
// Compared with bash 5.2: other versions end with other exit codes, and a bash of Windows has other paths.
it.skipIf(!isBash)(
  `prints what bash prints where a condition ends the script, in any of ${lines.length} lines`,
  async () => {
    const wrong: unknown[] = []
    let compared = 0
    for (const { line, end } of lines) {
      const real = spawnSync('bash', ['-c', line], { encoding: 'utf8', timeout: 5_000, input: '', maxBuffer: 1 << 20 })
      // Loops that never end.
      if (real.error !== undefined) continue
      compared += 1
      let live = ''
      const result = await runPrintingScript(line, (stream, text) => {
        if (stream === 'stdout') live += text
      })
      // For `${name:?}`, bash() has another exit code, which the guide describes.
      const code = end.includes(':?') ? result?.exitCode : real.status
      if (result?.stdout !== real.stdout || result.exitCode !== code)
        wrong.push({ line, bash: [real.stdout, real.status], ours: [result?.stdout, result?.exitCode] })
      if (result?.stdout.startsWith(live) !== true) wrong.push({ line, live, stdout: result?.stdout })
    }
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(lines.length * 0.7)
  },
  1_800_000,
)

// The guide describes the output of bash 5.2; other versions and a bash of Windows may print something else.
it.skipIf(!isBash).each([
  ['{ echo a && echo $((1/0)); }; echo end', 'end\n', 'a\n'],
  ['for i in 1 2; do until break; do :; done; echo $i; done; echo end', 'end\n', '1\n2\nend\n'],
])('differs where the guide says so: %s', async (line, ours, real) => {
  expect((await runPrintingScript(line))?.stdout).toBe(ours)
  expect(spawnSync('bash', ['-c', line], { encoding: 'utf8' }).stdout).toBe(real)
})
