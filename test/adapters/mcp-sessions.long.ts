import { it } from 'vitest'
import { manySessions } from './mcp-sessions.ts'

it('100 sessions at once are each a run of its own', () => manySessions(100))
