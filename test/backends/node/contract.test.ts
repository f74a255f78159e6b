import { describe, it } from 'vitest'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { onDisk } from '../../contract/on-disk.ts'

/** As it is by itself, the backend keeps it in `test/contract/backends.test.ts`. */
registerContract(
  'node, checking paths before and after',
  backendContract({
    name: 'node, checking paths before and after',
    create: () => onDisk({ grounding: 'recheck' }),
  }),
  { describe, it },
)
