import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toolRows } from './table.ts'

/** Excludes the type tests, which name every tool but call none. */
const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !path.endsWith('typed-call.test.ts'))
  .map((path) => readFileSync(`test/${path}`, 'utf8'))

describe('the table of tools', () => {
  it.each(toolRows.map(([name]) => name))('%s has a test in addition to its row: add one in test/tools/', (name) => {
    expect(tests.some((text) => text.includes(`'${name}'`))).toBe(true)
  })
})
