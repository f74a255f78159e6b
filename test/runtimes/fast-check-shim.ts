import {
  assert as assertAll,
  default as fastCheck,
  type IAsyncProperty,
  type IProperty,
  type Parameters,
} from 'fast-check'

/**
 * How many runs of a property are enough to see that a runtime does as Node does, where the same runs in full. A
 * program may want another number.
 */
export const runs = { most: 20 }

/** What fast-check does where a test names no number. */
const USUAL_RUNS = 100

type Property<Ts> = IProperty<Ts> | IAsyncProperty<Ts>

/** fast-check with fewer runs: stands in for it where the tests run for the sake of a runtime. */
function assert<Ts>(property: Property<Ts>, parameters: Parameters<Ts> = {}): Promise<void> | void {
  const numRuns = Math.min(parameters.numRuns ?? USUAL_RUNS, runs.most)
  return assertAll(property as IProperty<Ts>, { ...parameters, numRuns })
}

export * from 'fast-check'
export { assert }
export default { ...fastCheck, assert }
