import type { Protection } from '../../files/classify/types.ts'
import type { Verdict, VerdictRule } from '../../policy/evaluation.ts'
import type { RiskFlag } from '../../policy/risk/flags.ts'
import type { Decision } from '../../policy/types.ts'
import { ownValue } from '../../util/own-value.ts'
import { codeWords } from './code-words.ts'
import { pathInWords } from './person-words.ts'

/** What a decision means for the agent. */
export const decisionWords: Readonly<Record<Decision, string>> = {
  allow: 'Allowed',
  ask: 'Asks you first',
  deny: 'Blocked',
}

/** A built-in protection in the words of a person. */
export interface ProtectionWords {
  /** The protected files. */
  readonly name: string
  readonly why: string
}

/** The built-in protections, the strictest first. */
export const protectionWords: Readonly<Record<Protection, ProtectionWords>> = {
  git: { name: 'Git’s own files', why: 'No rule can open them; git commands still work.' },
  secret: { name: 'Secret files', why: 'They may hold keys or passwords; their content stays hidden.' },
  generated: { name: 'Generated files', why: 'A tool writes them again; they can be read, and not be changed.' },
  vendored: { name: 'Installed packages', why: 'They can be read, and not be changed.' },
  lockfile: { name: 'Lock files', why: 'You are asked before one changes.' },
  mode: { name: 'File modes', why: 'A patch cannot change them.' },
  binary: { name: 'Binary files', why: 'A patch of text cannot change them.' },
}

/** The labels of what a run has read, in ascending order. */
export const labelWords: Readonly<Record<string, { readonly name: string; readonly why: string }>> = {
  public: { name: 'Public', why: 'Has read nothing that is labelled: it can write wherever the policy allows.' },
  internal: { name: 'Internal', why: 'Has read internal files: it cannot write to public places now.' },
  confidential: { name: 'Confidential', why: 'Has read confidential files: it cannot publish now.' },
  restricted: { name: 'Restricted', why: 'Has read restricted files: nothing of them may leave.' },
}

const riskWords: Readonly<Record<RiskFlag, string>> = {
  touchesBuildFile: 'it changes how the project is built or tested',
  touchesSecuritySensitivePath: 'it changes a file that concerns security',
  deletesFile: 'it deletes a file',
  changesPublicApi: 'it changes what other code relies on',
  deletesOrSkipsTests: 'it removes or skips tests',
}

const presetWords: Readonly<Record<string, Readonly<Record<Decision, string>>>> = {
  readOnly: { allow: 'reading is allowed', ask: 'you are asked', deny: 'the agent may read, and change nothing' },
  supervised: { allow: 'reading is allowed', ask: 'you are asked before each change', deny: 'it is not allowed' },
  autonomous: { allow: 'everything inside the project is allowed', ask: 'you are asked', deny: 'it is not allowed' },
}

const shortFormWords: Readonly<Record<string, string>> = {
  allowedPaths: 'it is among the paths that are open to the agent',
  deniedPaths: 'it is among the paths that are closed to the agent',
  readOnlyPaths: 'it can be read, and not be changed',
  'memory.acl': 'it is decided by the rules on notes',
}

/** Why a command line is refused before it runs, by the code of its analysis. */
const lineWords: Readonly<Record<string, string>> = {
  EMPTY_LINE: 'the line has no command',
  LINE_TOO_LONG: 'the line is too long',
  TOO_COMPLEX: 'the line is too complex to be judged before it runs',
  ODD_CHARACTER: 'the line has characters that can hide something',
  SYNTAX_ERROR: 'the line cannot be read as a command',
  COMMAND_NOT_LITERAL: 'the command is only known while the line runs',
  ODD_COMMAND_NAME: 'the name of the command can stand for another one',
  ARGUMENT_NOT_LITERAL: 'what the command reaches is only known while the line runs',
  TARGET_NOT_LITERAL: 'the file is only known while the line runs',
  OUTSIDE_WORKSPACE: 'the command reaches outside of the project',
  CWD_UNKNOWN: 'the folder is only known while the line runs',
  HIDDEN_COMMAND: 'the command hides another one',
  INLINE_CODE: 'the line has a program in it',
  VARIABLE_DENIED: 'the line sets a variable that changes what programs do',
  ARITHMETIC_NOT_KNOWN: 'a computed value is only known while the line runs',
  FORK_BOMB: 'the command would start itself without end',
  DOWNLOAD_TO_INTERPRETER: 'the line would run what it downloads',
  WRITTEN_THEN_RUN: 'the line would run what it has just written',
  BUILT_IN_DENIED: 'no policy allows a command like this',
  POLICY_DENIED: 'the policy closes this command to the agent',
  NOT_ALLOWED: 'the command is not on the list of the policy',
  OPERATOR_DENIED: 'the policy allows no such combination of commands',
  RULE: 'a rule of the policy says so',
}

/** A rule of a verdict or of an audit record. */
export interface DecidingRule extends Pick<VerdictRule, 'name' | 'action'> {
  readonly source?: string | undefined
}

/** Why a rule decides as it does, as the end of a sentence. */
export function ruleInWords({ source, name, action }: DecidingRule): string {
  switch (source) {
    case 'protection': {
      const protection = ownValue(protectionWords, name)
      return protection === undefined
        ? (ownValue(lineWords, name) ?? 'it is protected')
        : `${lowered(protection.name)} are protected`
    }
    case 'preset':
      return ownValue(presetWords, name)?.[action] ?? 'the policy decides so'
    case 'tool':
      return `the policy decides so for every call of ${name}`
    case 'default':
      return 'nothing in the policy allows it'
    case 'taint':
      return `it has read files that must not get to “${name}”`
    case 'risk':
      return ownValue(riskWords, name.replace('requireApprovalIf ', '')) ?? 'the change carries a risk'
    case 'plan':
      return 'nothing changes before you approve the plan'
    default:
      return ownValue(shortFormWords, name) ?? `the rule “${name}” says so`
  }
}

/** Describes a verdict in one sentence of a person. Its first rule decided. */
export function verdictInWords({
  decision,
  rules,
  code,
  path,
}: Pick<Verdict, 'decision' | 'rules' | 'code' | 'path'>): string {
  const [first] = rules
  const decided = first?.action === decision ? first : rules.find(({ action }) => action === decision)
  const why = decided === undefined ? undefined : ruleInWords(decided)
  if (why !== undefined) return `${decisionWords[decision]}: ${path ? `${pathInWords(path)}: ` : ''}${why}`
  return code === undefined ? decisionWords[decision] : codeWords[code].title
}

function lowered(text: string): string {
  return text.startsWith('Git') ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}
