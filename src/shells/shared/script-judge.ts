import { type LogicalPath, parentOf, ROOT } from '../../paths/logical-path.ts'
import { tidyEntry } from '../../policy/command-entries.ts'
import { combineVerdicts, type Policy, type Verdict } from '../../policy/evaluation.ts'
import type { CommandPolicy } from '../../policy/schema.ts'
import {
  analyzeText,
  type DenialReason,
  type PackageScripts,
  type ScriptFile,
  type ScriptPlace,
} from '../analysis/index.ts'
import type { TextRange } from '../analysis/verdict.ts'
import type { JudgedScript, JudgeOptions, ScriptEvaluation } from '../types.ts'
import { restrictedPrograms, restrictingEntries, ruleVerdict } from './rule-verdict.ts'

type Context = Pick<JudgeOptions, 'policy' | 'call'> & { readonly root?: string | undefined }

const NO_LISTS: CommandPolicy = Object.freeze({})

const ALLOWED: Verdict = { decision: 'allow', reason: 'The scripts are allowed', rules: [] }

/** Returns the evaluations of files whose commands a line runs. */
export function judgeScripts(files: readonly ScriptFile[], context: Context): readonly JudgedScript[] {
  return files.map((file) => ({
    path: file.path,
    id: JSON.stringify(file),
    ...(file.isSourced === undefined ? {} : { isSourced: file.isSourced }),
    ...(file.left === undefined ? {} : { left: file.left }),
    judge(text) {
      const fault = faultOf(file, text)
      if (fault !== undefined) {
        const verdict = denialOf(
          file.path,
          { text, dialect: 'sh' },
          { code: 'HIDDEN_COMMAND', action: 'deny', ...fault },
        )
        return { verdict, scripts: [], commands: [] }
      }
      const scripts = scriptsIn(file, text)
      if (scripts.length === 0) return undefined
      const judged = scripts.map((script) => judgeText(file, script, context))
      return {
        verdict: judged.map(({ verdict }) => verdict).reduce(combineVerdicts, ALLOWED),
        scripts: judged.flatMap((one) => one.scripts),
        commands: judged.flatMap((one) => one.commands),
      }
    },
  }))
}

interface Script {
  readonly text: string
  readonly dialect: 'bash' | 'sh'
  /** `part`: a text in the file. `start`: the line by which the system starts the file. Default: the whole file. */
  readonly origin?: 'part' | 'start'
  /** Name in package.json. */
  readonly name?: string
}

/** Returns the scripts in a file: none, one, or those of a package. */
function scriptsIn({ path, kind, cwd, scripts }: ScriptFile, text: string): Script[] {
  if (kind === 'bash' || kind === 'sh') return [{ text, dialect: kind }]
  if (kind === 'package') return scripts === undefined ? [] : packageScripts(text, scripts)
  if (kind === 'perl' || COMPILED.test(text)) return []
  if (kind === 'operand' && !isRunnable(path, text)) return []
  // A shell runs a file without a first line that names a program by itself.
  if (!text.startsWith('#!')) return [{ text, dialect: 'sh' }]
  const [program = '', ...rest] = programWords(text)
  const words = [program, ...rest, pathFrom(cwd, path)]
  const start: Script = { text: words.map(quote).join(' '), dialect: 'sh', origin: 'start' }
  // The system starts no program that is a text without a first line. Then a shell runs the file itself.
  return SYSTEM_DIRECTORY.test(program) ? [start] : [start, { text, dialect: 'sh' }]
}

const SYSTEM_DIRECTORY = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/

/** The bytes of a first line that every system reads. Linux reads 256, before version 5.1 127, and runs what these are. */
const MAX_FIRST_LINE = 127

/** Whether a file is a program of the workspace, by its first line or its name, and not data. */
function isRunnable(path: LogicalPath, text: string): boolean {
  return /^#!(?!\[)/.test(text) || /\.(ba|da|z|k)?sh$/.test(path)
}

/** Returns why a file is refused by its lines that start with `#!`. */
function faultOf({ kind, path }: ScriptFile, text: string): Pick<DenialReason, 'message' | 'at'> | undefined {
  if (kind === 'perl') return handedOn(text)
  if (kind !== 'program' && !(kind === 'operand' && isRunnable(path, text))) return undefined
  const message = firstLineFault(text)
  return message === undefined ? undefined : { message, at: [0, 0] }
}

/**
 * Returns why perl does not read a file itself: its first line starts with `#!` and does not name perl. Any line is a first one behind
 * `# line`. Perl takes a file for UTF-16 by its first bytes.
 */
function handedOn(text: string): Pick<DenialReason, 'message' | 'at'> | undefined {
  const plain = text.replace(/[\0\ufeff\ufffd]/g, '')
  const lines = /^#[ \t]*line[ \t]/m.test(plain) ? plain.split('\n') : plain.split('\n', 1)
  const odd = lines.find((line) => /^\s*(?::\s*)?#!/.test(line) && !line.includes('perl'))
  if (odd === undefined) return undefined
  const start = Math.max(0, text.indexOf(odd))
  return { message: `Perl starts the program that ${JSON.stringify(odd)} names`, at: [start, start + odd.length] }
}

/**
 * Returns why systems read the first line of a file in different ways: a part of it, an interpreter in the working directory, or
 * none, so that a shell runs the file.
 */
function firstLineFault(text: string): string | undefined {
  if (!text.startsWith('#!')) return undefined
  const [line = ''] = text.split('\n', 1)
  if (new TextEncoder().encode(line).length > MAX_FIRST_LINE)
    return `The first line is longer than ${MAX_FIRST_LINE} bytes, which not every system reads`
  if (!/^#![ \t]*\//.test(line)) return 'The first line does not name an interpreter by its absolute path'
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(line)) return 'The first line has a control character'
  return undefined
}

/** Returns the path of a file as a program in a directory may be given it. It starts with no dash. */
function pathFrom(cwd: LogicalPath, path: LogicalPath): string {
  const from = cwd === ROOT ? [] : cwd.split('/')
  const to = path.split('/')
  const shared = from.findIndex((name, index) => name !== to[index])
  const up = shared === -1 ? 0 : from.length - shared
  return [up === 0 ? '.' : Array(up).fill('..').join('/'), ...to.slice(from.length - up)].join('/')
}

/** The first bytes of a program for Linux or macOS. */
const COMPILED = /^(\x7fELF[\x01\x02]|\ufffd{4}[\0-\x1f]\0)/

/** Returns the words of a first line such as `#!/usr/bin/env -S bash -e`. The system takes all after the first for one word. */
function programWords(text: string): string[] {
  const [, program = '', others = ''] = /^#![ \t]*([^ \t\n]*)([^\n]*)/.exec(text) ?? []
  const rest = others.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')
  const words = rest === '' ? [program] : [program, rest]
  const split = /^(?:-S|--split-string=)([^'"\\$]*)$/.exec(rest)?.[1]?.replace(/^[ \t]+/, '')
  return split === undefined || !/(^|\/)env$/.test(program) ? words : [program, ...split.split(/[ \t]+/)]
}

function packageScripts(text: string, { names, args }: PackageScripts): Script[] {
  let scripts: Readonly<Record<string, unknown>>
  try {
    scripts = (JSON.parse(text.replace(/^\ufeff/, '')) as { scripts?: Readonly<Record<string, unknown>> }).scripts ?? {}
  } catch {
    return []
  }
  return names.flatMap((name): Script[] => {
    const script = Object.hasOwn(scripts, name) ? scripts[name] : defaultScripts[name]
    if (typeof script !== 'string') return []
    return [{ text: [script, ...args.map(quote)].join(' '), dialect: 'sh', origin: 'part', name }]
  })
}

/** What npm runs for a script that package.json does not have. */
const defaultScripts: Readonly<Record<string, string | undefined>> = { start: 'node server.js' }

/** Returns a word of a shell; for an unknown one, an expansion. */
function quote(word: string | null): string {
  return word === null ? '"$@"' : `'${word.replaceAll("'", "'\\''")}'`
}

function judgeText(
  { path, kind, cwd, isSourced = false }: ScriptFile,
  script: Script,
  context: Context,
): ScriptEvaluation {
  const { policy, call, root } = context
  const { text, dialect, origin } = script
  const verdicts: Verdict[] = []
  const commands: string[] = []
  // The entry of the file covers the program of its first line.
  const isStart = origin === 'start'
  const analysis = analyzeText(text, listsFor(policy, isStart), {
    ...(root === undefined ? {} : { root }),
    cwd: kind === 'package' ? parentOf(path) : cwd,
    shell: dialect,
    unknowns: 'paths',
    judgesScripts: true,
    isScript: true,
    isEval: isSourced,
    restrictsArguments: (name) => restrictsArguments(policy, name),
    restricted: restrictedPrograms(policy.data),
    place: origin === undefined && !isSourced ? placeOf(path, cwd, root) : undefined,
    decide(command) {
      commands.push(command.text, ...command.otherTexts)
      const verdict = ruleVerdict(policy, call, command, isStart)
      if (verdict !== undefined) verdicts.push({ ...verdict, ...hintOf(path, script, command.at) })
      return verdict ?? ALLOWED
    },
  })
  const reason = analysis.verdict().reasons.find(({ code }) => code !== 'RULE' && code !== 'EMPTY_LINE')
  if (reason !== undefined) verdicts.push(denialOf(path, script, reason))
  const scripts = judgeScripts(analysis.scripts(), context)
  return { verdict: verdicts.reduce(combineVerdicts, ALLOWED), scripts, commands }
}

/** Returns the place of a file whose path is one word in every shell, and no option of a command. */
function placeOf(path: LogicalPath, cwd: LogicalPath, root: string | undefined): ScriptPlace | undefined {
  if (root === undefined || !/^[\w.@+/-]*$/.test(root + path) || /(^|\/)-/.test(path)) return undefined
  const parent = parentOf(path)
  return { directory: parent === '' ? root : `${root}/${parent}`, name: path.slice(path.lastIndexOf('/') + 1), cwd }
}

function listsFor(policy: Policy, isStart: boolean): CommandPolicy {
  const commands = policy.data.commands ?? NO_LISTS
  if (!isStart || commands.allow === undefined) return commands
  const { allow: _, ...restrictions } = commands
  return restrictions
}

/** Whether an entry of the policy restricts a program with certain arguments only. */
function restrictsArguments({ data }: Policy, name: string): boolean {
  return restrictingEntries(data).some((entry) => {
    const [program = '', ...args] = tidyEntry(entry).split(' ')
    return (args.length > 0 && program.replace(/^.*\//s, '').toLowerCase() === name) || /[*?[\]{}\\]/.test(program)
  })
}

/** Returns the denial of a file for a reason. */
function denialOf(path: string, script: Script, { code, message, at }: DenialReason): Verdict {
  const file = JSON.stringify(path)
  const subject = script.name === undefined ? file : `the script ${JSON.stringify(script.name)} of ${file}`
  const line = script.origin === undefined ? ` (line ${positionOf(script, at).line})` : ''
  return {
    decision: 'deny',
    code: 'COMMAND_DENIED',
    reason: `Cannot run ${subject}: ${message.replace(/^The line\b/, 'The script')}${line}`,
    ...hintOf(path, script, at),
    rules: [{ name: code, action: 'deny', source: 'protection' }],
  }
}

/** Returns a hint with the position of a reason, if that is one in the file. */
function hintOf(path: string, script: Script, at: TextRange): { readonly hint?: string } {
  if (script.origin !== undefined) return {}
  const { line, character } = positionOf(script, at)
  return { hint: `See line ${line}, character ${character} of ${JSON.stringify(path)}.` }
}

function positionOf({ text }: Script, [start]: TextRange): { readonly line: number; readonly character: number } {
  const before = text.slice(0, start).split('\n')
  return { line: before.length, character: (before.at(-1) ?? '').length + 1 }
}
