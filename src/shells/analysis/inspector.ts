import type { Scope, WalkContext } from './analysis.ts'
import type { CwdAfter } from './cwd.ts'
import type { TextRange } from './verdict.ts'
import { type Argument, mayBeOption } from './words.ts'

/** One command, for whoever knows what it does with its words. */
export interface Call {
  readonly walk: WalkContext
  readonly name: string
  /** The name without directory and case. */
  readonly plain: string
  readonly args: readonly Argument[]
  readonly scope: Scope
  readonly at: TextRange
}

/** What is known of a command's words. */
export interface Inspector {
  /** It does nothing but start another command: only that one has to be on an allowlist. */
  readonly transparent?: boolean
  /** Judges what it starts. Returns where it leaves the shell, if it moves it. */
  readonly inspect: (call: Call) => CwdAfter | undefined
}

export type Inspectors = Readonly<Record<string, Inspector>>

/** An inspector that refuses, with the reason in words. */
export function refuseAlways(message: string): Inspector {
  return {
    inspect({ walk, at, name }) {
      walk.analysis.deny('HIDDEN_COMMAND', `${name}: ${message}`, at)
      return undefined
    },
  }
}

/** The same inspector under several names. */
export function aliases(names: string, inspector: Inspector): Inspectors {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, inspector]),
  )
}

export function refuseUnclear(call: Call, argument: Argument): undefined {
  const [code, what] =
    argument.literal === undefined
      ? (['ARGUMENT_NOT_LITERAL', 'may turn out to be an option; what begins with "./" is none'] as const)
      : (['HIDDEN_COMMAND', 'is an option that is not seen through'] as const)
  call.walk.analysis.deny(code, `${call.name}: ${JSON.stringify(argument.raw)} ${what}`, argument.at)
  return undefined
}

/** Whether a word looks like one of these, or could turn out to be one, or another option. */
export function mayBeRefused(argument: Argument, refused: RegExp): boolean {
  const { literal, lead } = argument
  return (literal === undefined && mayBeOption(argument)) || refused.test(literal ?? lead)
}

/** Refuses words that look like one of these, and those that could turn out to. */
export function refuseOptions(call: Call, refused: RegExp): undefined {
  const odd = call.args.find((argument) => mayBeRefused(argument, refused))
  return odd === undefined ? undefined : refuseUnclear(call, odd)
}
