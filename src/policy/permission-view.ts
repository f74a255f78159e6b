import type { Classification } from '../files/classify/types.ts'
import type { PathSet } from './match.ts'
import { isMutating, type Permission } from './permissions.ts'
import { type PresetName, presetDecision } from './presets.ts'
import { type ProtectionRule, protectionAgainst } from './protections.ts'
import type { CompiledRule } from './rules.ts'
import type { Decision } from './types.ts'

/** One thing that took part in a decision. */
export type Part =
  | { readonly source: 'tool' | 'default'; readonly name: string; readonly action: Decision }
  | { readonly source: 'preset'; readonly name: PresetName; readonly action: Decision }
  | { readonly source: 'rule'; readonly name: string; readonly action: Decision; readonly rule?: CompiledRule }
  | {
      readonly source: 'protection'
      readonly name: string
      readonly action: Decision
      readonly protection: ProtectionRule
    }

/** What holds for all accesses of a call: the rules that concern it, and what decides where they do not. */
export interface ViewFacts {
  readonly rules: readonly CompiledRule[]
  readonly preset?: PresetName | undefined
  /** The tool's own decision. */
  readonly tool?: { readonly name: string; readonly action: Decision } | undefined
  /** `allowedPaths`. */
  readonly allowed?: PathSet | undefined
  /** Without a preset: whether `allowedPaths` counts for this tool. */
  readonly opened: boolean
}

/** The policy for one permission, as a call sees it. Remembers by directory what the rules say of it. */
export interface PermissionView {
  /** The decision on a name; everything that took part is added to `parts`. */
  weigh(path: string, classification: Classification, recursive: boolean, parts?: Part[]): Decision
  mayContainAllowed(directory: string): boolean
  /** Whether every name is decided alike, the built-in protections aside. */
  readonly isUniform: boolean
}

/** Directories to remember; over that many, remembering starts afresh. */
const MAX_DIRECTORIES = 20_000

/** What the rules say of the names in one directory. */
interface DirectoryFacts {
  /** They match whatever the name is. */
  readonly sure: readonly CompiledRule[]
  /** They may match, by the name. */
  readonly open: readonly CompiledRule[]
  /** Whether `allowedPaths` covers the names: true, false, or undefined where the name tells. */
  readonly allowed: boolean | undefined
  /** The last kind of file asked about, where nothing depends on the name. */
  lastClassification: Classification | undefined
  lastDecision: Decision
  /** Whether something below could be seen. */
  leads: boolean | undefined
}

/** What changes a file in a way that shows something of it, such as its version: not making one, nor taking it away. */
const showing: ReadonlySet<Permission> = new Set([
  'file:write:replace',
  'file:append',
  'file:move',
  'file:copy',
  'file:patch:apply',
])

/** How the policy decides one permission. Pure: what it remembers never changes an answer. */
export function createPermissionView(permission: Permission, facts: ViewFacts): PermissionView {
  const rules = facts.rules.filter((rule) => rule.concerns(permission))
  const named = rules.some((rule) => rule.paths !== undefined) || facts.allowed !== undefined
  const isUniform = !named && rules.every((rule) => rule.kinds === undefined)
  const isCommand = permission.startsWith('command:')
  const isRead = !isMutating(permission)
  const showsContent = !isRead && showing.has(permission)
  const preset =
    facts.preset === undefined
      ? undefined
      : ({ source: 'preset', name: facts.preset, action: presetDecision(facts.preset, permission) } as const)
  const directories = new Map<string, DirectoryFacts>()
  let lastDirectory = ''
  let last = learn('')

  /** The facts of the directory that holds a name. Names come in runs, so that the last one mostly serves. */
  function directoryOf(path: string): DirectoryFacts {
    if (!named) return last
    const slash = path.lastIndexOf('/')
    if (slash === -1) {
      if (lastDirectory !== '') remember('')
    } else if (slash !== lastDirectory.length || slash === 0 || !path.startsWith(lastDirectory)) {
      remember(path.slice(0, slash))
    }
    return last
  }

  function remember(directory: string): void {
    last = factsOf(directory)
    lastDirectory = directory
  }

  function factsOf(directory: string): DirectoryFacts {
    let known = directories.get(directory)
    if (known === undefined) {
      if (directories.size >= MAX_DIRECTORIES) directories.clear()
      known = learn(directory)
      directories.set(directory, known)
    }
    return known
  }

  function learn(directory: string): DirectoryFacts {
    const sure: CompiledRule[] = []
    const open: CompiledRule[] = []
    for (const rule of rules) {
      if (rule.paths === undefined || rule.paths.coversBelow(directory)) sure.push(rule)
      // The root is its own directory here, and lies not below itself.
      else if (directory === '' || rule.paths.mayMatchBelow(directory)) open.push(rule)
    }
    const { allowed } = facts
    const covered =
      allowed === undefined || allowed.coversBelow(directory)
        ? true
        : directory !== '' && !allowed.mayMatchBelow(directory)
          ? false
          : undefined
    return { sure, open, allowed: covered, lastClassification: undefined, lastDecision: 'deny', leads: undefined }
  }

  function weigh(path: string, classification: Classification, recursive: boolean, parts?: Part[]): Decision {
    const directory = directoryOf(path)
    const isDirectory = recursive || classification.kind === 'DIRECTORY'
    if (
      parts !== undefined ||
      isDirectory ||
      isCommand ||
      // Whether it may be read too is for other rules to say, which are not learnt here.
      (showsContent && classification.kind === 'SECRET_LIKE') ||
      directory.open.length > 0 ||
      directory.allowed === undefined
    ) {
      return weighName(directory, path, classification, isDirectory, parts)
    }
    if (directory.lastClassification !== classification) {
      directory.lastDecision = weighName(directory, path, classification, false, undefined)
      directory.lastClassification = classification
    }
    return directory.lastDecision
  }

  function weighName(
    directory: DirectoryFacts,
    path: string,
    classification: Classification,
    isDirectory: boolean,
    parts: Part[] | undefined,
  ): Decision {
    // A walk starts at any directory that leads to what is allowed, and a command at any that it may work below.
    const leads = isDirectory && isRead
    let denied = false
    let asked = false
    let allowedByRule = false
    // Whether anything speaks for this very access: neither a tool's own decision nor a protection does.
    let spoken = false
    const { tool } = facts
    if (tool !== undefined) {
      parts?.push({ source: 'tool', ...tool })
      if (tool.action === 'deny') denied = true
      else if (tool.action === 'ask') asked = true
    }
    const protection = protectionAgainst(classification, permission)
    let lifted = false
    const count = directory.sure.length + directory.open.length
    for (let i = 0; i < count; i++) {
      const isSure = i < directory.sure.length
      const rule = (isSure ? directory.sure[i] : directory.open[i - directory.sure.length]) as CompiledRule
      if (rule.kinds !== undefined && !rule.kinds.has(classification.kind)) continue
      const matches = isSure || rule.paths === undefined || rule.paths.matches(path)
      if (!matches && !(leads && rule.action === 'allow' && rule.paths?.mayMatchBelow(path))) continue
      if (rule.action === 'deny') denied = true
      else {
        spoken = true
        if (rule.action === 'ask') asked = true
        else {
          allowedByRule = true
          const liftedBy = protection?.liftedBy
          if (matches && liftedBy !== undefined && rule.overrides?.has(liftedBy)) lifted = true
        }
      }
      parts?.push({ source: 'rule', name: rule.name, action: rule.action, rule })
    }
    if (lifted && protection?.name === 'secret' && showsContent && !readingIsLifted(path, classification))
      lifted = false
    if (!lifted && protection !== undefined) {
      if (protection.decision === 'deny') denied = true
      else asked = true
      parts?.push({ source: 'protection', name: protection.name, action: protection.decision, protection })
    }
    if (preset?.action === 'deny') {
      denied = true
      parts?.push(preset)
    } else if (directory.allowed ?? isInside(path, leads)) {
      if (preset === undefined) {
        if (facts.allowed !== undefined && facts.opened) {
          spoken = true
          parts?.push({ source: 'rule', name: 'allowedPaths', action: 'allow' })
        }
      } else {
        spoken = true
        // The preset's question is for what neither an allow rule nor an opened tool has answered.
        const answered = preset.action === 'ask' && (allowedByRule || tool?.action === 'allow')
        if (preset.action === 'ask' && !answered) asked = true
        if (!answered) parts?.push(preset)
      }
    }
    if (denied) return 'deny'
    if (!spoken) {
      parts?.push({ source: 'default', name: 'default', action: 'deny' })
      return 'deny'
    }
    return asked ? 'ask' : 'allow'
  }

  /** A change shows what it is made on, and a move may take it to where it can be read. */
  function readingIsLifted(path: string, { kind }: Classification): boolean {
    let lifts = false
    for (const rule of facts.rules) {
      if (!rule.concerns('file:read') || rule.kinds?.has(kind) === false || rule.paths?.matches(path) === false)
        continue
      if (rule.action === 'deny') return false
      // Only a rule that allows has overrides.
      if (rule.overrides?.has('secret')) lifts = true
    }
    return lifts
  }

  function isInside(path: string, leads: boolean): boolean {
    const { allowed } = facts
    if (allowed === undefined || allowed.matches(path)) return true
    const commandBelow = isCommand && preset !== undefined
    return (leads || commandBelow) && allowed.mayMatchBelow(path)
  }

  function mayLead(directory: string): boolean {
    const known = factsOf(directory)
    known.leads ??= leadsBelow(directory)
    return known.leads
  }

  function leadsBelow(directory: string): boolean {
    if (facts.tool?.action === 'deny' || preset?.action === 'deny') return false
    for (const rule of rules) {
      const everyKind = rule.kinds === undefined
      if (rule.action === 'deny' && everyKind && (rule.paths?.coversBelow(directory) ?? true)) return false
    }
    const some = (paths: PathSet | undefined) => paths?.mayMatchBelow(directory) ?? true
    if (preset !== undefined && some(facts.allowed)) return true
    if (facts.allowed !== undefined && facts.opened && some(facts.allowed)) return true
    return rules.some((rule) => rule.action !== 'deny' && some(rule.paths))
  }

  return { weigh, mayContainAllowed: mayLead, isUniform }
}
