import type { DialectToolInfo } from '../../dialects/runtime/types.ts'

/** A definition that names a tool by a type which the API knows. */
export interface NativeTool {
  readonly type: string
  readonly name: string
  readonly [field: string]: unknown
}

/**
 * Of a dialect's tools those that an API knows by a type of its own, as it takes them: in a request they stand in place of
 * the schemas of the same names. Their calls are answered as any others; that of a custom tool of OpenAI's Responses API has
 * a text as `input`, which is handed on as `arguments`.
 *
 * @example
 * const spoken = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: anthropic() })
 * const native = nativeTools(spoken.tools, 'anthropic')
 * const known = new Set(native.map(({ name }) => name))
 * const tools = [...native, ...anthropicTools(spoken).tools.filter(({ name }) => !known.has(name))]
 */
export function nativeTools(tools: readonly DialectToolInfo[], api: 'anthropic' | 'openai'): NativeTool[] {
  return tools.flatMap(({ name, native }) => {
    const definition = native?.[api]
    return definition === undefined ? [] : [{ ...definition, name }]
  })
}
