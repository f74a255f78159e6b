/** The parsed flags of a call. */
export interface Flags {
  /** Number of times a flag was set, by its canonical name. */
  readonly count: (name: string) => number
  /** The values of a flag, in order. */
  readonly values: (name: string) => readonly string[]
  readonly operands: readonly string[]
}

/** The flags of a command: from spellings (`-n`, `--line-number`) to the canonical name. */
export interface FlagTable {
  readonly plain: Readonly<Record<string, string>>
  readonly valued: Readonly<Record<string, string>>
}

/** Parses arguments as getopt does. Returns `undefined` if a flag is not in the table. */
export function parseFlags(args: readonly string[], { plain, valued }: FlagTable): Flags | undefined {
  const counts = new Map<string, number>()
  const values = new Map<string, string[]>()
  const operands: string[] = []
  const addValue = (name: string, value: string) => values.set(name, [...(values.get(name) ?? []), value])
  const nameIn = (table: Readonly<Record<string, string>>, flag: string) =>
    Object.hasOwn(table, flag) ? table[flag] : undefined

  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '--') {
      operands.push(...args.slice(i + 1))
      break
    }
    if (arg.startsWith('--')) {
      const equals = arg.indexOf('=')
      const flag = equals === -1 ? arg : arg.slice(0, equals)
      const name = nameIn(plain, flag)
      const valueName = nameIn(valued, flag)
      if (valueName !== undefined) {
        const value = equals === -1 ? args[++i] : arg.slice(equals + 1)
        if (value === undefined) return undefined
        addValue(valueName, value)
      } else if (name !== undefined && equals === -1) counts.set(name, (counts.get(name) ?? 0) + 1)
      else return undefined
    } else if (arg.startsWith('-') && arg !== '-') {
      for (let at = 1; at < arg.length; at++) {
        const flag = `-${arg[at]}`
        const name = nameIn(plain, flag)
        const valueName = nameIn(valued, flag)
        if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
        else if (valueName !== undefined) {
          const value = at + 1 < arg.length ? arg.slice(at + 1) : args[++i]
          if (value === undefined) return undefined
          addValue(valueName, value)
          break
        } else return undefined
      }
    } else operands.push(arg)
  }
  return { count: (name) => counts.get(name) ?? 0, values: (name) => values.get(name) ?? [], operands }
}

/** Returns the argument at which parsing fails. A flag without its value counts. */
export function unknownFlag(args: readonly string[], table: FlagTable): string | undefined {
  for (let count = args.length; count > 0; count--) {
    if (parseFlags(args.slice(0, count - 1), table) !== undefined) return args[count - 1]
  }
  return undefined
}
