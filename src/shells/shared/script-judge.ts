import { parentOf } from '../../paths/logical-path.ts'
import { combineVerdicts, type Verdict } from '../../policy/evaluation.ts'
import { analyzeText, type DenialReason, type ScriptFile } from '../analysis/index.ts'
import type { JudgedScript, JudgeOptions } from '../types.ts'
import { ruleVerdict } from './rule-verdict.ts'

type Context = Pick<JudgeOptions, 'policy' | 'call'> & { readonly root?: string | undefined }

const NO_LISTS = Object.freeze({})

const ALLOWED: Verdict = { decision: 'allow', reason: 'The scripts are allowed', rules: [] }

/** Returns the evaluations of files whose commands a line runs. */
export function judgeScripts(files: readonly ScriptFile[], context: Context): readonly JudgedScript[] {
  return files.map((file) => ({
    path: file.path,
    judge(text) {
      const scripts = scriptsIn(file, text)
      if (scripts.length === 0) return undefined
      const judged = scripts.map((script) => judgeText(file, script, context))
      return {
        verdict: judged.map(({ verdict }) => verdict).reduce(combineVerdicts, ALLOWED),
        scripts: judged.flatMap((one) => one.scripts),
      }
    },
  }))
}

interface Script {
  readonly text: string
  readonly dialect: 'bash' | 'sh'
}

/** Returns the scripts in a file: none, one, or those of a package. */
function scriptsIn({ kind, scripts }: ScriptFile, text: string): Script[] {
  if (kind === 'bash' || kind === 'sh') return [{ text, dialect: kind }]
  if (kind === 'package') return packageScripts(text, scripts?.names ?? [], scripts?.args ?? [])
  // A shell runs a file without a first line that names a program by itself.
  const name = interpreterOf(text) ?? (text.includes('\0') ? '' : 'sh')
  return /^(ba|da|a|k|z)?sh$/.test(name) ? [{ text, dialect: name === 'sh' ? 'sh' : 'bash' }] : []
}

/** Returns the program that the first line names, as in `#!/usr/bin/env -S bash -e`. */
function interpreterOf(text: string): string | undefined {
  if (!text.startsWith('#!')) return undefined
  const words = (text.slice(2).split('\n', 1)[0] ?? '').trim().split(/\s+/)
  const names = words.map((word) => word.slice(word.lastIndexOf('/') + 1))
  return (names[0] === 'env' ? names.slice(1).find((name) => !/^-|=/.test(name)) : names[0]) ?? ''
}

function packageScripts(text: string, names: readonly string[], args: readonly string[]): Script[] {
  let scripts: Readonly<Record<string, unknown>>
  try {
    scripts = (JSON.parse(text) as { scripts?: Readonly<Record<string, unknown>> }).scripts ?? {}
  } catch {
    return []
  }
  return names.flatMap((name): Script[] => {
    const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined
    if (typeof script !== 'string') return []
    return [{ text: [script, ...args.map(quote)].join(' '), dialect: 'sh' }]
  })
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

function judgeText(
  { path, kind, cwd }: ScriptFile,
  { text, dialect }: Script,
  context: Context,
): { readonly verdict: Verdict; readonly scripts: readonly JudgedScript[] } {
  const { policy, call, root } = context
  const verdicts: Verdict[] = []
  const analysis = analyzeText(text, policy.data.commands ?? NO_LISTS, {
    ...(root === undefined ? {} : { root }),
    cwd: kind === 'package' ? parentOf(path) : cwd,
    shell: dialect,
    unknowns: 'words',
    isFile: true,
    decide(command) {
      const verdict = ruleVerdict(policy, call, command, false)
      if (verdict !== undefined) verdicts.push(verdict)
      return verdict ?? ALLOWED
    },
  })
  const counts = policy.data.commands?.allow === undefined ? listed : unlisted
  const reason = analysis.verdict().reasons.find(({ code }) => counts.has(code))
  if (reason !== undefined) verdicts.push(denialOf(path, reason))
  return { verdict: verdicts.reduce(combineVerdicts, ALLOWED), scripts: judgeScripts(analysis.scripts(), context) }
}

/** Reasons that a list gives. Others are about what only a run shows, and would refuse ordinary scripts. */
const listed: ReadonlySet<DenialReason['code']> = new Set([
  'POLICY_DENIED',
  'BUILT_IN_DENIED',
  'OPERATOR_DENIED',
  'WRITTEN_THEN_RUN',
])

/** An allowlist covers no command whose name is unknown. */
const unlisted: ReadonlySet<DenialReason['code']> = new Set([
  ...listed,
  'NOT_ALLOWED',
  'COMMAND_NOT_LITERAL',
  'SYNTAX_ERROR',
  'TOO_COMPLEX',
  'LINE_TOO_LONG',
  'ODD_CHARACTER',
])

function denialOf(path: string, { code, message }: DenialReason): Verdict {
  return {
    decision: 'deny',
    code: 'COMMAND_DENIED',
    reason: `Cannot run ${JSON.stringify(path)}: ${message}`,
    rules: [{ name: code, action: 'deny', source: 'protection' }],
  }
}
