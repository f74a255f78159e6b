import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from '../../run-program.ts'
import { shellBench } from '../setup.ts'

const files = { 'conf/c': 'C\n', 'tmp/k': 'K\n' }

const lines = [
  '(cd conf && cat *) > tmp/i; cat tmp/i; ls conf',
  '{ cd conf && cat *; } > tmp/i; cd ..; cat tmp/i; ls conf',
  '(cd conf; echo 1) >> tmp/k; cat tmp/k; ls conf tmp',
  '(cd conf; nosuch 2>/dev/null; echo 1; echo 2 >&2) > tmp/o 2> tmp/e; cat tmp/o tmp/e; ls conf',
  '(cd conf; echo 1; echo 2 >&2) &> tmp/o; cat tmp/o; ls conf',
  '(cd conf; echo 1; echo 2 >&2) > tmp/o 2>&1; cat tmp/o; ls conf',
  '(cd conf; pwd >/dev/null; echo 1) >| tmp/o; cat tmp/o',
  'if cd conf; then cat *; fi > tmp/i; cat ../tmp/i; ls',
  'for i in 1; do echo $i; cd conf; done > tmp/i; cat ../tmp/i; ls',
  'while read l; do cd conf; echo $l; cd ..; done < conf/c > tmp/i; cat tmp/i',
  'until cd conf; do :; done > tmp/i; ls . ../tmp',
  'case a in a) cd conf; echo 1;; esac > tmp/i; cat ../tmp/i',
  'for ((i = 0; i < 1; i++)); do cd conf; echo $i; done > tmp/i; cat ../tmp/i; ls',
  'f() { cd conf; cat *; } > tmp/i; f; cat ../tmp/i; ls',
  'f() { cd conf; cat *; }; f > tmp/i; cat ../tmp/i; ls',
  '(cd conf; (cd ../tmp; echo 1) > j; cat j) > tmp/i; cat tmp/i conf/j',
  '(cd conf; { cd ..; echo 1; } > j) > tmp/i; cat conf/j; ls tmp',
  'x=$( (cd conf; echo 1) > tmp/i); cat tmp/i; ls conf',
  '(cd conf; echo 1) > ./tmp/i; cat tmp/i',
  "(cd conf; echo 1) > 'tmp/i'; cat tmp/i",
  '(cd conf; echo 1) > "tmp/i"; cat tmp/i',
  '(cd conf; echo 1) > "tmp"/i; cat tmp/i',
  String.raw`(cd conf; echo 1) > \tmp/i; cat tmp/i`,
  'n=i; (cd conf; n=j; echo 1) > tmp/$n; ls tmp; cat tmp/i',
  'n=i; { cd conf; n=j; echo 1; } > tmp/"$n"; ls ../tmp; cat ../tmp/i',
  '(cd conf; echo 1) > /dev/null; ls conf tmp',
  '(cd conf; echo 1) > i | cat; cat i; ls conf',
  '(cd conf; echo 1) > i && (cd tmp; echo 2) >> i; cat i',
  'bash -c "(cd conf; echo 1) > tmp/i"; cat tmp/i; ls conf',
  '(cd conf; cat) < tmp/k > tmp/i; cat tmp/i',
  '(cd conf; cat) <<< text > tmp/i; cat tmp/i',
  '! (cd conf; false) > tmp/i; echo $?; ls tmp',
  'false; { cd conf; echo $?; } > tmp/i; cat ../tmp/i',
  '(ls; cd conf) > o; cat o',
  'eval "cd conf; cat *" > tmp/i; cat ../tmp/i; ls',
  'cd conf > tmp/i; ls . ../tmp',
  'f() { cd conf; echo 1; }; (f > tmp/i); cat tmp/i; ls conf',
]

/** Runs a line by the real bash. */
function runReal(line: string) {
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-targets-'))
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), content)
    }
    const { stdout, status } = runProgram('bash', ['-c', line], { cwd: directory })
    return [stdout.toString(), status]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

// Windows has no bash to compare with.
it.skipIf(process.platform === 'win32').each(lines)(
  'a command that enters a directory writes where the real bash does: %s',
  async (line) => {
    const { run } = await shellBench(files)
    const { stdout, exitCode } = await run(line)
    expect([stdout, exitCode]).toEqual(runReal(line))
  },
)
