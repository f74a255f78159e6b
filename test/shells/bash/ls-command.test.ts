import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'

const files = {
  'b.txt': 'bb\n',
  'a.txt': '',
  'C.txt': 'c\n',
  'd/x.js': '',
  'd/inner/y.js': '',
  'e f/z.js': '',
  '.h': '',
}

const options = ['', '-1', '-a', '-A', '-d', '-F', '-r', '-R', '-S', '-ad', '-rS', '--reverse', '--']
const operands = [
  'a.txt',
  'b.txt a.txt',
  '*.txt',
  'd',
  'd "e f"',
  '"e f" b.txt d C.txt',
  'none b.txt',
  'd none a.txt d',
  '',
]

const lines = options
  .flatMap((option) => operands.map((operand) => `ls ${option} ${operand}`))
  // The size of a directory is that of the file system.
  .filter((line) => !/^ls -r?S (?:|d "e f")$/.test(line))

it.runIf(process.platform === 'linux')('ls lists files and directories as that of GNU', async () => {
  const workspace = await createWorkspace({
    backend: memory(files),
    shell: bash({ worker: false }),
    policy: 'autonomous',
  })
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-ls-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const script = lines.map((line) => `echo '$ ${line}'; ${line}; echo "= $?"`).join('\n')
  const { stdout } = spawnSync('bash', ['-c', script], {
    ...{ cwd: directory, encoding: 'utf8', env: { PATH: process.env.PATH, LC_ALL: 'C' } },
  })
  const ours = await workspace.call('run_command', { command: script })
  await workspace.close()
  rmSync(directory, { recursive: true })
  expect(stdout.match(/^= /gm)).toHaveLength(lines.length)
  expect(ours.ok && ours.stdout).toBe(stdout)
})

it('ls -t lists several operands by their times, the newest first', async () => {
  const workspace = await createWorkspace({ backend: memory(), shell: bash(), policy: 'autonomous' })
  for (const name of ['a', 'c', 'b']) {
    await workspace.call('run_command', { command: `echo ${name} > ${name}` })
    await setTimeout(20)
  }
  expect(await workspace.call('run_command', { command: 'ls -t a b c; ls -tr a b c' })).toMatchObject({
    stdout: 'b\nc\na\na\nc\nb\n',
  })
  await workspace.close()
})
