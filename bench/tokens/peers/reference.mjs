// Run in the folder where the packages are installed: node reference.mjs ROOT CALLS
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const [root, calls] = [process.argv[2], JSON.parse(process.argv[3])]
const client = new Client({ name: 'bench', version: '1' })
const server = 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'
await client.connect(new StdioClientTransport({ command: process.execPath, args: [server, root], stderr: 'ignore' }))
const { tools } = await client.listTools()
const definitions = tools.map(({ name, description, inputSchema }) => {
  const { $schema, ...input_schema } = inputSchema
  return { name, description, input_schema }
})
const results = []
for (const { tool: name, input } of calls) {
  const { content } = await client.callTool({ name, arguments: input })
  results.push(content.map(({ text }) => text).join('\n'))
}
await client.close()
process.stdout.write(`\n${JSON.stringify({ definitions, results })}`, () => process.exit(0))
