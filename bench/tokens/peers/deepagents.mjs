// Run in the folder where the package is installed: node deepagents.mjs ROOT CALLS
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { createFilesystemMiddleware, LocalShellBackend } from 'deepagents'

const [root, calls] = [process.argv[2], JSON.parse(process.argv[3])]
const { tools } = createFilesystemMiddleware({
  backend: new LocalShellBackend({ rootDir: root, virtualMode: true, inheritEnv: true }),
})
const definitions = tools.map((tool) => {
  const { name, description, parameters } = convertToOpenAITool(tool).function
  const { $schema, ...input_schema } = parameters
  return { name, description, input_schema }
})
const results = []
for (const { tool: name, input: args } of calls) {
  const tool = tools.find((each) => each.name === name)
  const { content } = await tool.invoke({ type: 'tool_call', id: 'c', name, args }, { state: {}, configurable: {} })
  results.push(typeof content === 'string' ? content : content.map(({ text }) => text).join('\n'))
}
process.stdout.write(`\n${JSON.stringify({ definitions, results })}`, () => process.exit(0))
