import { programName } from '../../policy/command-options.ts'
import type { Analysis, Program, Scope } from './analysis.ts'
import { findInspector, isInspected } from './inspectors.ts'
import { nameVariants, pathVariants, wordLists } from './name-variants.ts'
import type { TextRange } from './verdict.ts'
import { type Argument, literalArgument } from './words.ts'

/** Built-ins and programs that start no other program, whatever their operands and their standard input. */
const idle: ReadonlySet<string> = new Set(
  `: [ [[ true false test exit return break continue shift wait cd pwd echo printf read set unset local declare typeset readonly export let
  getopts times ulimit umask jobs fg bg disown hash type which whereis whatis apropos enable shopt alias unalias history kill pgrep ps pidof
  cat tac rev nl head tail wc ls dir vdir tree stat file du df grep egrep fgrep zgrep cut paste join comm diff cmp uniq tr fold fmt column
  expand unexpand tsort shuf seq sleep yes basename dirname realpath readlink pathchk mktemp rm rmdir mkdir mkfifo unlink chmod chown chgrp
  touch cp mv ln dd shred truncate strings od xxd hexdump base32 base64 basenc b2sum cksum sum md5sum sha1sum sha224sum sha256sum sha384sum
  sha512sum date cal id whoami groups users who uname hostname arch nproc uptime free tty stty tput clear printenv getconf locale getent
  gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat lzma zstd zstdcat lz4 unzip zipinfo jq yq wc pr csplit numfmt factor
  expr bc iconv dos2unix unix2dos look nm objdump readelf size ldd shellcheck shfmt checkbashisms prettier eslint oxlint stylelint tsc`.split(
    /\s+/,
  ),
)

/** Programs that run the words or the text behind their name. */
const shells = /^(ba|rba|da|a|z|k|mk|c|tc|fi)?sh$/

/** Whether the analysis does not know if a program starts others. */
export function mayLaunch(plain: string): boolean {
  return !idle.has(plain) && !isInspected(plain)
}

/** The commands of one program, or of one line of variables, that are evaluated. */
const MAX_POSSIBLE = 16

/**
 * Applies the restrictions of the policy to everything that unknown programs of a line may start: the commands in their operands, in the
 * values of their options, in their standard input and in the variables of the line.
 */
export function checkLaunches(analysis: Analysis): void {
  if (!analysis.restricted.any || analysis.isDenied()) return
  for (const program of analysis.programs) checkProgram(analysis, program)
  const [program] = analysis.programs
  if (program === undefined) return
  for (const { value, at } of analysis.settings) restrict(analysis, commandsIn(value, analysis, at), { ...program, at })
}

function checkProgram(analysis: Analysis, program: Program): void {
  const { walk, name, args, scope, at } = program
  const pipe = args.find(({ literal }) => /^\s*\||\|\s*$/.test(literal ?? ''))
  if (pipe !== undefined)
    analysis.deny('HIDDEN_COMMAND', `${name}: ${JSON.stringify(pipe.raw)} may be a command`, pipe.at)
  const possible = args.flatMap((argument, index) => {
    if (argument.literal === undefined) return []
    if (analysis.restricted.has(argument.literal)) return [args.slice(index)]
    return commandsIn(argument.literal, analysis, argument.at)
  })
  const input = [...(scope.stdin === undefined ? [] : [scope.stdin]), ...(scope.piped ?? [])]
  possible.push(...input.flatMap((text) => commandsIn(text, analysis, at)))
  restrict(analysis, possible, program)
  for (const { literal } of args) if (literal !== undefined) addOperand(analysis, literal, scope)
  const shell = args.findIndex(
    ({ literal }, index) => literal !== undefined && shells.test(programName(literal)) && index < args.length - 1,
  )
  if (shell !== -1) walk.run(args.slice(shell), { ...scope, via: [...scope.via, name], stdin: undefined }, at)
}

/** Adds the files that an operand or the value of an option names: the program may run them. */
function addOperand(analysis: Analysis, text: string, scope: Scope): void {
  const path = /^-[^=]*=(.*)$/s.exec(text)?.[1] ?? text
  if (path !== '' && !/^-|^\w+:\/\/|[\n\0]/.test(path)) analysis.addScript(path, 'operand', scope)
}

/** Returns the commands in a text that a shell or a program may read, of those that the policy restricts. */
function commandsIn(text: string, analysis: Analysis, at: TextRange): Argument[][] {
  const found = new Map<string, Argument[]>()
  const add = (part: string) => {
    const all = part.trim().split(/\s+/)
    const start = all.findIndex((word, index) => !(isPrefix(word) || (index > 0 && /^[-\d]/.test(word))))
    for (const words of [all, all.slice(start)])
      if (analysis.restricted.has(words[0] ?? ''))
        found.set(
          words.join(' '),
          words.map((word) => literalArgument(word, at)),
        )
  }
  // An option may have its value in the same word: -cCOMMAND.
  if (/^-\w/.test(text)) add(text.slice(2))
  for (const part of text.split(/[;|&()`'"!{}<>$\n\0]/)) add(part)
  for (const part of text.split(/[;|&()`'"!{}<>$\n\0=:,]/)) add(part)
  // A shell removes quotes.
  if (/['"\\]/.test(text)) for (const part of text.replace(/['"\\]/g, '').split(/[;|&()`!{}<>$\n\0]/)) add(part)
  return [...found.values()]
}

/** Whether a word stands before the name of a command: an assignment, or a command that starts another one. */
function isPrefix(word: string): boolean {
  if (/^\w+=/.test(word)) return true
  const plain = programName(word)
  return (
    shells.test(plain) || /^(exec|eval|shell|system|xargs)$/.test(plain) || findInspector(plain)?.transparent === true
  )
}

/** Applies the denylist and the restricting rules to the commands that a program may start. */
function restrict(analysis: Analysis, commands: readonly (readonly Argument[])[], program: Program): void {
  const { name, at, scope } = program
  if (commands.length > MAX_POSSIBLE) {
    analysis.deny('TOO_COMPLEX', `${name} may start too many commands`, at)
    return
  }
  const text = name + textOf(program.args)
  for (const [first, ...args] of commands) {
    const launched = first?.literal ?? ''
    const plain = programName(launched)
    const literals = args.map(({ literal }) => literal ?? null)
    const rest = textOf(args)
    const paths = launched.includes('/') ? pathVariants(launched, rest, { ...scope, root: analysis.root }) : []
    const forms = [...new Set([...nameVariants(launched, plain, literals, launched + rest).denied, ...paths])]
    const entry = analysis.lists.deniedBy(forms, wordLists([], plain, literals))
    if (entry !== undefined)
      analysis.deny('POLICY_DENIED', `${name} may start ${JSON.stringify(entry)}, which policy denies`, at)
    analysis.applyRules({ name: launched, args: literals, text, otherTexts: forms, via: scope.via, at })
  }
}

function textOf(args: readonly Argument[]): string {
  return args.map(({ literal, raw }) => ` ${literal ?? raw}`).join('')
}
