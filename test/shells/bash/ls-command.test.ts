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

/** Runs a script over the files, in bash on the disk and in `bash()`. Returns what each prints. */
async function besideBash(script: string): Promise<{ readonly stdout: string; readonly ours: unknown }> {
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
  const { stdout } = spawnSync('bash', ['-c', script], {
    ...{ cwd: directory, encoding: 'utf8', env: { PATH: process.env.PATH, LC_ALL: 'C' } },
  })
  const ours = await workspace.call('run_command', { command: script })
  await workspace.close()
  rmSync(directory, { recursive: true })
  return { stdout, ours: ours.ok ? ours.stdout : ours.message }
}

it.runIf(process.platform === 'linux')('ls lists files and directories as that of GNU', async () => {
  const script = lines.map((line) => `echo '$ ${line}'; ${line}; echo "= $?"`).join('\n')
  const { stdout, ours } = await besideBash(script)
  expect(stdout.match(/^= /gm)).toHaveLength(lines.length)
  expect(ours).toBe(stdout)
})

const longLines = ['', '-a', '-A', '-d', '-F', '-r', '-R', '-h', '-laF', '-S', '-rS']
  .flatMap((option) =>
    ['', 'a.txt', 'to-a', 'to-d', 'to-d/', 'none x.sh', 'd to-none C.txt'].map((operand) => [option, operand]),
  )
  // The size of a directory is that of the file system.
  .filter(([option = '', operand = '']) => !/S/.test(option) || operand !== '')
  .map(([option, operand]) => `ls -l ${option} ${operand}`)

/** Lines of the long format without what differs by machine: owners, counts of links, sizes of directories and blocks. */
function comparable(text: string): string {
  return text
    .replaceAll(/^total .*$/gm, 'total')
    .replaceAll(
      /^([-dl][-rwx]{9}) +\d+ +\S+ +\S+ +(\S+) /gm,
      (_, mode, size) => `${mode} ${mode[0] === 'd' ? '' : size} `,
    )
    .replaceAll(/[A-Z][a-z]{2} [ \d]\d (\d\d:\d\d| \d{4})/g, 'time')
    .replaceAll(/^d.* (time \.{1,2}\/?)$/gm, '$1')
}

it.runIf(process.platform === 'linux')('ls -l shows modes, sizes and links as that of GNU', async () => {
  const prepare =
    'umask 022; printf %3000s x > large; echo >x.sh; chmod 755 x.sh; chmod 600 b.txt; ln -s a.txt to-a; ln -s d to-d; ln -s none to-none'
  const script = [prepare, ...longLines.map((line) => `echo '$ ${line}'; ${line} 2>/dev/null; echo "= $?"`)].join('\n')
  const { stdout, ours } = await besideBash(script)
  expect(stdout.match(/^= /gm)).toHaveLength(longLines.length)
  expect(comparable(String(ours))).toBe(comparable(stdout))
})

it('ls -l has the date of what changed last in a folder whose own date is not known', async () => {
  const workspace = await createWorkspace({
    backend: memory({ 'd/a': '', 'e/b': '' }),
    shell: bash(),
    policy: 'autonomous',
  })
  await workspace.call('run_command', { command: 'echo x > d/x' })
  const { stdout } = (await workspace.call('run_command', { command: 'ls -la; date "+%b %e %H:%M"' })) as {
    stdout?: string
  }
  const today = stdout?.trimEnd().split('\n').at(-1) ?? 'none'
  expect(stdout?.match(/^d.* (\.|d|e)$/gm)?.map((line) => line.includes(today))).toEqual([true, true, false])
  // It is sorted by the date that is shown.
  await setTimeout(2)
  await workspace.call('run_command', { command: 'echo x > e/x' })
  expect(await workspace.call('run_command', { command: 'ls -t; ls -tr' })).toMatchObject({ stdout: 'e\nd\nd\ne\n' })
  await workspace.close()
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
