import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../../src/errors.ts'
import { createRates } from '../../src/policy/rate-limits.ts'

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
  it('are refused over the limit with a waiting time that suffices', () => {
    let now = 1000
    const rates = createRates({ limits, clock: () => now })
    for (const at of [1000, 2000, 3000]) {
      now = at
      rates.countCall('x')
    }
    now = 10_000
    const error = refusal(() => rates.countCall('x'))
    expect(error).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterMs: 51_000, value: 3 } })
    now += 50_999
    expect(refusal(() => rates.countCall('x'))).toBeDefined()
    now += 1
    rates.countCall('x')
    expect(refusal(() => rates.countCall('x'))).toMatchObject({ details: { retryAfterMs: 1000 } })
  })

  it('of one tool have a separate limit and count for the total', () => {
    const rates = createRates({ limits, toolCallsPerMinute: { slow: 1 }, clock: () => 0 })
    rates.countCall('slow')
    expect(refusal(() => rates.countCall('slow'))?.message).toContain('slow')
    rates.countCall('a')
    rates.countCall('b')
    expect(refusal(() => rates.countCall('c'))?.message).not.toContain('slow')
    expect(refusal(() => rates.countCall('__proto__'))).toBeDefined()
  })

  it('report the limit and the longer waiting time of two', () => {
    let now = 0
    const rates = createRates({ limits, toolCallsPerMinute: { slow: 1 }, clock: () => now })
    for (const tool of ['other', 'other', 'slow']) {
      rates.countCall(tool)
      now += 10_000
    }
    expect(refusal(() => rates.countCall('slow'))).toMatchObject({
      message: 'More than 1 call of slow per minute',
      details: { limit: 'callsPerMinute', value: 1, retryAfterMs: 50_000, hint: 'Slow down; call again in 50 s.' },
    })
    expect(refusal(() => rates.countCall('other'))).toMatchObject({
      message: 'More than 3 calls per minute',
      details: { limit: 'callsPerMinute', value: 3, retryAfterMs: 30_000, hint: 'Slow down; call again in 30 s.' },
    })
  })

  it('are counted correctly after the oldest calls expired', () => {
    for (const maxCalls of [16, 17, 40, 100]) {
      let now = 0
      const rates = createRates({ limits: { ...limits, callsPerMinute: maxCalls }, clock: () => now })
      const counted: number[] = []
      const steps = [...Array(12).fill(5), 59_970, ...Array(300).fill(7), 59_000, ...Array(300).fill(3)]
      for (const wait of steps) {
        now += wait
        const recent = counted.filter((at) => now - at < 60_000)
        const error = refusal(() => rates.countCall('x'))
        expect(error?.details.retryAfterMs).toBe(
          recent.length < maxCalls ? undefined : Number(recent[0]) + 60_000 - now,
        )
        if (error === undefined) counted.push(now)
      }
      expect(counted.length).toBeGreaterThan(maxCalls)
    }
  })

  it('agree with a count of the calls of the last minute', () => {
    const steps = fc.array(fc.record({ wait: fc.nat({ max: 30_000 }), tool: fc.constantFrom('a', 'b') }), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5 }), (list, limit, ofA) => {
        let now = 0
        const rates = createRates({
          limits: { ...limits, callsPerMinute: limit },
          toolCallsPerMinute: { a: ofA },
          clock: () => now,
        })
        const counted: { at: number; tool: string }[] = []
        for (const { wait, tool } of list) {
          now += wait
          const recent = counted.filter(({ at }) => now - at < 60_000)
          const fits =
            recent.length < limit && (tool !== 'a' || recent.filter((call) => call.tool === 'a').length < ofA)
          const error = refusal(() => rates.countCall(tool))
          expect(error === undefined).toBe(fits)
          if (fits) counted.push({ at: now, tool })
          else expect(error?.details.retryAfterMs).toBeGreaterThan(0)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('are not allowed by a clock that goes backwards', () => {
    let now = 100_000
    const rates = createRates({ limits, clock: () => now })
    for (let i = 0; i < 3; i++) rates.countCall('x')
    now = 0
    expect(refusal(() => rates.countCall('x'))?.details.retryAfterMs).toBe(60_000)
  })
})

describe('bytes read', () => {
  it('are refused over the limit, independently of earlier refusals', () => {
    const rates = createRates({ limits, clock: () => 0 })
    rates.countRead(60)
    expect(refusal(() => rates.countRead(41))).toMatchObject({ details: { limit: 'bytesReadPerRun', value: 100 } })
    rates.countRead(40)
    expect(refusal(() => rates.countRead(1))).toMatchObject({ code: 'LIMIT_EXCEEDED' })
    rates.countWrite(100)
  })
})

describe('bytes written', () => {
  it('are refused over the limit, independently of earlier refusals', () => {
    const rates = createRates({ limits, clock: () => 0 })
    rates.countWrite(60)
    expect(refusal(() => rates.countWrite(41))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'bytesWrittenPerRun' },
    })
    rates.countWrite(40)
    expect(refusal(() => rates.countWrite(1))).toBeDefined()
    rates.refundWrite(40)
    expect(refusal(() => rates.countWrite(41))).toBeDefined()
    rates.countWrite(40)
    rates.refundWrite(1000)
    expect(refusal(() => rates.countWrite(101))).toBeDefined()
    rates.countWrite(100)
  })
})
