import { describe, it } from 'vitest'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { onDisk } from '../../contract/on-disk.ts'

/** `test/contract/backends.test.ts` runs the contract with the default options. */
registerContract(
  'node, checking paths before and after',
  backendContract({
    name: 'node, checking paths before and after',
    create: () => onDisk({ grounding: 'recheck' }),
  }),
  { describe, it },
)
