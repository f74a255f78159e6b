import { afterAll, describe, expect, it } from 'vitest'
import { nodeOf } from '../runtimes/node-versions.ts'
import { createFollower, managers, sectionsOf } from './follow-guide.ts'

const guides = ['start', 'edge', 'node', 'git', 'command-line', 'tests', 'migrate'].concat(
  ['backend', 'dialect', 'policy', 'shell', 'tool'].map((part) => `write-a-${part}`),
)
const sections = [...sectionsOf('README.md'), ...guides.flatMap((guide) => sectionsOf(`docs/guide/${guide}.md`))]
/** What the packages of these guides need. All others are followed in the Node of this process. */
const nodes: Readonly<Record<string, number>> = { 'docs/guide/edge.md': 24 }

const follower = createFollower()
afterAll(() => follower.remove())

describe.each(managers)('in an empty directory, with %s', (manager) => {
  it.each(sections.map((section) => [section.name, section] as const))(
    'each step of %s works',
    async (name, section) => {
      const version = nodes[name]
      expect(await follower.follow(section, manager, version === undefined ? undefined : nodeOf(version))).toEqual([])
    },
  )
})
