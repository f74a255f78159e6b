import { styleText } from 'node:util'
import { toJsonSchema } from '../adapters/json-schema.ts'
import { memory } from '../backends/memory.ts'
import { createWorkspace } from '../workspace.ts'
import { dialectOf } from './dialect.ts'
import { parseOptions } from './options.ts'

/** `wardspace tools`: what can be called, in a dialect if one is named, as a table or as JSON Schema. */
export async function tools(words: string[]): Promise<number> {
  const { values } = parseOptions(words, 0)
  const readOnly = values['read-only'] === true
  const dialect = dialectOf(values.dialect)
  const wanted = { backend: memory(), policy: 'autonomous', readOnly } as const
  const workspace = await (dialect === undefined ? createWorkspace(wanted) : createWorkspace({ ...wanted, dialect }))
  if (values.json === true) {
    process.stdout.write(`${JSON.stringify(toJsonSchema(workspace.tools), null, 2)}\n`)
    return 0
  }
  for (const { name, description, mutates } of workspace.tools) {
    process.stdout.write(
      `${styleText('bold', `${name.padEnd(17)} `)}${mutates ? 'changes ' : 'reads   '}${description}\n`,
    )
  }
  return 0
}
