import { describe, expect, it } from 'vitest'
import type { BackendSubject } from '../../../src/testing/index.ts'
import { times } from '../../counts.ts'
import { type Crashed, crashEverywhere, type Failing } from './crashes.ts'
import type { Asked } from './crashes-worker.ts'
import { pageSubjects } from './subjects.ts'

/** In `npm test`, each call fails either once or with all that follow. */
const STEP = times(2, 1)

/** `packed.test.ts` tests the packed layout against many kinds of faults. */
describe('storage that fails at any call leaves no partial set', () => {
  it.each<[string, Failing]>([
    ['OPFS files, page', 'once'],
    ['directory handle, page', 'dead'],
  ])('%s, %s', async (name, failing) => {
    const create = pageSubjects()[name] as () => Promise<BackendSubject>
    expectWhole(await crashEverywhere(create, failing, STEP))
  })

  it.each<[string, Failing]>([
    ['OPFS files, worker', 'once'],
    ['OPFS files, worker', 'dead'],
  ])('%s, %s', async (subject, failing) => {
    expectWhole(await inWorker({ subject, failing, step: STEP }))
  })
})

function expectWhole({ outcomes, faults }: Crashed): void {
  expect(faults.join('\n')).toBe('')
  expect(outcomes.old).toBeGreaterThan(times(2, 5))
  expect(outcomes.new).toBeGreaterThan(times(0, 1))
}

async function inWorker(request: Asked): Promise<Crashed> {
  const worker = new Worker(new URL('./crashes-worker.ts', import.meta.url), { type: 'module' })
  try {
    return await new Promise<Crashed>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.postMessage(request)
    })
  } finally {
    worker.terminate()
  }
}
