import type { DialectToolInfo } from '../../dialects/runtime/types.ts'
import { checkArgument, isOneOf, refuseSurplus } from '../../util/check-options.ts'
import { isToolList } from './select-tools.ts'

/** A definition of a tool that the API has built in. */
export interface NativeTool {
  readonly type: string
  readonly name: string
  readonly [field: string]: unknown
}

/**
 * Returns the definitions of a dialect's tools that an API has built in. In a request they replace the schemas with the same names.
 * Their calls are answered like any others. The call of a custom tool of OpenAI's Responses API has a text as `input`: pass it as
 * `arguments`.
 *
 * @example
 * const withDialect = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: anthropic() })
 * const native = nativeTools(withDialect.tools, 'anthropic')
 * const names = new Set(native.map(({ name }) => name))
 * const tools = [...native, ...anthropicTools(withDialect).tools.filter(({ name }) => !names.has(name))]
 */
export function nativeTools(tools: readonly DialectToolInfo[], api: 'anthropic' | 'openai'): NativeTool[] {
  refuseSurplus('nativeTools()', 2, arguments)
  checkArgument('nativeTools()', 'tools', tools, isToolList)
  checkArgument('nativeTools()', 'api', api, isOneOf('anthropic', 'openai'))
  return tools.flatMap(({ name, native }) => {
    const definition = native?.[api]
    return definition === undefined ? [] : [{ ...definition, name }]
  })
}
