import { describe, it } from 'vitest'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { onDisk } from '../../contract/on-disk.ts'

registerContract('node', backendContract({ name: 'node', create: () => onDisk() }), { describe, it })
registerContract(
  'node, checking paths before and after',
  backendContract({
    name: 'node, checking paths before and after',
    create: () => onDisk({ grounding: 'recheck' }),
  }),
  { describe, it },
)
