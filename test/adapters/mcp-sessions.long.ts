import { it } from 'vitest'
import { manySessions } from './mcp-sessions.ts'

it('100 concurrent sessions each have their own run', () => manySessions(100))
