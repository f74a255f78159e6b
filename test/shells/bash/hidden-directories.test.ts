import { describe, expect, it } from 'vitest'
import type { PolicyInput } from '../../../src/index.ts'
import { shellBench } from '../setup.ts'

const policy: PolicyInput = {
  preset: 'autonomous',
  rules: [
    {
      name: 'private',
      action: 'deny',
      permissions: ['file:read', 'file:list', 'file:search'],
      paths: ['kept', 'kept/**'],
    },
  ],
}
const tree = { 'a.txt': 'A\n', 'kept/k': 'K\n', 't/kept/m': 'M\n', 't/o': 'O\n' }

/** Runs a line in a workspace with a hidden directory. Returns the outcome and the files after it. */
async function run(line: string) {
  const bench = await shellBench(tree, { policy })
  const { exitCode, stderr } = await bench.run(line)
  const files = await bench.snapshot()
  return { exitCode, stderr, paths: Object.keys(files), files }
}

describe('bash() below a directory that is hidden but may be changed', () => {
  it.each([
    ['mkdir kept/x', ['kept/x']],
    ['mkdir -p kept', []],
    ['mkdir -p kept/x', ['kept/x']],
    ['mkdir -p kept/x/y && echo 1 > kept/x/y/z', ['kept/x', 'kept/x/y', 'kept/x/y/z']],
    ['echo 1 > kept/x', ['kept/x']],
    ['cp a.txt kept', ['kept/a.txt']],
    ['cp a.txt kept/', ['kept/a.txt']],
    ['cp a.txt kept/b', ['kept/b']],
    ['cp -r t/. .', ['kept/m', 'o']],
    ['cp -r t/kept .', ['kept/m']],
    ['cp -r t/kept kept/..', ['kept/m']],
    ['cp -r t/kept/. kept', ['kept/m']],
    ['cp -r t/kept t/o .', ['kept/m', 'o']],
    ['cp -r t kept', ['kept/t', 'kept/t/kept', 'kept/t/kept/m', 'kept/t/o']],
    ['cp -r t kept/', ['kept/t', 'kept/t/kept', 'kept/t/kept/m', 'kept/t/o']],
    ['cp -r t kept/new', ['kept/new', 'kept/new/kept', 'kept/new/kept/m', 'kept/new/o']],
    ['mv a.txt kept', ['kept/a.txt'], ['a.txt']],
    ['mv a.txt kept/', ['kept/a.txt'], ['a.txt']],
    ['mv a.txt kept/b', ['kept/b'], ['a.txt']],
    ['mv t kept/', ['kept/t', 'kept/t/kept', 'kept/t/kept/m', 'kept/t/o'], ['t', 't/kept', 't/kept/m', 't/o']],
    ['touch kept/q', ['kept/q']],
    ['tee kept/q < a.txt', ['kept/q']],
    ["printf -- '--- /dev/null\\n+++ b/kept/n/n.txt\\n@@ -0,0 +1 @@\\n+x\\n' | patch -p1", ['kept/n', 'kept/n/n.txt']],
  ])('works: %s', async (line, added, removed: readonly string[] = []) => {
    const before = await run('true')
    const { exitCode, stderr, paths } = await run(line)
    expect([exitCode, stderr]).toEqual([0, ''])
    const expected = [...before.paths.filter((path) => !removed.includes(path)), ...added]
    expect(paths.sort()).toEqual(expected.sort())
  })

  it.each([
    ['mkdir kept', 'File exists'],
    ['mv t/kept .', 'directory not empty'],
    ['echo 1 > kept', 'Is a directory'],
    ['cp a.txt kept/k', 'Permission denied'],
    ['mv a.txt kept/k', 'Permission denied'],
  ])('says why it fails and changes nothing: %s', async (line, reason) => {
    const before = await run('true')
    const { exitCode, stderr, files } = await run(line)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(reason)
    expect(files).toEqual(before.files)
  })
})
