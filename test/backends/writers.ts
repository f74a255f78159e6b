import { sha256 } from '../../src/files/hash/sha256.ts'
import { ToolError } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'

const path = 'count.txt' as Path
const durable = { durability: 'durable' } as const

/** Lets each backend add one to the number in a file some times. Returns the number at the end, and how often another writer came first. */
export async function countTogether(
  backends: readonly Backend[],
  rounds: number,
): Promise<{ readonly count: number; readonly conflicts: number }> {
  const [first] = backends as [Backend]
  await first.commit([{ path, expect: 'absent', to: { type: 'file', bytes: new Uint8Array([48]) } }], durable)
  let conflicts = 0
  await Promise.all(
    backends.map(async (backend) => {
      for (let i = 0; i < rounds; i++) conflicts += await addOne(backend)
    }),
  )
  return { count: await countIn(first), conflicts }
}

async function countIn(backend: Backend): Promise<number> {
  return Number(new TextDecoder().decode((await backend.read(path)).bytes))
}

/** Adds one until no other writer came first. */
async function addOne(backend: Backend): Promise<number> {
  for (let conflicts = 0; ; conflicts++) {
    const { bytes } = await backend.read(path)
    const next = new TextEncoder().encode(String(Number(new TextDecoder().decode(bytes)) + 1))
    try {
      await backend.commit([{ path, expect: { sha256: sha256(bytes) }, to: { type: 'file', bytes: next } }], durable)
      return conflicts
    } catch (error) {
      if (!(error instanceof ToolError && error.code === 'WRITE_CONFLICT')) throw error
    }
  }
}
