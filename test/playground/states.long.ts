import { expect, it } from 'vitest'
import { usePlayground } from './shared.ts'
import { faultsOf } from './state-faults.ts'
import { states } from './states.ts'

const playground = usePlayground()

it.each(Object.entries(states))(
  'in the state %s, every control has its place and axe finds no violation',
  async (name, reach) => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    const faults = await faultsOf(page, { [name]: reach })
    await page.context().close()
    expect(faults).toEqual([])
  },
)
