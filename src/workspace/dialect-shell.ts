import { atShellRoot } from '../dialects/runtime/dialect-factory.ts'
import { createPathMapping, type PathMapping } from '../dialects/runtime/path-mapping.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import type { Shell } from '../shells/types.ts'

/** A dialect and a shell that name the workspace alike. */
export interface DialectShell {
  readonly dialect: Dialect
  readonly shell: Shell | undefined
}

const commandTools: ReadonlySet<string> = new Set(['run_command', 'start_command'])

/**
 * Lets the tools of a dialect and the commands of a shell name the workspace alike. The shell takes the name that the dialect has
 * for the root of the workspace; or else a dialect whose caller named no roots takes that of the shell. A dialect without a name
 * for it, such as one of relative paths, accepts the paths of the shell too. The dialect may be invalid, and is returned unchanged
 * then, as is one with the root `/`.
 *
 * @throws TypeError if both have a name of their own, and the dialect does not accept that of the shell
 */
export function agreeOnRoot(dialect: Dialect, shell: Shell | undefined): DialectShell {
  if (shell?.root === undefined || !hasCommands(dialect)) return { dialect, shell }
  const { root } = shell
  const { pathMapping } = dialect
  const name = pathMapping.roots.find((virtual) => pathMapping.inward(virtual) === '.')
  if (name === '/' || name === root) return { dialect, shell }
  if (name !== undefined && shell.acceptsRoot?.(name) === true) return { dialect, shell: movedShell(shell, name) }
  const moved = name === undefined ? undefined : atShellRoot(dialect, root)
  if (moved !== undefined) return { dialect: moved, shell }
  const translated = pathMapping.inward(root)
  if (translated === '.' || (translated === root && name === undefined)) {
    return { dialect: { ...dialect, pathMapping: withShellPaths(pathMapping, root) }, shell }
  }
  throw disagreement(dialect, name ?? root, shell, root)
}

function disagreement({ name, pathMapping }: Dialect, dialectRoot: string, shell: Shell, root: string): TypeError {
  const [dialectText, shellText] = [`the dialect ${JSON.stringify(name)}`, `the shell ${JSON.stringify(shell.name)}`]
  const directory = pathMapping.inward(root)
  const message =
    directory === root
      ? `T${dialectText.slice(1)} has the root ${JSON.stringify(dialectRoot)}, but commands of ${shellText} see the workspace at "${root}". Add "${root}": "" to the roots of the dialect.`
      : `The root "${root}" of ${dialectText} is ${JSON.stringify(directory)}, but commands of ${shellText} see the whole workspace there. Give one of them another root.`
  return new TypeError(message)
}

function hasCommands(dialect: Dialect): boolean {
  const { pathMapping, tools }: Partial<Dialect> = Object(dialect)
  if (!Array.isArray(tools) || !Array.isArray(Object(pathMapping).roots)) return false
  return tools.some((tool) => Array.isArray(tool?.uses) && tool.uses.some((name: string) => commandTools.has(name)))
}

/** Returns the mapping, which also accepts the paths that commands see. */
function withShellPaths(pathMapping: PathMapping, root: string): PathMapping {
  const shellPaths = createPathMapping({ [root]: '' })
  return {
    ...pathMapping,
    inward(path) {
      const translated = pathMapping.inward(path)
      return translated === path ? shellPaths.inward(path) : translated
    },
    shellPath: shellPaths.outward,
  }
}

/** Returns the shell with the workspace at another path. */
function movedShell(shell: Shell, root: string): Shell {
  const { name, capabilities, start } = shell
  return {
    ...{ name, capabilities, root },
    judge: (line, options) => shell.judge(line, { ...options, root }),
    run: (command) => shell.run({ ...command, root }),
    ...(start === undefined ? {} : { start: (command) => start.call(shell, { ...command, root }) }),
    close: () => shell.close(),
  }
}
