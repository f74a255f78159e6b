/** How the lines of the page are run. */
export type Kind =
  /** The program asks a model, which makes the calls. */
  | 'model'
  /** The program is a client of the Model Context Protocol, and makes the calls itself. */
  | 'client'
  /** The block is the configuration of a client, with a command that forwards to a running server. */
  | 'proxy'
  /** The block is a command for a terminal. */
  | 'command'

/** A framework, with the versions that are tested. */
export interface Row {
  readonly name: string
  /** The name of its lines in `docs/guide/models.md`: `<!-- framework: NAME -->`. */
  readonly block: string
  readonly kind: Kind
  readonly packages: Readonly<Record<string, string>>
  /** Whether the packages run in Node 20. Otherwise Node 24 runs them. */
  readonly runsInNode20: boolean
  /** Changes the text of a result as the framework does before it sends it to the model. */
  readonly present?: (text: string, isError: boolean) => string
}

/** All frameworks whose lines the documentation has. */
export const rows: readonly Row[] = [
  {
    name: 'AI SDK 7',
    block: 'ai-sdk',
    kind: 'model',
    packages: { ai: '7.0.173', '@ai-sdk/anthropic': '4.0.105' },
    runsInNode20: false,
  },
  {
    name: 'AI SDK 6',
    block: 'ai-sdk',
    kind: 'model',
    packages: { ai: '6.0.326', '@ai-sdk/anthropic': '3.0.138' },
    runsInNode20: true,
  },
  {
    name: 'Mastra',
    block: 'mastra',
    kind: 'model',
    packages: { '@mastra/core': '1.71.0' },
    runsInNode20: false,
  },
  {
    name: 'LangChain',
    block: 'langchain',
    kind: 'model',
    packages: { langchain: '1.5.14', '@langchain/core': '1.4.0', '@langchain/anthropic': '1.5.11' },
    runsInNode20: true,
  },
  {
    name: 'OpenAI SDK, Responses',
    block: 'openai-responses',
    kind: 'model',
    packages: { openai: '7.57.0' },
    runsInNode20: false,
  },
  {
    name: 'OpenAI SDK, Chat Completions',
    block: 'openai-chat',
    kind: 'model',
    packages: { openai: '7.57.0' },
    runsInNode20: false,
  },
  {
    name: 'OpenAI Agents',
    block: 'openai-agents',
    kind: 'model',
    packages: { '@openai/agents': '0.20.0' },
    runsInNode20: false,
  },
  {
    name: 'Anthropic SDK, toolRunner',
    block: 'anthropic',
    kind: 'model',
    packages: { '@anthropic-ai/sdk': '1.12.0' },
    runsInNode20: true,
    present: (text, isError) => (isError ? `Error: ${text}` : text),
  },
  {
    name: 'LlamaIndex',
    block: 'llamaindex',
    kind: 'model',
    packages: { '@llamaindex/workflow': '1.1.25', '@llamaindex/openai': '0.4.23', llamaindex: '0.12.1' },
    runsInNode20: true,
    // LlamaIndex sends a result as JSON without its quotation marks.
    present: (text) => JSON.stringify(text).replace(/"([^"]*)"/g, '$1'),
  },
  {
    name: '@ai-sdk/mcp',
    block: 'ai-sdk-mcp',
    kind: 'model',
    packages: { '@ai-sdk/mcp': '2.0.99', ai: '7.0.173', '@ai-sdk/anthropic': '4.0.105' },
    runsInNode20: false,
  },
  {
    name: 'MCP client 2',
    block: 'mcp-client-2',
    kind: 'client',
    packages: { '@modelcontextprotocol/client': '2.4.0' },
    runsInNode20: true,
  },
  {
    name: 'MCP client 1',
    block: 'mcp-client-1',
    kind: 'client',
    packages: { '@modelcontextprotocol/sdk': '1.32.2' },
    runsInNode20: true,
  },
  {
    name: 'mcp-remote',
    block: 'mcp-remote',
    kind: 'proxy',
    packages: { 'mcp-remote': '0.15.1', '@modelcontextprotocol/client': '2.4.0' },
    runsInNode20: true,
  },
  {
    name: 'MCP inspector',
    block: 'mcp-inspector',
    kind: 'command',
    packages: { '@modelcontextprotocol/inspector': '2.12.0' },
    runsInNode20: false,
  },
]
