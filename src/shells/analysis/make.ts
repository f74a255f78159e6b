import { type Call, refuseUnclear } from './inspector.ts'
import { checkScriptFile } from './launchers.ts'
import { type Argument, literalArgument, mayBeOption } from './words.ts'

const makefiles = ['Makefile', 'makefile', 'GNUmakefile']

/** Inspects make. Its variables and options can start commands, and its makefiles do. */
export function inspectMake(call: Call): undefined {
  const { walk, scope, args } = call
  for (const name of makefiles) walk.analysis.addExecuted(name, scope, call.at)
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    const text = literal ?? argument.lead
    const equals = text.indexOf('=')
    const directory = /^(?:-C|--directory(?:=|$))(.*)/s.exec(text)?.[1]
    if (literal === undefined && (argument.splits || equals === -1 || text.startsWith('-'))) {
      if (mayBeOption(argument) || argument.splits) return refuseUnclear(call, argument)
    } else if (directory !== undefined) {
      const value = directory === '' ? args[++i]?.literal : directory
      if (value === undefined) return refuseUnclear(call, argument)
      walk.analysis.addAccess(value, 'read', scope, argument.at)
      for (const name of makefiles) walk.analysis.addExecuted(`${value}/${name}`, scope, argument.at)
    } else if (/^--(file|makefile)=/.test(text)) {
      checkScriptFile(call, literalArgument(text.slice(equals + 1), argument.at))
    } else if (/^(-f|-I|-o|-W|--file|--makefile|--include-dir)$/.test(text)) {
      const value = args[++i]
      if (value?.literal === undefined) return refuseUnclear(call, value ?? argument)
      if (text === '-f' || text.endsWith('file')) checkScriptFile(call, value)
    } else if (text.startsWith('-')) {
      if (
        !/^-([bBdeiknpqrRsStvw]+|[jl]\d*|[bBiknrRsStw]*j\d*|O\w*)$|^--(jobs(=\d+)?|silent|quiet|always-make|keep-going|dry-run|just-print|recon|no-print-directory|print-directory|question|touch|version|help|ignore-errors|output-sync(=\w+)?|no-builtin-rules|no-builtin-variables|warn-undefined-variables|trace|debug(=\w+)?|load-average=\d+)$/.test(
          text,
        )
      )
        return refuseUnclear(call, argument)
    } else if (equals !== -1) {
      // Blanks may surround a name. Expansions in the name or the value run at once.
      const name = text
        .slice(0, equals)
        .replace(/(?<![\s:?+!])[\s:?+!]+$/, '')
        .trimStart()
      const starts = /^\.?SHELL(FLAGS)?$|^MAKE/.test(name) || text.slice(0, equals).includes('!')
      if (starts || literal === undefined || /[$`|;&<>\n]/.test(literal)) {
        walk.analysis.deny(
          'VARIABLE_DENIED',
          `make: the variable ${JSON.stringify(name)} may start commands`,
          argument.at,
        )
      }
    }
  }
  return undefined
}
