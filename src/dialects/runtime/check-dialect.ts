import { didYouMean } from '../../util/check-options.ts'
import type { Dialect } from './types.ts'

/**
 * Checks that the tools of a dialect misspell no name of a tool: such a name would make a tool vanish, because a dialect omits
 * tools that the workspace cannot serve. A name that resembles none is that of an own tool which this workspace does not have.
 *
 * @param toolNames the built-in tools and the own tools of the workspace, also those that it does not register
 * @throws TypeError with the tool and the nearest name
 */
export function checkDialect(dialect: Dialect, toolNames: readonly string[]): void {
  for (const { name, uses, mayUse = [] } of dialect.tools) {
    const label = `Tool ${JSON.stringify(name)} of the dialect ${JSON.stringify(dialect.name)}`
    if (!Array.isArray(uses)) throw new TypeError(`${label}: "uses" must be a list of tool names`)
    for (const [field, names] of Object.entries({ uses, mayUse })) {
      for (const used of names) {
        const help = toolNames.includes(used) ? '' : didYouMean(String(used), toolNames)
        if (help !== '')
          throw new TypeError(`${label}: "${field}" names the unknown tool ${JSON.stringify(used)}${help}`)
      }
    }
  }
}
