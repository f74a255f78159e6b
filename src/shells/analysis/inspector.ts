import type { Scope, WalkContext } from './analysis.ts'
import type { CwdAfter } from './cwd.ts'
import type { TextRange } from './verdict.ts'
import { type Argument, mayBeOption } from './words.ts'

/** One command, as its inspector receives it. */
export interface Call {
  readonly walk: WalkContext
  readonly name: string
  /** The name in lower case, without directory. */
  readonly plain: string
  readonly args: readonly Argument[]
  readonly scope: Scope
  readonly at: TextRange
  /** Words that are only known at run time need no refusal, see `Unknowns`. */
  readonly leavesOpen: boolean
}

/** Knows which words of a command start other commands. */
export interface Inspector {
  /** The command only starts another one, so only that one must be on an allowlist. */
  readonly transparent?: boolean
  /** Analyzes the commands that it starts. Returns the directories after it, if it changes the directory. */
  readonly inspect: (call: Call) => CwdAfter | undefined
}

export type Inspectors = Readonly<Record<string, Inspector>>

/** Returns an inspector that refuses every use of a command. */
export function refuseAlways(message: string): Inspector {
  return {
    inspect({ walk, at, name }) {
      walk.analysis.deny('HIDDEN_COMMAND', `${name}: ${message}`, at)
      return undefined
    },
  }
}

/** Returns the same inspector under several names, separated by blanks. */
export function aliases(names: string, inspector: Inspector): Inspectors {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, inspector]),
  )
}

export function refuseUnclear(call: Call, argument: Argument): undefined {
  if (argument.literal === undefined && call.leavesOpen) return undefined
  const [code, problem] =
    argument.literal === undefined
      ? (['ARGUMENT_NOT_LITERAL', 'may become an option at run time; a path that starts with "./" cannot'] as const)
      : (['HIDDEN_COMMAND', 'is an option that is not analyzed'] as const)
  call.walk.analysis.deny(code, `${call.name}: ${JSON.stringify(argument.raw)} ${problem}`, argument.at)
  return undefined
}

/** Whether a word matches the refused options, or may become an option at run time. */
export function mayBeRefused(argument: Argument, refused: RegExp): boolean {
  const { literal, lead } = argument
  return (literal === undefined && mayBeOption(argument)) || refused.test(literal ?? lead)
}

/** Refuses words that match the refused options, and words that may become an option at run time. */
export function refuseOptions(call: Call, refused: RegExp): undefined {
  const odd = call.args.find((argument) => mayBeRefused(argument, refused))
  return odd === undefined ? undefined : refuseUnclear(call, odd)
}
