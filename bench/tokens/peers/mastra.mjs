// Run in the folder where the package is installed: node mastra.mjs ROOT CALLS
import { createWorkspaceTools, LocalFilesystem, LocalSandbox, Workspace } from '@mastra/core/workspace'

const [root, calls] = [process.argv[2], JSON.parse(process.argv[3])]
const workspace = new Workspace({
  filesystem: new LocalFilesystem({ basePath: root }),
  sandbox: new LocalSandbox({ workingDirectory: root, env: process.env }),
})
await workspace.init()
const tools = await createWorkspaceTools(workspace)
const definitions = Object.entries(tools).map(([name, { description, inputSchema }]) => {
  const { $schema, ...input_schema } = inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' })
  return { name, description, input_schema }
})
const results = []
for (const { tool, input } of calls) {
  const result = await tools[tool].execute(input, { workspace })
  results.push(typeof result === 'string' ? result : JSON.stringify(result))
}
process.stdout.write(`\n${JSON.stringify({ definitions, results })}`, () => process.exit(0))
