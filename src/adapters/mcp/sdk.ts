/*
 * The parts of the official SDK that the servers use. The build bundles the SDK into this module, so that the package does not
 * depend on it: most of its size is what these servers leave out.
 */
export type {
  CallToolResult,
  ClientCapabilities,
  CompleteResult,
  ElicitRequestFormParams,
  ElicitResult,
  EventStore,
  Implementation,
  InputRequiredResult,
  JSONRPCMessage,
  jsonSchemaValidator,
  ListResourcesResult,
  ListResourceTemplatesResult,
  PromptMessage,
  ReadResourceResult,
  ServerContext,
  Tool,
  Transport,
} from '@modelcontextprotocol/server'
export {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  isSpecType,
  ProtocolErrorCode,
  SdkErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
export { type StdioServerHandle, serveStdio } from '@modelcontextprotocol/server/stdio'
