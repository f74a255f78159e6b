import type { Page } from 'playwright'
import { expect } from 'vitest'

/** Returns the processor time, in milliseconds, of the longest task of the page while something happens. */
export async function longestTask(page: Page, act: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser()
  await browser?.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] })
  await act()
  const trace = String(await browser?.stopTracing())
  const { traceEvents } = JSON.parse(trace) as { readonly traceEvents: readonly TraceEvent[] }
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
  const threads = new Set(mains.map(threadOf))
  const tasks = traceEvents.filter((event) => event.name.endsWith('RunTask') && threads.has(threadOf(event)))
  expect(tasks.length).toBeGreaterThan(0)
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Microseconds of the processor. */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}
