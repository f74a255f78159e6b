import type { Row } from './rows.ts'

/** A framework that asks in its own flow. */
export interface ApprovalRow extends Omit<Row, 'kind' | 'present'> {
  /** What its version calls otherwise than the page, as the page says. */
  readonly renamed?: readonly (readonly [from: string, to: string])[]
}

/** The frameworks that ask in their own flow, with the versions that are tested. */
export const approvalRows: readonly ApprovalRow[] = [
  {
    name: 'AI SDK 7, approvals',
    block: 'ai-sdk-approvals',
    packages: { ai: '7.0.173', '@ai-sdk/anthropic': '4.0.105' },
    runsInNode20: false,
    renamed: [
      ['content, response }', 'content, responseMessages }'],
      ['response.messages', 'responseMessages'],
    ],
  },
  {
    name: 'AI SDK 6, approvals',
    block: 'ai-sdk-approvals',
    packages: { ai: '6.0.326', '@ai-sdk/anthropic': '3.0.138' },
    runsInNode20: true,
  },
  {
    name: 'LangChain, approvals',
    block: 'langchain-approvals',
    packages: {
      langchain: '1.5.14',
      '@langchain/core': '1.4.0',
      '@langchain/langgraph': '1',
      '@langchain/anthropic': '1.5.11',
    },
    runsInNode20: true,
  },
  {
    name: 'OpenAI Agents, approvals',
    block: 'openai-agents-approvals',
    packages: { '@openai/agents': '0.20.0' },
    runsInNode20: false,
  },
  {
    name: 'Mastra, approvals',
    block: 'mastra-approvals',
    packages: { '@mastra/core': '1.71.0' },
    runsInNode20: false,
  },
]
