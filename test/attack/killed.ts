import { writeSync } from 'node:fs'
import { nodeBackend } from '../../src/backends/node/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Change } from '../../src/storage/backend.ts'
import { contentOf, SET_FILES, SINGLE } from './killed-files.ts'

/**
 * The victim, a process of its own: commits single files and sets without end, and tells each commit that was acknowledged
 * on its standard output. Arguments: the root, the state directory, the generations to go on from.
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

/** Files replaced, a file moved, a tree made and the last one removed, a link replaced: all of one generation. */
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

// The parent counts from the moment that work has begun.
for (let i = 1; ; i++) {
  const one = Number(single) + i
  await backend.commit([put(SINGLE, one)], durable)
  writeSync(1, `single ${one}\n`)
  const many = Number(set) + i
  await backend.commit(wholeSet(many), durable)
  writeSync(1, `set ${many}\n`)
}
