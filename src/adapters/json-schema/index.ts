/**
 * The tools of a workspace for any model API: complete contracts, compact definitions, results as text, and all of these in the forms
 * of OpenAI, Anthropic, Gemini and LlamaIndex.
 */
export {
  type AnthropicBlock,
  type AnthropicCall,
  type AnthropicOptions,
  type AnthropicResult,
  type AnthropicRunContext,
  type AnthropicTool,
  anthropicTools,
} from '../model/anthropic.ts'
export type { PendingCall } from '../model/framework-approvals.ts'
export {
  type GeminiCall,
  type GeminiOptions,
  type GeminiResult,
  type GeminiTool,
  geminiTools,
} from '../model/gemini.ts'
export { type LlamaIndexTool, llamaIndexTools } from '../model/llama-index.ts'
export type { MediaOptions } from '../model/media.ts'
export { type ModelTool, modelTools } from '../model/model-tools.ts'
export { type NativeTool, nativeTools } from '../model/native.ts'
export {
  type OpenAiAgentOptions,
  type OpenAiAgentPart,
  type OpenAiCall,
  type OpenAiCallDetails,
  type OpenAiChatCall,
  type OpenAiChatResult,
  type OpenAiChatTool,
  type OpenAiFunction,
  type OpenAiOptions,
  type OpenAiParameters,
  type OpenAiPart,
  type OpenAiResult,
  type OpenAiTool,
  openAiChatTools,
  openAiTools,
} from '../model/openai.ts'
export { toModelText } from '../model/result-text.ts'
export type { CallableDialectTools, CallableTools, OfferOptions } from '../model/select-tools.ts'
export { type JsonSchemaTool, toJsonSchema } from '../model/tool-schema.ts'
export type { Toolbox } from '../model/toolbox.ts'
