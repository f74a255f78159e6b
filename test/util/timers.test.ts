import { afterEach, describe, expect, it, vi } from 'vitest'

const throws = () => {
  throw new Error('A Node.js API is used which is not supported in the Edge Runtime.')
}

describe('yieldToEventLoop', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  it.each([
    ['as here', {}],
    ['without setImmediate', { setImmediate: undefined }],
    ['with timers only', { setImmediate: undefined, MessageChannel: undefined }],
    ['with functions that throw', { setImmediate: throws, MessageChannel: throws }],
  ])('lets a timer run on a platform %s', async (_, globals) => {
    vi.resetModules()
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
    const { yieldToEventLoop } = await import('../../src/util/timers.ts')
    let hasRun = false
    setTimeout(() => {
      hasRun = true
    })
    for (let turn = 0; turn < 10_000 && !hasRun; turn++) await yieldToEventLoop()
    expect(hasRun).toBe(true)
  })

  it('rejects with the error of a platform on which no way works', async () => {
    vi.resetModules()
    vi.stubGlobal('setImmediate', throws)
    vi.stubGlobal('MessageChannel', throws)
    vi.stubGlobal('setTimeout', throws)
    const { yieldToEventLoop } = await import('../../src/util/timers.ts').finally(() => vi.unstubAllGlobals())
    await expect(yieldToEventLoop()).rejects.toThrow('not supported')
  })
})
