import { it } from 'vitest'
import { compareSessions } from './git-sessions.ts'

it('git in bash() has the effects and the output of the real git in a session', () => compareSessions(3), 120_000)
