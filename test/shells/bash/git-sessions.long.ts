import { it } from 'vitest'
import { compareSessions } from './git-sessions.ts'

it('git in bash() does in many sessions what the real git does', () => compareSessions(150), 1_800_000)
