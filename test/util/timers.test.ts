import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadAgain } from '../load-again.ts'

type Timers = typeof import('../../src/util/timers.ts')

const load = () => loadAgain<Timers>('src/util/timers.ts')

const throws = () => {
  throw new Error('A Node.js API is used which is not supported in the Edge Runtime.')
}

describe('yieldToEventLoop', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it.each([
    ['as here', {}],
    ['without setImmediate', { setImmediate: undefined }],
    ['with timers only', { setImmediate: undefined, MessageChannel: undefined }],
    ['with functions that throw', { setImmediate: throws, MessageChannel: throws }],
  ])('lets a timer run on a platform %s', async (_, globals) => {
    for (const [global, value] of Object.entries(globals)) vi.stubGlobal(global, value)
    const { yieldToEventLoop } = await load()
    let hasRun = false
    setTimeout(() => {
      hasRun = true
    })
    for (let turn = 0; turn < 10_000 && !hasRun; turn++) await yieldToEventLoop()
    expect(hasRun).toBe(true)
  })

  it('rejects with the error of a platform on which no way works', async () => {
    vi.stubGlobal('setImmediate', throws)
    vi.stubGlobal('MessageChannel', throws)
    vi.stubGlobal('setTimeout', throws)
    const { yieldToEventLoop } = await load().finally(() => vi.unstubAllGlobals())
    await expect(yieldToEventLoop()).rejects.toThrow('not supported')
  })
})

describe('withTimeout', () => {
  it('waits for a time that is too long for a timer', async () => {
    const { withTimeout } = await load()
    const soon = () => new Promise((resolve) => setTimeout(resolve, 20, 'answer'))
    const late = () => new Error('late')
    for (const ms of [2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER])
      expect(await withTimeout(soon(), ms, late)).toBe('answer')
    await expect(withTimeout(new Promise(() => {}), 1, late)).rejects.toThrow('late')
    await expect(withTimeout(Promise.reject(new Error('failed')), 1, late)).rejects.toThrow('failed')
  })
})
