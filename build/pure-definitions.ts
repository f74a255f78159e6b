import MagicString from 'magic-string'
import type { Plugin } from 'vite'

/**
 * Lets bundlers leave out the tools that a page does not import. Their schemas are built by chained calls, which no annotation
 * of a function covers, so each constant of a module is built inside a function whose call is marked as pure.
 */
export function pureDefinitions(): Plugin {
  return {
    name: 'pure-definitions',
    apply: 'build',
    enforce: 'post',
    transform: {
      filter: { id: /\/src\/tools\// },
      handler(code) {
        const text = new MagicString(code)
        for (const statement of this.parse(code).body) {
          const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
          if (declaration?.type !== 'VariableDeclaration') continue
          for (const { init } of declaration.declarations) {
            if (init?.type === 'CallExpression') text.appendLeft(init.start, OPEN).appendRight(init.end, CLOSE)
          }
        }
        return { code: text.toString(), map: text.generateMap({ hires: true }) }
      },
    },
  }
}

const OPEN = '/* @__PURE__ */ (() => '
const CLOSE = ')()'
