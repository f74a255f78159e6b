import {
  assert as assertAll,
  default as fastCheck,
  type IAsyncProperty,
  type IProperty,
  type Parameters,
} from 'fast-check'

/**
 * Number of runs of a property, enough to show that a runtime behaves like Node, which runs all. A program may set another
 * number.
 */
export const runs = { most: 20 }

/** The default number of runs of fast-check. */
const USUAL_RUNS = 100

type Property<Ts> = IProperty<Ts> | IAsyncProperty<Ts>

/** fast-check with fewer runs, for tests of runtimes. */
function assert<Ts>(property: Property<Ts>, parameters: Parameters<Ts> = {}): Promise<void> | void {
  const numRuns = Math.min(parameters.numRuns ?? USUAL_RUNS, runs.most)
  return assertAll(property as IProperty<Ts>, { ...parameters, numRuns })
}

export * from 'fast-check'
export { assert }
export default { ...fastCheck, assert }
