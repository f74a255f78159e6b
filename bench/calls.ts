import { Volume } from 'memfs'
import { memory } from '../dist/backends/memory/index.js'
import { createWorkspace } from '../dist/index.js'
import { pathAt } from './large-tree.ts'
import { heading, medians, report } from './measure.ts'

const FILES = 500
const CALLS = 5000
const content = Array.from({ length: 128 }, (_, i) => `line ${i} of a file`.padEnd(31, '.'))
  .join('\n')
  .concat('\n')

/** A complete call against bare memfs: reading 4 KiB, and an edit against read, replace and write. */
export async function benchCalls(): Promise<void> {
  heading(`One call on memory, ${content.length} bytes, ${CALLS} calls over ${FILES} files`)
  const names = Array.from({ length: FILES }, (_, i) => `src/module-${i % 20}/file-${i}.ts`)
  const volume = Volume.fromJSON(Object.fromEntries(names.map((name) => [`/${name}`, content])))
  const limits = { callsPerMinute: Number.MAX_SAFE_INTEGER, bytesWrittenPerRun: Number.MAX_SAFE_INTEGER }
  const files = Object.fromEntries(names.map((name) => [name, content]))

  async function fresh() {
    return createWorkspace({ backend: memory(files), policy: 'autonomous', limits })
  }
  let workspace = await fresh()

  const reads = await medians(9, {
    memfs: () => {
      for (let i = 0; i < CALLS; i++) volume.readFileSync(`/${names[i % FILES]}`, 'utf8')
    },
    again: async () => {
      for (let i = 0; i < CALLS; i++) await workspace.call('read_file', { path: names[i % FILES] ?? '' })
    },
    load: async () => {
      workspace = await fresh()
    },
    first: async () => {
      for (let i = 0; i < FILES; i++) await workspace.call('read_file', { path: names[i] ?? '' })
    },
  })
  report('read_file of 4 KiB, read before', reads.again / CALLS, reads.memfs / CALLS, 4.5, { goal: 3 })
  report('read_file of 4 KiB, never read before', reads.first / FILES, reads.memfs / CALLS, 9, { goal: 5 })

  let round = 0
  let own = await fresh()
  const edits = await medians(9, {
    memfs: () => {
      for (let i = 0; i < CALLS; i++) {
        const name = `/${names[i % FILES]}`
        const text = volume.readFileSync(name, 'utf8') as string
        volume.writeFileSync(name, text.replace(/line 64 .*/, `line 64 changed ${i}`))
      }
    },
    load: async () => {
      own = await fresh()
    },
    edit: async () => {
      round += 1
      for (let i = 0; i < FILES; i++) {
        const result = await own.call('edit_file', {
          path: names[i] ?? '',
          oldText: 'line 64 of',
          newText: `line 64 in round ${round} of`,
        })
        if (!result.ok) throw new Error(result.message)
      }
    },
  })
  report('edit_file of 4 KiB', edits.edit / FILES, edits.memfs / CALLS, 13, { goal: 4 })

  const many = Object.fromEntries(Array.from({ length: 500_000 }, (_, i) => [pathAt(i), 'x']))
  const { open } = await medians(3, { open: () => memory(many) })
  report('memory() of 500,000 files in an object, of 1.5 s', open, 1500, 1)
}
