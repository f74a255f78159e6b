import { type Argument, knownText, mayBeOption } from './words.ts'

/** The options of a program, by the form of their value. */
export interface OptionTable {
  readonly flags: string
  /** Letters whose value is the rest of the word, or else the next word. */
  readonly valued?: string
  /** Letters whose value can only be the rest of the word. */
  readonly attached?: string
  readonly longFlags?: readonly string[]
  readonly longValued?: readonly string[]
  /** Names whose value can only follow `=`. */
  readonly longAttached?: readonly string[]
}

interface Option {
  readonly name: string
  /** `undefined` for a flag, and for a value that is only known at run time. */
  readonly value: string | undefined
  readonly argument: Argument
}

interface Options {
  readonly options: readonly Option[]
  /** The operands. */
  readonly operands: readonly Argument[]
}

/** Reads the options before the operands, or returns the first argument that cannot be interpreted. */
export function readOptions(args: readonly Argument[], table: OptionTable): Options | { readonly unclear: Argument } {
  const options: Option[] = []
  let i = 0
  for (; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    if (literal === undefined) {
      const name = argument.splits ? undefined : /^--([\w-]+)=/.exec(argument.lead)?.[1]
      if (name !== undefined && table.longValued?.includes(name) === true) {
        options.push({ name, value: undefined, argument })
        continue
      }
      if (mayBeOption(argument)) return { unclear: argument }
      break
    }
    if (literal === '--') {
      i += 1
      break
    }
    if (!literal.startsWith('-') || literal === '-') break
    if (literal.startsWith('--')) {
      const equals = literal.indexOf('=')
      const name = equals === -1 ? literal.slice(2) : literal.slice(2, equals)
      if (table.longValued?.includes(name) === true) {
        const next = equals === -1 ? args[++i] : undefined
        if (equals === -1 && (next === undefined || next.splits)) return { unclear: argument }
        options.push({ name, value: next === undefined ? literal.slice(equals + 1) : next.literal, argument })
      } else if (table.longAttached?.includes(name) === true) {
        options.push({ name, value: equals === -1 ? '' : literal.slice(equals + 1), argument })
      } else if (table.longFlags?.includes(name) === true) {
        options.push({ name, value: undefined, argument })
      } else {
        return { unclear: argument }
      }
      continue
    }
    for (let at = 1; at < literal.length; at++) {
      const name = literal.charAt(at)
      if (table.valued?.includes(name) === true) {
        const attached = literal.slice(at + 1)
        const next = attached === '' ? args[++i] : undefined
        if (attached === '' && (next === undefined || next.splits)) return { unclear: argument }
        options.push({ name, value: next === undefined ? attached : next.literal, argument })
        break
      }
      if (table.attached?.includes(name) === true) {
        options.push({ name, value: literal.slice(at + 1), argument })
        break
      }
      if (!table.flags.includes(name)) return { unclear: argument }
      options.push({ name, value: undefined, argument })
    }
  }
  return { options, operands: args.slice(i) }
}

/** Whether an argument is one of these long options, or an abbreviation as GNU programs accept it. */
export function isLong(argument: Argument, names: readonly string[]): boolean {
  const name = /^--(?!$)([^=]*)/.exec(knownText(argument))?.[1]
  return name !== undefined && names.some((other) => other.startsWith(name))
}
