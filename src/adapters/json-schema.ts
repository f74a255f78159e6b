/**
 * The tools of a workspace for any model API: their whole contracts, what a model needs of them, and how each result is told to
 * it.
 */
export { type JsonSchemaTool, toJsonSchema } from './model/contract.ts'
export { type ModelTool, modelTools } from './model/model-tools.ts'
export { projected } from './model/projected.ts'
