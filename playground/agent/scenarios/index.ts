import type { Scenario } from '../types.ts'
import { mendATest } from './mend-a-test.ts'

/** What the scripted model can be watched at, in the order in which it is offered. */
export const scenarios: readonly Scenario[] = [mendATest]

/** @throws TypeError where there is none */
export function scenarioById(id: string): Scenario {
  const found = scenarios.find((scenario) => scenario.id === id)
  if (found === undefined) throw new TypeError(`There is no scenario ${JSON.stringify(id)}`)
  return found
}
