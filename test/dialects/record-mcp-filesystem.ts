import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cases } from './mcp-filesystem-cases.ts'
import { shortened } from './mcp-filesystem-compare.ts'
import { askReference } from './reference-server.ts'

/** `tsx test/dialects/record-mcp-filesystem.ts`: makes all calls of the reference server again and writes its answers. */
const file = join(import.meta.dirname, 'fixtures/mcp-filesystem.json')
writeFileSync(file, `${JSON.stringify(shortened(await askReference(cases)), null, 1)}\n`)
