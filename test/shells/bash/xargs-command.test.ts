import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'
import { everyNth } from '../../counts.ts'

const files = { 'list.txt': 'a\nb c\n"d e"\n', 'a.txt': 'x\n', 'sub.txt': 'x\ny\n' }

const inputs = [
  'a b c',
  'a b\\nc d\\n',
  '  a  b \\n\\n c\\n',
  "'a b' c\\n",
  '"a b" c\\n',
  'a\\\\ b c\\n',
  'a \\nb\\nc\\n',
  'é ü\\n',
  '',
  '\\n\\n',
  "it's\\n",
  '$HOME *\\n',
]

const commands = [
  'xargs',
  'xargs echo x',
  'xargs -n1 echo x',
  'xargs -n 2 echo',
  'xargs -L1 echo x',
  'xargs -L 2 echo',
  'xargs -r echo x',
  'xargs -I{} echo "[{}]"',
  'xargs -I {} echo {} {}-{}',
  'xargs -I% echo "%"',
  'xargs -i echo "<{}>"',
  "xargs -d '\\n' -n1 echo x",
  'xargs -d, -n1 echo x',
]

const pairs = inputs.flatMap((input) =>
  commands.map((command) => `printf '${input.replaceAll("'", `'\\''`)}' | ${command}`),
)

const lines = [
  // Each input and each command is in some.
  ...everyNth(pairs, 5),
  "printf 'a\\0b c\\0' | xargs -0 -n1 echo",
  "printf 'a\\0b c\\0' | xargs -0 -I{} echo '({})'",
  'xargs -a list.txt -n1 echo',
  'xargs -n1 -t echo < list.txt',
  'ls *.txt | xargs cat',
  'ls *.txt | xargs -I{} head -n1 {}',
  'printf "a.txt sub.txt" | xargs -n1 cat',
  'printf "x y" | xargs -n1 grep -c x a.txt',
  'echo a b | xargs -n1 false',
  'echo a | xargs sh -c "exit 255"',
  'echo a | xargs sh -c "exit 3"',
  'echo a | xargs nosuchcommand 2>/dev/null',
  'echo a | xargs -n0 echo 2>/dev/null',
  'echo a | xargs -- echo x',
  'echo a b | xargs -rn1 echo',
]

describe('xargs', () => {
  it('prints and returns what the real program does', async () => {
    const workspace = await createWorkspace({
      backend: memory(files),
      policy: 'autonomous',
      shell: bash({ worker: false }),
    })
    const directory = mkdtempSync(join(tmpdir(), 'xargs-'))
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
    const script = lines.map((line) => `(${line}); printf '\\0%s\\1' $?`).join('\n')
    const { stdout } = spawnSync('bash', ['-c', `xargs --version > /dev/null || exit\n${script}`], {
      cwd: directory,
      encoding: 'utf8',
    })
    const expected = stdout
      .split('\x01')
      .map((one) => [one.slice(0, one.lastIndexOf('\0')), Number(one.slice(one.lastIndexOf('\0') + 1))])
    const differences: unknown[] = []
    for (const [index, line] of (stdout === '' ? [] : lines).entries()) {
      const result = await workspace.call('run_command', { command: line })
      const ours = result.ok ? [result.stdout, result.exitCode] : result
      if (JSON.stringify(ours) !== JSON.stringify(expected[index])) differences.push([line, ours, expected[index]])
    }
    await workspace.close()
    rmSync(directory, { recursive: true })
    expect(differences).toEqual([])
  })
})
