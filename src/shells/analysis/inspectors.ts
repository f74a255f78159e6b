import { builtins } from './builtins.ts'
import { git } from './git-options.ts'
import type { Inspector } from './inspector.ts'
import { interpreters } from './interpreters.ts'
import { launchers } from './launchers.ts'
import { packageManagers } from './package-managers.ts'
import { programs } from './programs.ts'
import { wrappers } from './wrappers.ts'

/** All commands that start others, run code, or change the behaviour of later commands. */
const table: ReadonlyMap<string, Inspector> = new Map(
  [builtins, wrappers, launchers, interpreters, programs, packageManagers, { git, hub: git }].flatMap((part) =>
    Object.entries(part),
  ),
)

export function findInspector(plain: string): Inspector | undefined {
  // The dynamic loader has a name for each system: ld-linux-x86-64.so.2.
  return (
    table.get(/^ld([-.]\S*)?\.so(\.\d+)*$/.test(plain) ? 'ld.so' : plain) ??
    table.get(plain.replace(/-?\d+(\.\d+)*$/, ''))
  )
}

/** Whether a command is a tool or an interpreter, and not one that only starts others. */
export function isTool(plain: string): boolean {
  const inspector = findInspector(plain)
  return tools.some((known) => known === inspector)
}

const tools: readonly (Inspector | undefined)[] = [
  ...Object.values(interpreters),
  ...Object.values(programs),
  launchers.find,
]
