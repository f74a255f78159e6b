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

/** Returns what inspects a program, by its name or one with a version, a system or a variant: `x86_64-linux-gnu-gcc-12`, `vim.tiny`. */
export function findInspector(plain: string): Inspector | undefined {
  const known = table.get(plain)
  if (known !== undefined || plain.length > MAX_NAME) return known
  // The dynamic loader has a name for each system: ld-linux-x86-64.so.2.
  if (/^ld(\d+|[-.]\S*)?\.so(\.\d+)*$/.test(plain)) return table.get('ld.so')
  const parts = PROCESSOR.test(plain) ? plain.split('-') : []
  for (const name of [plain, ...parts.map((_, index) => parts.slice(index + 1).join('-'))]) {
    for (let short = name, longer = ''; short !== longer; ) {
      const inspector = table.get(short)
      if (inspector !== undefined) return inspector
      longer = short
      short = short.replace(SYSTEM_SUFFIX, '').replace(VARIANT, '').replace(VERSION, '')
    }
  }
  return undefined
}

/** Whether a program has an inspector of its own name, or is a version or a variant of a language, shell or build tool. */
export function isInspected(plain: string): boolean {
  const inspector = findInspector(plain)
  return inspector !== undefined && (table.get(plain) === inspector || versioned.has(inspector))
}

/** Characters of a name that is compared in its parts. */
const MAX_NAME = 100

const processor =
  '(?:x86_64|amd64|i[3-6]86|aarch64|arm\\w*|riscv(?:32|64)|powerpc\\w*|ppc\\w*|s390x?|mips\\w*|sparc\\w*|hppa|ia64|alpha|m68k|sh4|loongarch64)-'
const PROCESSOR = new RegExp(`^${processor}`)
const SYSTEM_SUFFIX = new RegExp(`-${processor}\\w+(-\\w+)*$`)
const VERSION = /-?\d+(\.\d+)*(d?[mu]{0,2}|td?)(-?(beta|rc)\d*)?$/
const VARIANT =
  /[.-](basic|tiny|nox|gtk\d?|lucid|athena|motif|static|dbg|dev|multiarch|openbsd|traditional|universal|exuberant|emacs|cli|cgi|fpm|wrapper|ul|win32|posix)$/

/** Whether a command is a tool or an interpreter, and not one that only starts others. */
export function isTool(plain: string): boolean {
  const inspector = findInspector(plain)
  return tools.some((known) => known === inspector)
}

const versioned: ReadonlySet<Inspector | undefined> = new Set([
  ...Object.values(interpreters),
  ...Object.values(launchers),
  ...Object.values(packageManagers),
  programs.gcc,
])

const tools: readonly (Inspector | undefined)[] = [
  ...Object.values(interpreters),
  ...Object.values(programs),
  launchers.find,
]
