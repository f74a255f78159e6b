import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../../src/errors.ts'
import { createRates } from '../../src/policy/rate.ts'

const limits = { callsPerMinute: 3, bytesReadPerRun: 100, bytesWrittenPerRun: 100 }

function refusal(run: () => void): ToolError | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
}

describe('calls', () => {
  it('are refused over the limit, with the time to wait, which then suffices', () => {
    let now = 1000
    const rates = createRates({ limits, clock: () => now })
    for (const at of [1000, 2000, 3000]) {
      now = at
      rates.call('x')
    }
    now = 10_000
    const error = refusal(() => rates.call('x'))
    expect(error).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterMs: 51_000, value: 3 } })
    now += 50_999
    expect(refusal(() => rates.call('x'))).toBeDefined()
    now += 1
    rates.call('x')
    expect(refusal(() => rates.call('x'))).toMatchObject({ details: { retryAfterMs: 1000 } })
  })

  it('of one tool have a limit of their own, and count for all', () => {
    const rates = createRates({ limits, toolCallsPerMinute: { slow: 1 }, clock: () => 0 })
    rates.call('slow')
    expect(refusal(() => rates.call('slow'))?.message).toContain('slow')
    rates.call('a')
    rates.call('b')
    expect(refusal(() => rates.call('c'))?.message).not.toContain('slow')
    expect(refusal(() => rates.call('__proto__'))).toBeDefined()
  })

  it('agree with a plain count of the calls of the last minute', () => {
    const steps = fc.array(fc.record({ wait: fc.nat({ max: 30_000 }), tool: fc.constantFrom('a', 'b') }), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5 }), (list, most, ofA) => {
        let now = 0
        const rates = createRates({
          limits: { ...limits, callsPerMinute: most },
          toolCallsPerMinute: { a: ofA },
          clock: () => now,
        })
        const counted: { at: number; tool: string }[] = []
        for (const { wait, tool } of list) {
          now += wait
          const recent = counted.filter(({ at }) => now - at < 60_000)
          const fits = recent.length < most && (tool !== 'a' || recent.filter((call) => call.tool === 'a').length < ofA)
          const error = refusal(() => rates.call(tool))
          expect(error === undefined).toBe(fits)
          if (fits) counted.push({ at: now, tool })
          else expect(error?.details.retryAfterMs).toBeGreaterThan(0)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('are not let through by a clock that goes back', () => {
    let now = 100_000
    const rates = createRates({ limits, clock: () => now })
    for (let i = 0; i < 3; i++) rates.call('x')
    now = 0
    expect(refusal(() => rates.call('x'))?.details.retryAfterMs).toBe(60_000)
  })
})

describe('bytes written', () => {
  it('are refused over the limit, whatever was refused before', () => {
    const rates = createRates({ limits, clock: () => 0 })
    rates.writes(60)
    expect(refusal(() => rates.writes(41))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'bytesWrittenPerRun' },
    })
    rates.writes(40)
    expect(refusal(() => rates.writes(1))).toBeDefined()
    rates.unwritten(40)
    rates.writes(40)
  })
})
