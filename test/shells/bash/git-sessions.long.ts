import { it } from 'vitest'
import { compareSessions } from './git-sessions.ts'

it('git in bash() has the effects of the real git in many sessions', () => compareSessions(150), 1_800_000)
