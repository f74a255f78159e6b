import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toJsonSchema } from '../../src/adapters/json-schema.ts'
import { memory } from '../../src/backends/memory.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem.ts'
import { createWorkspace } from '../../src/index.ts'
import { cases } from './mcp-filesystem-cases.ts'
import { compareCase } from './mcp-filesystem-compare.ts'
import type { Recorded } from './reference-server.ts'

const recorded: Recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/mcp-filesystem.json'), 'utf8'))

describe('the tools of the MCP reference filesystem server', () => {
  it('are all there, with its names, schemas and annotations', async () => {
    const { tools } = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: mcpFilesystem() })
    const schemas = new Map(toJsonSchema(tools).map((tool) => [tool.name, tool]))
    const ours = tools.map(({ name, title, annotations }) => {
      const { inputSchema, outputSchema } = schemas.get(name) ?? {}
      return { name, title, annotations, inputSchema, outputSchema }
    })
    const theirs = recorded.tools.map(({ name, title, annotations, inputSchema, outputSchema }) => {
      return { name, title, annotations, inputSchema, outputSchema }
    })
    const byName = (a: { name: unknown }, b: { name: unknown }) => (String(a.name) < String(b.name) ? -1 : 1)
    expect(plainSchemas(ours).sort(byName)).toEqual(plainSchemas(theirs).sort(byName))
  })

  it.each(cases)('$name', async (one) => compareCase(one, recorded))
})

/** Without what says the same in either version of JSON Schema. */
function plainSchemas<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (key, part) => {
    if (key === '$schema' || (key === 'additionalProperties' && part === false)) return undefined
    return part
  })
}
