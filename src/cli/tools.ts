import { styleText } from 'node:util'
import { toJsonSchema } from '../adapters/json-schema/index.ts'
import { memory } from '../backends/memory/index.ts'
import { createWorkspace } from '../workspace/create-workspace.ts'
import { dialectOf } from './dialect.ts'
import { configOf } from './options.ts'
import { parseWords } from './parse-words.ts'
import { requireDirectories, rootsOf } from './roots.ts'
import { shellOf } from './shell.ts'

/** `wardspace tools`: lists the tools, also those of a shell or a dialect, as a table or as JSON Schema. */
export async function tools(words: string[]): Promise<number> {
  const { values } = parseWords('tools', words, 0)
  const readOnly = values['read-only'] === true
  const dialect = await dialectOf(values.dialect)
  const roots = rootsOf(values.root)
  requireDirectories(roots)
  const environment = { roots, overlay: false, readOnly }
  const shell = await shellOf(values.shell, environment)
  const options = {
    backend: memory(),
    // The tools are those of a policy only if one is named.
    policy: values.policy === undefined ? ('autonomous' as const) : (await configOf(values, dialect)).policy,
    readOnly,
    ...(shell === undefined ? {} : { shell }),
  }
  const workspace = await (dialect === undefined ? createWorkspace(options) : createWorkspace({ ...options, dialect }))
  print(workspace.tools, values.json === true)
  await workspace.close()
  return 0
}

function print(descriptions: Parameters<typeof toJsonSchema>[0], asJson: boolean): void {
  if (asJson) {
    process.stdout.write(`${JSON.stringify(toJsonSchema(descriptions), null, 2)}\n`)
    return
  }
  for (const { name, description, mutates } of descriptions) {
    process.stdout.write(
      `${styleText('bold', `${name.padEnd(17)} `)}${mutates ? 'changes ' : 'reads   '}${description}\n`,
    )
  }
}
