import { afterEach, describe, expect, it, vi } from 'vitest'
import { anySignal } from '../../src/util/abort.ts'

describe.each([
  ['with AbortSignal.any', AbortSignal.any],
  ['without it', undefined],
])('anySignal on a platform %s', (_, any) => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })
  const withAny = <T>(run: () => T): T => {
    vi.stubGlobal(
      'AbortSignal',
      class extends AbortSignal {
        static override readonly any = any as typeof AbortSignal.any
      },
    )
    return run()
  }

  it.each([0, 1])('aborts once, with the reason of signal %i', (index) => {
    withAny(() => {
      const controllers = [new AbortController(), new AbortController()]
      const signal = anySignal(controllers[0]?.signal, undefined, controllers[1]?.signal)
      const reasons: unknown[] = []
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      expect(signal.aborted).toBe(false)
      controllers[index]?.abort('first')
      controllers[1 - index]?.abort('second')
      expect(reasons).toEqual(['first'])
    })
  })

  it('is aborted already if one signal is', () => {
    withAny(() => {
      expect(anySignal(new AbortController().signal, AbortSignal.abort('before'))).toMatchObject({
        aborted: true,
        reason: 'before',
      })
    })
  })
})
