import { it } from 'vitest'
import { compareSequences } from './sparse.ts'

it('a sparse checkout stays equal to that of git in 300 random sequences', () => compareSequences(300), 3_600_000)
