import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { blocksOf } from './blocks.ts'

const top = join(import.meta.dirname, '../..')
const page = 'docs/guide/write-a-backend.md'
/** Inside the package, so that the code imports it by its own name, as built. */
const directory = join(top, 'dist/examples/backend-guide')

const [backend, withStore] = blocksOf(page, readFileSync(join(top, page), 'utf8')).filter(
  ({ language }) => language === 'ts',
)
const { code } = await transform(withStore?.code ?? '', { loader: 'ts', format: 'esm', target: 'es2022' })
mkdirSync(directory, { recursive: true })
writeFileSync(join(directory, 'key-value.mjs'), code)
const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(file).href)
const { keyValue, keyValueInMemory } = await load(join(directory, 'key-value.mjs'))
const { backendContract, registerContract } = await load(join(top, 'dist/testing/index.js'))

afterAll(() => rmSync(directory, { recursive: true, force: true }))

const create = () => {
  const store = keyValueInMemory()
  return { backend: keyValue(store), reopen: () => keyValue(store) }
}
const cases: { readonly name: string; run(): Promise<{ readonly skipped?: string }> }[] = backendContract({
  name: 'guide',
  create,
})
registerContract('the key-value backend of the guide', cases, { describe, it })

describe('the backend guide', () => {
  it('builds its backend in fewer than 85 lines', () => {
    expect(backend?.code.trim().split('\n').length).toBeLessThan(85)
  })
})
