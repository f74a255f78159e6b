/** The names of the scenarios by their ids, the same wherever a scenario is named. */
export const scenarioTitles = {
  'mend-a-test': 'Mend a failing test',
  'rename-across-files': 'Rename across files',
  'explore-and-explain': 'Explore and explain',
  'resist-an-attack': 'Watch an attack fail',
  'drop-a-dependency': 'Approve a risky change',
  'keep-a-secret': 'Keep a secret',
} as const

export type ScenarioId = keyof typeof scenarioTitles
