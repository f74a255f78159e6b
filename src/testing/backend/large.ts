import { same } from '../assert.ts'
import { at, type BackendCase, change, commit, directory, file, textAt } from './case.ts'

/** How large the largest trees of the contract are. */
export interface ContractScale {
  /** Files in one directory. */
  readonly files: number
  /** Directories below each other. */
  readonly depth: number
}

/** A wide directory and a deep one. */
export const largeCases = ({ files, depth }: ContractScale): readonly BackendCase[] => [
  {
    name: `a directory of ${files.toLocaleString('en')} files lists and reads them all`,
    async test({ backend }) {
      const names = Array.from({ length: files }, (_, i) => `f${i}`)
      await commit(backend, change('d', directory), ...names.map((name) => change(`d/${name}`, file(name))))
      same(
        (await backend.list(at('d'))).map(({ name }) => name),
        [...names].sort((a, b) => (a < b ? -1 : 1)),
        'names',
      )
      for (const name of new Set([0, 77, files >> 1, files - 1].map((i) => `f${Math.min(i, files - 1)}`)))
        same(await textAt(backend, `d/${name}`), name, name)
      await commit(backend, ...names.map((name) => change(`d/${name}`, null)), change('d', null))
      same(await backend.list(at('')), [], 'after deleting them')
    },
  },
  {
    name: `a path of depth ${depth} works`,
    async test({ backend }) {
      const parts = Array.from({ length: depth }, (_, i) => `d${i % 10}`)
      const paths = parts.map((_, i) => parts.slice(0, i + 1).join('/'))
      const deepest = `${parts.join('/')}/leaf`
      await commit(backend, ...paths.map((path) => change(path, directory)), change(deepest, file('deep')))
      same(await textAt(backend, deepest), 'deep', 'content')
      same(await backend.canonical(at(deepest)), deepest, 'canonical')
      await commit(backend, change(deepest, null), ...paths.map((path) => change(path, null)))
      same(await backend.list(at('')), [], 'after deleting it')
    },
  },
]
