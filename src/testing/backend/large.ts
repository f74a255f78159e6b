import { same } from '../assert.ts'
import { at, type BackendCase, change, commit, directory, file, textAt } from './case.ts'

/** Sizes of the largest trees in the contract. */
export interface ContractScale {
  /** Files in one directory. */
  readonly files: number
  /** Levels of nested directories. */
  readonly depth: number
}

/** Returns the cases for a wide directory and a deep path. */
export const largeCases = ({ files, depth }: ContractScale): readonly BackendCase[] => [
  {
    name: `list and read work in a directory of ${files.toLocaleString('en')} files`,
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
      same(await backend.list(at('')), [], 'entries after deleting all')
    },
  },
  {
    name: `a path of depth ${depth} can be committed and read`,
    async test({ backend }) {
      const parts = Array.from({ length: depth }, (_, i) => `d${i % 10}`)
      const paths = parts.map((_, i) => parts.slice(0, i + 1).join('/'))
      const deepest = `${parts.join('/')}/leaf`
      await commit(backend, ...paths.map((path) => change(path, directory)), change(deepest, file('deep')))
      same(await textAt(backend, deepest), 'deep', 'content')
      same(await backend.canonical(at(deepest)), deepest, 'canonical')
      await commit(backend, change(deepest, null), ...paths.map((path) => change(path, null)))
      same(await backend.list(at('')), [], 'entries after deleting all')
    },
  },
]
