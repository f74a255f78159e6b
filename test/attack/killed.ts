import { writeSync } from 'node:fs'
import { nodeBackend } from '../../src/backends/node/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Change } from '../../src/storage/backend.ts'
import { contentOf, SET_FILES, SINGLE } from './killed-files.ts'

/**
 * The victim process: commits single files and sets in an endless loop, and writes each acknowledged commit to standard
 * output. Arguments: the root, the state directory, and the last generation of the single file and of the set.
 */
const [root = '', stateDir = '', single = '0', set = '0'] = process.argv.slice(2)

const backend = nodeBackend(root, { stateDir })
const durable = { durability: 'durable' } as const

const put = (path: string, generation: number, more: Partial<Change> = {}): Change => ({
  path: path as Path,
  expect: 'any',
  to: { type: 'file', bytes: contentOf(path, generation) },
  ...more,
})
const absent = (path: string): Change => ({ path: path as Path, expect: 'any', to: null })
const directory = (path: string): Change => ({ path: path as Path, expect: 'any', to: { type: 'directory' } })

/** The set of one generation: replaces files and a link, moves a file, creates a tree and deletes the previous one. */
function wholeSet(generation: number): Change[] {
  const old = generation - 1
  return [
    ...SET_FILES.map((path) => put(path, generation)),
    absent(`moved-${old}`),
    { ...put('moved', 0), path: `moved-${generation}` as Path, from: `moved-${old}` as Path },
    absent(`tree-${old}/below/file`),
    absent(`tree-${old}/below`),
    absent(`tree-${old}`),
    directory(`tree-${generation}`),
    directory(`tree-${generation}/below`),
    put(`tree-${generation}/below/file`, generation),
    { path: 'link' as Path, expect: 'any', to: { type: 'link', target: `tree-${generation}/below` } },
  ]
}

// The parent measures from the first output.
for (let i = 1; ; i++) {
  const one = Number(single) + i
  await backend.commit([put(SINGLE, one)], durable)
  writeSync(1, `single ${one}\n`)
  const many = Number(set) + i
  await backend.commit(wholeSet(many), durable)
  writeSync(1, `set ${many}\n`)
}
