import { it } from 'vitest'
import { compareSessions } from './git-sessions.ts'

it('git in bash() does in a session what the real git does, and tells the same', () => compareSessions(3), 120_000)
