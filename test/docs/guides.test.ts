import { afterAll, describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import { createFollower, sectionsOf } from './follow-guide.ts'

const follower = createFollower({ links: true })
afterAll(() => follower.remove())

describe('the steps of docs/guide/start.md, in an empty directory with npm', () => {
  it.runIf(isLong)('all work', async () => {
    for (const section of sectionsOf('docs/guide/start.md')) expect(await follower.follow(section, 'npm')).toEqual([])
  })
})
