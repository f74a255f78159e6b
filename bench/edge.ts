import { startWorker, subjectBindings } from '../test/edge/workerd.ts'

/** Prints the time of calls in a Durable Object, in real workerd on this machine. Run it with `npx tsx bench/edge.ts`. */
const workerd = await startWorker('worker.ts', subjectBindings)
const answer = await workerd.dispatchFetch('http://edge/measure')
for (const [label, ms] of Object.entries((await answer.json()) as Record<string, number>)) {
  console.log(`${label.padEnd(12)} ${(ms * 1000).toFixed(0).padStart(6)} µs`)
}
await workerd.dispose()
