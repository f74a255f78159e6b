import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'

interface Outcome {
  readonly name: string
  readonly ended?: boolean
  readonly code?: string
  readonly paths?: readonly string[]
}

/** Runs all cases in a thread. Resolves when it ends, or when one case blocks it for ten seconds. */
async function outcomes(): Promise<readonly Outcome[]> {
  const worker = new Worker(new URL('root-calls.mjs', import.meta.url), { execArgv: [] })
  const all: Outcome[] = []
  await new Promise<void>((resolve, reject) => {
    let timer = setTimeout(resolve, 30_000)
    worker.on('message', (outcome: Outcome) => {
      all.push(outcome)
      clearTimeout(timer)
      timer = setTimeout(resolve, 10_000)
    })
    worker.on('error', reject)
    worker.on('exit', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  await worker.terminate()
  return all
}

it('every call on the root and every copy of a directory into itself ends, and copies nothing', async () => {
  const all = await outcomes()
  const begun = all.filter(({ ended }) => ended === undefined).map(({ name }) => name)
  const ended = all.filter(({ ended }) => ended === true)
  expect(begun.filter((name) => !ended.some((outcome) => outcome.name === name))).toEqual([])
  expect(begun.length).toBeGreaterThan(150)
  const copies = ended.filter(({ name }) => /cp\(/.test(name))
  for (const { name, code, paths } of copies) {
    expect([name, code]).toEqual([name, 'ERR_FS_CP_EINVAL'])
    expect([name, paths?.length]).toEqual([name, 8])
  }
}, 60_000)
