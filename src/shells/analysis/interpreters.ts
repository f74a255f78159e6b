import { checkAwk, checkJavaScript, checkPerl, checkPython, checkSed } from './inline-code.ts'
import { aliases, type Call, type Inspectors, mayBeRefused, refuseAlways, refuseUnclear } from './inspector.ts'
import { checkScriptFile } from './launchers.ts'
import { type Argument, knownText, mayBeOption } from './words.ts'

/** Programs that run code of another language, from a file, an argument or standard input. */
export const interpreters: Inspectors = {
  node: {
    inspect: (call) =>
      inspectLanguage(call, {
        code: /^(?:-[pe]+|--print|--eval(?:=(.*))?)$/s,
        printing: /^(-p|--print)$/,
        loads:
          /^(?:-r|--(?:require|import|loader|experimental[-_]loader|test[-_]reporter|test[-_]global[-_]setup))(?:=(.*))?$/s,
        valued:
          /^(-C|--conditions|--input-type|--test-name-pattern|--test-reporter-destination|--title|--env-file|--env-file-if-exists|--watch-path|--stack-trace-limit|--icu-data-dir|--openssl-config|--test-concurrency|--test-timeout|--test-shard|--max-http-header-size|--disable-warning|--trace-event-categories|--run)$/,
        plain:
          /^(-c|--check|-v|--version|-h|--help|--no-[\w-]+|--test|--test-only|--watch|--inspect(-brk)?|--enable-source-maps|--trace-[\w-]+|--expose[-_](?:gc|internals)|--allow-natives-syntax|--predictable[\w-]*|--interpreted-frames-native-stack|--watch-preserve-output|--harmony[\w-]*|--experimental-[\w-]+|--preserve-symlinks(-main)?|--throw-deprecation|--pending-deprecation|--prof|--cpu-prof|--heap-prof|--use-[\w-]+|--test-[\w-]+)$|^--[\w-]+=/,
        idle: /^(-v|--version|-h|--help|--check|--test)$/,
        refused: /^(-i|--interactive|--eval-file|inspect|debug)$|^--print=|^(data|https?):/,
        check: checkJavaScript,
      }),
  },
  nodejs: { inspect: (call) => runFileOnly(call) },
  ...aliases('python pypy micropython jython', {
    inspect: (call) =>
      inspectLanguage(call, {
        code: /^-[bBdEIOPqsSuvx]*c(.*)$/s,
        codeIsLast: true,
        module: /^-[bBdEIOPqsSuvx]*m(.*)$/s,
        valued: /^-[WX]$|^--check-hash-based-pycs$/,
        plain: /^-([bBdEIOPqsSuvxVh?]+|[WX].+)$|^--(version|help)$/,
        idle: /^(-V|--version|-h|--help)$/,
        check: checkPython,
      }),
  }),
  perl: {
    inspect: (call) =>
      inspectPerl(call, {
        code: /^-[0-9alnpswWtTuU]*(?:i(?:\.\w+)?)?[eE](.*)/s,
        plain: /^-([0-9alnpcwWtTuUv]+|[0-9alnpw]*i(\.\w+)?|F[^\s'"/]\S*)$|^--version$/,
        idle: /^(-v|--version)$/,
        refused: /^-[dDsSxXmMI]/,
        handsOn: true,
        check: checkPerl,
      }),
  },
  ...aliases(
    'js-exec ruby mruby jruby php lua luajit texlua tclsh wish julia Rscript rscript osascript raku elixir clojure clj runghc runhaskell ocaml swift irb guile racket',
    {
      inspect: runFileOnly,
    },
  ),
  // These read options after the file, too.
  ...aliases('erl iex ghci r octave sbcl jshell scala groovy', {
    inspect(call) {
      const unexpected = call.args.slice(1).find(mayBeOption)
      return unexpected === undefined ? runFileOnly(call) : refuseUnclear(call, unexpected)
    },
  }),
  ...aliases('awk gawk mawk nawk original-awk', { inspect: inspectAwk }),
  ...aliases('sed gsed', { inspect: inspectSed }),
  ...aliases(
    'vim vi nvim nvi ex view vimdiff vimtutor rvim rview gvim gview gvimdiff rgvim rgview evim eview elvis vile emacs emacsclient ed red nano rnano pico joe jmacs jstar jpico rjoe jed zile mg kak hx helix micro mcedit',
    refuseAlways('an editor can run any command'),
  ),
  ...aliases('less more most pg info pager lzless lzmore xzless xzmore zless zmore bzless bzmore', {
    inspect: (call) => refuseWords(call, /^\+|^-[^-]*[kPo]|^--le/),
  }),
  man: { inspect: (call) => refuseWords(call, /^-[^-]*[PHCTXr]|^--(pag|pr|ht|co|g|tr)/) },
  ...aliases('dc m4 gnuplot ghostscript gs', refuseAlways('its language can start commands')),
  ...aliases('sqlite sqlite3 mysql psql mariadb', { inspect: (call) => inspectDatabase(call) }),
  ...aliases('tsx ts-node esno jiti babel-node coffee', {
    inspect: (call) =>
      refuseWords(
        call,
        /^-[a-zA-Z]*[epi]$|^--(eval|print|interactive|import|require|loader|experimental[-_]loader)/,
        /^--\S+=|^--(watch|test|files|esm|swc|transpile-only|(no|trace|inspect|enable)\b\S*)$|^-[TH]$/,
      ),
  }),
}

interface Language {
  /** Options that run code. The first group contains the code if it is in the same word. */
  readonly code: RegExp
  /** The options of these that do not take a word that starts with a dash as code: `node -p -e 1`. */
  readonly printing?: RegExp
  /** All words after the code are its arguments. */
  readonly codeIsLast?: boolean
  /** Options that run a module. The first group contains its name if it is in the same word. */
  readonly loads?: RegExp
  readonly module?: RegExp
  /** Options whose value is the next word. */
  readonly valued?: RegExp
  readonly plain: RegExp
  /** The options of these with which no script is needed, and none is read from standard input. */
  readonly idle: RegExp
  readonly refused?: RegExp
  /** It starts the program that the first line of a script names, if that is another one. */
  readonly handsOn?: boolean
  readonly check: (code: string) => string | undefined
}

function inspectLanguage(call: Call, table: Language): undefined {
  const { walk, args, scope, at } = call
  let hasScript = false
  // With --test, all operands are scripts.
  let isTesting = false
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    if (literal === undefined) {
      // After code, further operands are arguments, but may become options.
      if (!hasScript || mayBeOption(argument)) {
        checkScriptFile(call, argument)
        noteScript(call, i, table.handsOn)
      }
      return undefined
    }
    const code = table.code.exec(literal)
    const module = table.module?.exec(literal)
    if (table.refused?.test(literal) === true) return refuseUnclear(call, argument)
    if (module) {
      const name = module[1] === '' ? args[i + 1]?.literal : module[1]
      if (
        name === undefined ||
        /^(timeit|code|pdb|cProfile|profile|trace|runpy|idlelib|this|doctest|bdb|asyncio|sqlite3|pstats|pty|[Ii][Pp]ython|ptpython|bpython|ipdb|pudb)(\.|$)/.test(
          name,
        )
      )
        return refuseUnclear(call, argument)
      return undefined
    }
    if (code) {
      const next = args[i + 1]?.literal
      if (table.printing?.test(literal) === true && next !== undefined && /^(-|$)/.test(next)) {
        // Without code, -p prints the code of another option, or runs a file or standard input.
        if (!table.code.test(next)) return refuseUnclear(call, argument)
        continue
      }
      const attached = code[1] ?? ''
      const word = attached === '' ? args[++i] : argument
      checkInlineCode(call, attached === '' ? word?.literal : attached, table.check, word ?? argument)
      hasScript = true
      if (table.codeIsLast === true) return undefined
      continue
    }
    if (literal === '-') break
    const loads = table.loads?.exec(literal)
    if (loads) {
      const word = loads[1] === undefined ? args[++i] : argument
      const name = loads[1] ?? word?.literal
      // A URL contains code or the location of code.
      if (name === undefined || !/^[\w@.+/-]+$/.test(name)) return refuseUnclear(call, word ?? argument)
      if (/^\.{0,2}(\/|$)/.test(name)) checkScriptFile(call, { ...(word ?? argument), literal: name })
      continue
    }
    if (table.valued?.test(literal) === true) {
      const value = args[++i]
      if (value?.literal === undefined || table.refused?.test(value.literal) === true)
        return refuseUnclear(call, value ?? argument)
      hasScript ||= literal === '--run'
    } else if (literal.startsWith('-')) {
      if (!table.plain.test(literal)) return refuseUnclear(call, argument)
      hasScript ||= table.idle.test(literal)
      isTesting ||= literal === '--test'
    } else {
      const scripts = isTesting ? args.slice(i) : hasScript ? [] : [argument]
      for (const script of scripts) if (script.literal !== undefined) checkScriptFile(call, script)
      if (!isTesting && !hasScript) noteScript(call, i, table.handsOn)
      return undefined
    }
  }
  if (hasScript) return undefined
  if (scope.stdin !== undefined) checkInlineCode(call, scope.stdin, table.check, args[0])
  else walk.analysis.deny('HIDDEN_COMMAND', `${call.name} runs code from its standard input`, at)
  return undefined
}

/** Notes a script that an interpreter runs: a program that is not known, which receives the words behind it. */
function noteScript({ walk, args, scope, at }: Call, index: number, handsOn = false): void {
  const { literal, path, raw } = args[index] as Argument
  const file = literal ?? path
  walk.analysis.programs.push({ walk, name: file ?? raw, args: args.slice(index + 1), scope, at })
  if (handsOn && file !== undefined) walk.analysis.addScript(file, 'perl', scope)
}

/** Inspects perl. Behind code, `<>` starts the operands `COMMAND|` and `|COMMAND`, and writes to `>FILE`. */
function inspectPerl(call: Call, table: Language): undefined {
  inspectLanguage(call, table)
  const { walk, args } = call
  let hasCode = false
  for (let i = 0; i < args.length; i++) {
    const { literal, raw, at } = args[i] as Argument
    const code = table.code.exec(literal ?? '')
    if (code !== null) {
      hasCode = true
      if (code[1] === '') i += 1
    } else if (hasCode && literal === undefined) {
      if (call.leavesOpen || PLAIN_GLOB.test(raw)) continue
      const problem = 'is only known at run time, and perl starts a command that an operand names'
      walk.analysis.deny('ARGUMENT_NOT_LITERAL', `perl: ${JSON.stringify(raw)} ${problem}`, at)
    } else if (hasCode && /\||^\s*\+?[<>]/.test(literal ?? '')) {
      walk.analysis.deny('HIDDEN_COMMAND', `perl: ${JSON.stringify(raw)} is a command or a redirection for perl`, at)
    }
  }
  return undefined
}

/** A pattern whose matches start and end with its own characters: neither with `|` nor with `>`. */
const PLAIN_GLOB = /^[\w./][\w./*?-]*\w$/

function checkInlineCode(
  call: Call,
  code: string | undefined,
  check: Language['check'],
  argument: Argument | undefined,
): void {
  const at = argument?.at ?? call.at
  const reason = code === undefined ? 'it is only known at run time' : check(code)
  if (reason !== undefined)
    call.walk.analysis.deny('INLINE_CODE', `The code for ${call.name} is refused: ${reason}`, at)
}

/** Allows only a file of the workspace, without options before it. */
function runFileOnly(call: Call): undefined {
  const [first] = call.args
  // Some of these print the version only if they are the only word.
  if (call.args.length === 1 && /^(--version|-v|-V|--help)$/.test(knownText(first))) return undefined
  if (first === undefined)
    call.walk.analysis.deny('HIDDEN_COMMAND', `${call.name} runs code from its standard input`, call.at)
  else if (mayBeOption(first)) call.walk.analysis.deny('INLINE_CODE', `Code for ${call.name} is not analyzed`, first.at)
  else {
    checkScriptFile(call, first)
    noteScript(call, 0)
  }
  return undefined
}

/**
 * Refuses words that match. With `flags`, the options without a value, it stops at the first operand; an option that is not
 * among them may take the next word as its value.
 */
function refuseWords(call: Call, refused: RegExp, flags?: RegExp): undefined {
  let mayBeValue = false
  for (const argument of call.args) {
    if (mayBeRefused(argument, refused)) return refuseUnclear(call, argument)
    if (flags === undefined) continue
    const isOption = argument.lead.startsWith('-')
    if (!isOption && !mayBeValue) return undefined
    mayBeValue = isOption && !flags.test(argument.lead)
  }
  return undefined
}

function inspectDatabase(call: Call): undefined {
  const texts = [
    ...call.args.map(({ literal }) => literal),
    ...(call.scope.stdin === undefined ? [] : [call.scope.stdin]),
  ]
  const unexpected = texts.findIndex(
    (text) =>
      text === undefined ||
      /(?:^|\n)[^\S\n]*\.|\\[!gocwp]|\\[^\n\\`]*`|\bsystem\b|edit\s*\(|load_extension|pager|tee\b|\bprogram\b/i.test(
        text,
      ),
  )
  if (unexpected === -1) return undefined
  call.walk.analysis.deny(
    'INLINE_CODE',
    `The code for ${call.name} is refused: it may start commands`,
    call.args[unexpected]?.at ?? call.at,
  )
  return undefined
}

function inspectAwk(call: Call): undefined {
  const { args } = call
  let hasScript = false
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    if (literal === '--') {
      if (!hasScript) checkInlineCode(call, args[i + 1]?.literal, checkAwk, args[i + 1])
      return undefined
    }
    if (
      literal === undefined &&
      mayBeOption(argument) &&
      !argument.lead.startsWith('-v') &&
      !argument.lead.startsWith('-F')
    )
      return refuseUnclear(call, argument)
    if (argument.splits) return refuseUnclear(call, argument)
    const text = literal ?? argument.lead
    if (/^-[Fv]$/.test(text)) {
      i += 1
      if (args[i]?.splits === true) return refuseUnclear(call, args[i] as Argument)
    } else if (/^-[Fv]./s.test(text) || /^--(version|posix|traditional|re-interval|sandbox)$/.test(text)) continue
    else if (text === '-f') {
      const file = args[++i]
      if (file === undefined) return refuseUnclear(call, argument)
      checkScriptFile(call, file)
      hasScript = true
    } else if (text.startsWith('-')) return refuseUnclear(call, argument)
    else {
      if (!hasScript) checkInlineCode(call, literal, checkAwk, argument)
      return undefined
    }
  }
  return undefined
}

function inspectSed(call: Call): undefined {
  const { args } = call
  const scripts: Argument[] = []
  const operands: Argument[] = []
  let hasScript = false
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    if (literal === undefined) {
      // sed also accepts options after operands.
      if (mayBeOption(argument)) return refuseUnclear(call, argument)
      operands.push(argument)
    } else if (literal === '--') {
      operands.push(...args.slice(i + 1))
      break
    } else if (/^-[nEruszi]*e$/.test(literal) || literal === '--expression') {
      scripts.push(args[++i] ?? argument)
      hasScript = true
    } else if (literal === '-f' || literal === '--file') {
      const file = args[++i]
      if (file === undefined) return refuseUnclear(call, argument)
      checkScriptFile(call, file)
      hasScript = true
    } else if (
      /^-[nEruszb]*(i\S*)?$|^-l\d+$|^--(quiet|silent|regexp-extended|separate|null-data|unbuffered|posix|debug|sandbox|version|help|follow-symlinks|in-place(=.*)?|line-length=\d+)$/.test(
        literal,
      ) &&
      literal !== '-'
    ) {
      // On some systems, -i takes the next word as its value.
      if (literal === '-i' && args[i + 1]?.literal === '') i += 1
    } else if (literal.startsWith('--expression=')) {
      scripts.push({ ...argument, literal: literal.slice('--expression='.length) })
      hasScript = true
    } else if (literal.startsWith('-') && literal !== '-') {
      return refuseUnclear(call, argument)
    } else {
      operands.push(argument)
    }
  }
  if (!hasScript) {
    const [script] = operands
    if (script === undefined) return undefined
    scripts.push(script)
  }
  for (const script of scripts) checkInlineCode(call, script.literal, checkSed, script)
  return undefined
}
