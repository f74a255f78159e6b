import type { Scenario } from '../types.ts'
import { dropADependency } from './drop-a-dependency.ts'
import { exploreAndExplain } from './explore-and-explain.ts'
import { keepASecret } from './keep-a-secret.ts'
import { mendATest } from './mend-a-test.ts'
import { renameAcrossFiles } from './rename-across-files.ts'
import { resistAnAttack } from './resist-an-attack.ts'

/** What the scripted model can be watched at, in the order in which it is offered. */
export const scenarios: readonly Scenario[] = [
  mendATest,
  renameAcrossFiles,
  exploreAndExplain,
  resistAnAttack,
  dropADependency,
  keepASecret,
]

/** @throws TypeError where there is none */
export function scenarioById(id: string): Scenario {
  const scenario = scenarios.find((entry) => entry.id === id)
  if (scenario === undefined) throw new TypeError(`There is no scenario ${JSON.stringify(id)}`)
  return scenario
}
