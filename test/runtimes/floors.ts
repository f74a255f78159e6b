import { isLong, times } from '../counts.ts'
import { TESTS } from './cell.ts'

type Rows = Readonly<Record<string, number>>

/** In `npm test`, the runtimes share the test files, which have different numbers of tests. */
const tests = times(100, 440)

/** In `npm test`, three ways to open one kind of storage share the cases of the contract. */
const [packed, files] = [times(30, 104), times(20, 82)]

const disk: Rows = { memory: 104, memfs: 101, node: 103, overlay: 104, mounts: 104 }
/** In `npm test`, two runtimes share the cases of the contracts. */
const [memory, bash] = [times(48, 104), times(14, 33)]
const shared: Rows = isLong ? disk : { memory, memfs: 46, node: 47, overlay: memory, mounts: memory }

/**
 * Minimum number of passed cases per cell. A missing cell, or one with fewer cases, fails the check. In the order of the
 * table.
 */
export const floors: Readonly<Record<string, Rows>> = {
  Node: { ...disk, bash: 33, [TESTS]: 450 },
  Chromium: {
    memory,
    'OPFS packed, worker': packed,
    'OPFS packed, page over worker': packed,
    'OPFS packed, page': packed,
    'OPFS files, worker': files,
    'OPFS files, page': files,
    'directory handle, page': files,
    bash,
    'bash, Web Worker': 33,
    [TESTS]: tests,
  },
  workerd: { memory, 'Durable Object': 104, R2: times(47, 104), bash, [TESTS]: tests },
  Deno: { ...shared, bash, [TESTS]: tests },
  Bun: { ...shared, bash, [TESTS]: tests },
}
