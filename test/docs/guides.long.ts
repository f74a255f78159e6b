import { afterAll, describe, expect, it } from 'vitest'
import { nodeOf } from '../runtimes/node-versions.ts'
import { createFollower, managers, sectionsOf } from './follow-guide.ts'

const guides = [
  'start',
  'browser',
  'edge',
  'node',
  'git',
  'databases',
  'command-line',
  'models',
  'tests',
  'migrate',
].concat(['backend', 'dialect', 'policy', 'shell', 'tool'].map((part) => `write-a-${part}`))
/** The headings of a guide among which a reader chooses. */
const choices: Readonly<Record<string, RegExp>> = {
  browser: /^### |^## (A small page|Headers|Real Node)/,
  models: /^## /,
}
const sections = [
  ...sectionsOf('README.md'),
  ...guides.flatMap((guide) => sectionsOf(`docs/guide/${guide}.md`, choices[guide])),
  // It adds to an application, which the matrix of bundlers has.
].filter(({ name }) => !name.endsWith(' Next'))
/** The Node that packages of these guides need. All others are followed in the Node of this process. */
const nodes: Readonly<Record<string, number>> = { browser: 24, edge: 24, models: 24 }

const follower = createFollower()
afterAll(() => follower.remove())

describe.each(managers)('in an empty directory, with %s', (manager) => {
  it.each(sections.map((section) => [section.name, section] as const))(
    'each step of %s works',
    async (name, section) => {
      const version = Object.entries(nodes).find(([guide]) => name.includes(`/${guide}.md`))?.[1]
      expect(await follower.follow(section, manager, version === undefined ? undefined : nodeOf(version))).toEqual([])
    },
  )
})
