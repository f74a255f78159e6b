import { describe, it } from 'vitest'
import { memory } from '../../src/backends/memory.ts'
import { backendContract, registerContract } from '../../src/testing/index.ts'

const create = () => ({ backend: memory() })
registerContract('memory', backendContract({ name: 'memory', create }), { describe, it })
