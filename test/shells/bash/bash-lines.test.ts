import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { bash } from '../../../src/shells/bash/index.ts'
import { isLong } from '../../counts.ts'
import { shellBench, unjudged } from '../setup.ts'
import { bashFiles, bashLines, type RecordedLine } from './bash-lines.ts'

const shell = bash({ worker: false })
afterAll(() => shell.close())

it('runs lines as bash does', async () => {
  const results: RecordedLine[] = []
  for (const [line] of bashLines) {
    const { run, workspace } = await shellBench(bashFiles, { shell: unjudged({ ...shell, close: async () => {} }) })
    const { stdout, exitCode, stderr } = await run(line)
    results.push([line, String(stdout).replaceAll('/workspace', '~'), Number(exitCode), stderr !== ''])
    await workspace.close()
  }
  expect(results).toEqual(bashLines)
})

const version = spawnSync('bash', ['-c', 'echo $BASH_VERSION'], { encoding: 'utf8' }).stdout ?? ''

// The table has the answers of bash 5.2. Other versions have other messages and operators (macOS has 3.2, without `|&`), and a bash
// of Windows has other paths.
it.runIf(isLong && process.platform !== 'win32' && version.startsWith('5.2'))('knows what bash 5.2 does', () => {
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-lines-'))
  try {
    for (const [path, content] of Object.entries(bashFiles)) {
      mkdirSync(dirname(join(directory, 'files', path)), { recursive: true })
      writeFileSync(join(directory, 'files', path), content)
    }
    for (const [index, [line]] of bashLines.entries()) {
      writeFileSync(join(directory, `line${index}`), line)
      cpSync(join(directory, 'files'), join(directory, `run${index}`), { recursive: true })
    }
    // The output of a line is a pipe, as that of a program is.
    const runAll = `for ((i = 0; i < ${bashLines.length}; i++)); do
      cd '${directory}'/run$i
      { { HOME=$PWD bash -c "$(cat ../line$i)" bash < /dev/null 3>&-; echo $? > ../code$i; } 2>&3 | cat > ../out$i; } 3>&1 | cat > ../err$i
    done`
    execFileSync('bash', ['-c', runAll])
    const read = (name: string) => readFileSync(join(directory, name), 'utf8')
    const results = bashLines.map(([line], index): RecordedLine => {
      const stdout = read(`out${index}`).replaceAll(join(directory, `run${index}`), '~')
      return [line, stdout, Number(read(`code${index}`)), read(`err${index}`) !== '']
    })
    expect(results).toEqual(bashLines)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
