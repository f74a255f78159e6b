import { afterAll, describe, expect, it } from 'vitest'
import { bash } from '../../../src/shells/bash/index.ts'
import type { Shell } from '../../../src/shells/types.ts'
import { isLong } from '../../counts.ts'
import { shellBench, unjudged } from '../setup.ts'
import { standInForWorkers } from './web-worker.ts'

const workers = standInForWorkers()
const inThread = bash()
const here = bash({ worker: false })
afterAll(async () => {
  await inThread.close()
  workers.close()
})

const token = `ghp_${'a1B2'.repeat(9)}`
const tree = {
  'a.txt': 'a\n',
  'full.txt': `${'b'.repeat(995)}\n`,
  'marked.txt': `x ${token} y\n`,
  'deny/a.txt': 'd\n',
  'final/a.txt': 'r\n',
  'build/a.js': 'x\n',
  '.env': 'X=1\n',
}
const policy = {
  preset: 'autonomous',
  readOnlyPaths: ['final/**'],
  rules: [{ name: 'closed', action: 'deny', permissions: ['file:change'], paths: ['deny/**'] }],
} as const

/** A file that cannot be written, by the code of the refusal. */
const targets: readonly (readonly [path: string, code: string])[] = [
  ['deny/a.txt', 'POLICY_DENIED'],
  ['deny/new.txt', 'POLICY_DENIED'],
  ['final/a.txt', 'READ_ONLY'],
  ['.env', 'POLICY_DENIED_SECRET'],
  ['build/a.js', 'POLICY_DENIED'],
  ['.git/config', 'POLICY_DENIED'],
  ['/etc/hosts', 'PATH_REJECTED'],
]

/** Lines that write `n` to a file, in every form that opens it or writes to it. */
const forms = (path: string): readonly string[] => [
  ...[`echo n > ${path}`, `echo n >> ${path}`, `: > ${path}`, `> ${path}`, `echo n >| ${path}`, `echo n &> ${path}`],
  ...[`{ echo n; } > ${path}`, `{ echo n; } >> ${path}`, `(echo n) > ${path}`, `f() { echo n > ${path}; }; f`],
  ...[`for i in 1; do echo n; done > ${path}`, `for i in 1 2; do echo n >> ${path}; done`, `ls none 2> ${path}`],
  ...[`if true; then echo n; fi >> ${path}`, `while read l; do echo n; done < a.txt > ${path}`, `ls none 2>> ${path}`],
  ...[
    `exec 3> ${path}; echo n >&3`,
    `exec 3>> ${path}; echo n >&3`,
    `exec > ${path}; echo n`,
    `x=$(echo n >> ${path})`,
  ],
  ...[`cat <<X > ${path}\nn\nX`, `echo n | tee ${path}`, `echo n | tee -a ${path}`, `cp a.txt ${path}`],
  ...[`sort -o ${path} a.txt`, `bash -c "echo n >> ${path}"`, `eval "echo n > ${path}"`, `cp a.txt z && mv z ${path}`],
  ...[
    `awk 'BEGIN { print 1 > "${path}" }'`,
    `awk 'BEGIN { print 1 >> "${path}" }'`,
    `touch ${path}`,
    `cat <(echo n >> ${path})`,
  ],
]

async function run(shell: Shell, line: string) {
  const bench = await shellBench(tree, { shell: unjudged(shell), policy, limits: { commandFileBytes: 1000 } })
  const before = await bench.snapshot()
  const result = await bench.run(line)
  const codes = bench.workspace
    .auditRecords()
    .flatMap(({ code, refusals = [] }) => [...(code === undefined ? [] : [code]), ...refusals.map((one) => one.code)])
  return { before, after: await bench.snapshot(), result, codes }
}

describe.each([
  ['in a Web Worker', inThread],
  ['in the thread of its caller', here],
])('a refused write %s', (_, shell) => {
  it.each(targets)('to %s is reported as %s, for every form of a command', async (path, code) => {
    // In `npm test`, the shells take turns with the forms.
    const turn = shell === here ? 0 : 1
    for (const line of forms(path).filter((_, at) => isLong || at % 2 === turn)) {
      const { before, after, result, codes } = await run(shell, line)
      expect({ line, codes: [...new Set(codes)] }).toEqual({ line, codes: [code] })
      expect({ line, code: result.ok ? code : result.code }).toEqual({ line, code })
      const { z: _, ...others } = after
      expect({ line, files: others }).toEqual({ line, files: before })
    }
  })

  it.each([
    ['LIMIT_EXCEEDED', 'printf "%2000s" x > a.txt'],
    ['LIMIT_EXCEEDED', 'printf "%2000s" x >> a.txt'],
    ['LIMIT_EXCEEDED', 'echo 123456 >> full.txt'],
    ['LIMIT_EXCEEDED', 'exec 3> a.txt; printf "%2000s" x >&3'],
    ['LIMIT_EXCEEDED', '{ printf "%2000s" x; } > a.txt'],
    ['LIMIT_EXCEEDED', 'printf "%2000s" x | tee a.txt'],
    ['POLICY_DENIED_SECRET', 'cat marked.txt | tr -d " " > marked.txt'],
    ['POLICY_DENIED_SECRET', 'cat marked.txt | sed "s/x /x/" > marked.txt'],
    ['POLICY_DENIED_SECRET', 'echo "a$(cut -d" " -f2 marked.txt)" >> marked.txt'],
    ['POLICY_DENIED_SECRET', 'sed -i "s/x /x/" marked.txt'],
  ])('of content is reported as %s and loses nothing: %s', async (code, line) => {
    const { before, after, result, codes } = await run(shell, line)
    expect([...new Set(codes)]).toEqual([code])
    expect(result.ok ? code : result.code).toBe(code)
    expect(JSON.stringify(result)).not.toContain('could not go on')
    expect(after).toEqual(before)
  })
})
