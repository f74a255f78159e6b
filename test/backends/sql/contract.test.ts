import { afterAll, describe, it } from 'vitest'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { databases, subjectsIn } from './databases.ts'

for (const [name, { open }] of Object.entries(databases)) {
  const { create, dispose } = subjectsIn(open)
  registerContract(name, backendContract({ name, create }), { describe, it })
  afterAll(dispose)
}
