import type { Scenario } from '../types.ts'
import { dropADependency } from './drop-a-dependency.ts'
import { exploreAndExplain } from './explore-and-explain.ts'
import { keepASecret } from './keep-a-secret.ts'
import { mendATest } from './mend-a-test.ts'
import { renameAcrossFiles } from './rename-across-files.ts'
import { resistAnAttack } from './resist-an-attack.ts'

/** The scenarios of the scripted model, in display order. */
export const scenarios: readonly Scenario[] = [
  mendATest,
  renameAcrossFiles,
  exploreAndExplain,
  resistAnAttack,
  dropADependency,
  keepASecret,
]

/** @throws TypeError for an unknown id */
export function scenarioById(id: string): Scenario {
  const scenario = scenarios.find((entry) => entry.id === id)
  if (scenario === undefined) throw new TypeError(`There is no scenario ${JSON.stringify(id)}`)
  return scenario
}
