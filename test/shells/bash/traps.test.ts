import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runProgram } from '../../run-program.ts'
import { shellBench } from '../setup.ts'

const files = { 'in.txt': 'one\ntwo\n', 'trap.sh': "trap 'echo end of $0: $?' EXIT\necho run\nexit ${1-0}\n" }

/** Lines that give the same output and exit code as in the real bash. */
const lines = [
  "trap 'echo bye' EXIT; echo hi",
  "trap 'echo bye $?' EXIT; exit 3",
  "trap 'echo bye $?' EXIT; (exit 4)",
  "trap 'echo bye $?' 0; false",
  "trap 'echo bye $?' exit; true",
  "trap 'exit 5' EXIT; exit 2",
  "trap 'exit' EXIT; exit 2",
  "trap 'true; exit' EXIT; exit 2",
  'end() { echo end; exit; }; trap end EXIT; exit 6',
  "trap 'false' EXIT; exit 0",
  "set -e; trap 'false' EXIT; true",
  "set -e; trap 'echo bye $?' EXIT; false; echo no",
  "set -e; f() { false; echo no; }; trap 'echo bye $?' EXIT; f; echo no",
  "set -e; trap 'echo bye $?' EXIT; if false; then :; fi; false || true; echo yes",
  "set -euo pipefail; trap 'echo bye $?' EXIT; false | true; echo no",
  "set -u; x=1; trap 'echo bye $x' EXIT; echo $x",
  "x=1; trap 'echo $x' EXIT; x=2",
  "a=(1 '2 3'); trap 'echo ${a[1]} ${#a[@]}' EXIT; exit 1",
  "declare -A m; trap 'echo ${m[k]}' EXIT; m[k]=v; exit",
  "end() { echo end $1 $x; }; x=5; trap 'end a' EXIT; exit 1",
  "trap 'echo $1' EXIT; set -- q; exit",
  "trap 'pwd >/dev/null; ls' EXIT; mkdir d; cd d; touch f; exit",
  't=tmp.x; trap \'rm -f "$t"\' EXIT; echo 1 > "$t"; ls; exit 7',
  "trap 'rm -rf build' EXIT INT TERM; mkdir build; ls",
  "trap 'echo a' EXIT; trap 'echo b' EXIT",
  "trap 'echo a' EXIT; trap - EXIT; echo b",
  "trap 'echo a' EXIT; trap EXIT; echo b",
  "trap 'echo a' EXIT; trap '' EXIT; echo b",
  "trap 'echo a' EXIT INT; trap 0 2; trap",
  "f() { trap 'echo bye' EXIT; echo in f; }; f; echo out",
  "(trap 'echo sub' EXIT; echo in); echo out",
  "(trap 'echo sub $?' EXIT; exit 3); echo out $?",
  "(set -e; trap 'echo sub $?' EXIT; false; echo no); echo out $?",
  "trap 'echo main' EXIT; (echo in; exit 2); echo out $?",
  "trap 'echo main' EXIT; (trap 'echo sub' EXIT; echo in); echo out",
  'x=$(trap \'echo sub\' EXIT; echo in); echo "[$x]"',
  'f() { trap \'echo sub\' EXIT; echo in; }; x=$(f); echo "[$x]"; (f)',
  "trap 'echo sub' EXIT | cat; echo out",
  "{ trap 'echo sub' EXIT; echo in; } | tr a-z A-Z; echo out",
  "f() { trap 'echo sub' EXIT; }; f | cat; echo out",
  'bash -c "trap \'echo inner\' EXIT; echo in"; echo out',
  'bash trap.sh; echo out $?',
  'bash trap.sh 4; echo out $?',
  "trap 'echo outer' EXIT; bash trap.sh 4; echo out $?",
  'eval "trap \'echo bye\' EXIT"; echo hi',
  "while read l; do echo $l; trap 'echo end $l' EXIT; done < in.txt; l=x",
  "while read l; do (trap 'echo end' EXIT; echo $l); done < in.txt | sort",
  "cat < in.txt | { trap 'echo end' EXIT; cat; }",
  "trap 'echo 1; echo 2 >&2' EXIT; echo 0",
  "trap 'echo bye' EXIT; echo a > o.txt; cat o.txt nosuch 2>/dev/null",
  "trap 'nosuch 2>/dev/null' EXIT; exit 2",
  "trap 'trap - EXIT; exit 4' EXIT; exit 2",
  "trap 'echo one\necho two' EXIT",
  "trap 'if [ $? -ne 0 ]; then echo failed; fi' EXIT; ls nosuch 2>/dev/null",
  'trap',
  'trap -p; trap --',
  "trap 'echo a' EXIT; (trap; trap 'echo b' INT; trap); trap",
  "set -e; trap 'echo bye $?' EXIT; x=$(exit 3); echo no",
  "set -o pipefail; trap 'echo bye $?' EXIT; false | true",
  "false; trap 'echo bye $?' EXIT",
  "trap 'echo \"a'\\''b\"' exit sigint 15; trap -p; trap -p INT EXIT; trap - EXIT",
  "trap 'echo 1' EXIT FOO 2>/dev/null; echo $?",
  'trap x 99 2>/dev/null; echo $?',
  'trap -p FOO 2>/dev/null; echo $?',
  'trap x 2>/dev/null; echo $?',
  "trap '' INT; trap -- - INT; trap; echo $?",
  "trap -- 'echo bye' EXIT",
  "command trap 'echo bye' EXIT; builtin trap -p",
  "trap 'echo no' INT TERM HUP QUIT; echo $?; trap | wc -l",
]

/** Runs a line by the real bash. */
function runReal(line: string) {
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-traps-'))
  try {
    for (const [path, content] of Object.entries(files)) writeFileSync(join(directory, path), content)
    const { stdout, status } = runProgram('bash', ['-c', line], { cwd: directory })
    return [stdout.toString(), status]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('trap', () => {
  // Windows has no bash to compare with.
  it.skipIf(process.platform === 'win32').each(lines)('runs its actions as the real bash does: %s', async (line) => {
    const { run } = await shellBench(files)
    const { stdout, exitCode } = await run(line)
    expect([stdout, exitCode]).toEqual(runReal(line))
  })

  it('keeps the last directory and the input of the line', async () => {
    const { run } = await shellBench({ 'd/f': '1' })
    expect(await run("trap 'echo bye' EXIT; cd d")).toMatchObject({ stdout: 'bye\n', cwd: 'd' })
  })

  it.each([
    ["trap 'echo failed' ERR; false", 'ERR: not available in this shell; use "command || { ...; }"'],
    ["trap 'echo step' DEBUG", 'DEBUG: not available in this shell; use set -x'],
    ['trap back RETURN', 'RETURN: not available in this shell'],
    [
      'printf "trap \'echo bye\' EXIT\\n" > s.sh; chmod +x s.sh; ./s.sh',
      'EXIT: not available in a script that runs by its path; run it as "bash SCRIPT"',
    ],
    [
      "printf \"trap 'echo bye' EXIT\\n\" > s.sh; chmod +x s.sh; trap 'echo outer' EXIT; ./s.sh",
      'EXIT: not available in a script',
    ],
    ['trap -l', '-l: option is not available in this shell; use -p'],
  ])('refuses what it cannot do, and says what to do instead: %s', async (line, message) => {
    const { run } = await shellBench({})
    const { stdout, stderr } = await run(line)
    expect(stderr).toContain(`trap: ${message}`)
    expect(stdout).toBe(line.includes('outer') ? 'outer\n' : '')
  })
})
