import { classifyPath } from '../files/classify/index.ts'
import { GLOB_CHARACTERS } from '../paths/glob.ts'
import { continuedEntries, tidyEntry } from '../policy/command-entries.ts'
import { strength } from '../policy/evaluation.ts'
import { labelNames } from '../policy/labels.ts'
import { type LintOptions, lintPolicy } from '../policy/lint.ts'
import { examplePaths, NAME, type PolicyFinding } from '../policy/lint-matches.ts'
import { compilePaths, compileTexts, permissionMask } from '../policy/match.ts'
import { permissionBit, permissions } from '../policy/permissions.ts'
import { compileData, compilePolicy } from '../policy/policy.ts'
import type { PolicyData, PolicyRule } from '../policy/schema.ts'
import { isAbove } from '../policy/taint.ts'

/**
 * Finds what `lintPolicy` finds, and also the parts of a policy that have no effect beside another part. It belongs to the
 * command line, so that programs with a policy do not load it.
 *
 * @throws TypeError for an invalid policy
 */
export function checkPolicy(policy: unknown, options: LintOptions): readonly PolicyFinding[] {
  const { roots = {} } = options
  const found = lintPolicy(policy, options)
  const { data } = compilePolicy(policy, { roots })
  const rulesOf = (text: RegExp) => new Set(found.filter(({ message }) => text.test(message)).map(({ rule }) => rule))
  const idle = rulesOf(/^It never/)
  // A rule that is to be removed covers no other one.
  const covered = coveredRules(data, rulesOf(/without it/)).filter(({ rule }) => !idle.has(rule))
  return [
    // A finding that names the covering rule says more than one that a rule has no effect.
    ...found.filter(
      ({ rule, message }) => !message.includes('without it') || !covered.some((other) => other.rule === rule),
    ),
    ...covered,
    ...narrowPatterns(data),
    ...deniedCommands(data),
    ...idleLabels(data),
  ]
}

/** Finds the rules that another one covers: a call that they match is decided as strictly without them. */
function coveredRules({ rules = [] }: PolicyData, removed: ReadonlySet<string>): readonly PolicyFinding[] {
  return rules.flatMap((rule, index): readonly PolicyFinding[] => {
    // Of two rules that cover each other, the first stays.
    const covering = rules.find(
      (other, at) =>
        other !== rule && !removed.has(other.name) && covers(other, rule) && (at < index || !covers(rule, other)),
    )
    if (covering === undefined) return []
    const message = `It has no effect: the rule ${JSON.stringify(covering.name)} decides at least as strictly for every call that it matches`
    return [{ rule: rule.name, message, hint: 'Remove it, or narrow the other rule.' }]
  })
}

/** Whether a rule certainly matches whatever another one does, and is at least as strict. */
function covers(wide: PolicyRule, narrow: PolicyRule): boolean {
  if (strength[wide.action] < strength[narrow.action]) return false
  // What is denied is denied without its protections too.
  if (wide.action !== 'deny' && !includes(wide.overrides ?? [], narrow.overrides ?? [])) return false
  // An allow rule with commands also adds them to the commands that are known.
  if (narrow.action === 'allow' && (wide.commands === undefined) !== (narrow.commands === undefined)) return false
  return (
    coversField(wide.tools, narrow.tools, (entry) => !isGlob(entry) && compileTexts(wide.tools ?? [], '')(entry)) &&
    coversPermissions(wide, narrow) &&
    coversField(wide.paths, narrow.paths, (entry) => coversPath(wide.paths ?? [], entry)) &&
    coversField(wide.kinds, narrow.kinds) &&
    coversField(wide.risk, narrow.risk) &&
    coversField(wide.commands?.map(tidyEntry), narrow.commands?.map(tidyEntry), (entry) =>
      wide.action === 'allow' ? false : continues(wide.commands ?? [], entry),
    ) &&
    Object.entries(wide.args ?? {}).every(([field, patterns]) => coversField(patterns, narrow.args?.[field]))
  )
}

function includes(wide: readonly string[], narrow: readonly string[]): boolean {
  return narrow.every((entry) => wide.includes(entry))
}

/** Whether each entry of a list is in the other one, or covered by it. Without a list, everything is. */
function coversField(
  wide: readonly string[] | undefined,
  narrow: readonly string[] | undefined,
  isCovered: (entry: string) => boolean = () => false,
): boolean {
  if (wide === undefined) return true
  return narrow?.every((entry) => wide.includes(entry) || isCovered(entry)) === true
}

function coversPermissions({ permissions: wide }: PolicyRule, { permissions: narrow }: PolicyRule): boolean {
  if (wide === undefined) return true
  if (narrow === undefined) return false
  return (permissionMask(narrow, '') & ~permissionMask(wide, '')) === 0
}

/** Whether paths contain everything that a glob without a wildcard, or one that ends in its only one, `/**`, matches. */
function coversPath(wide: readonly string[], entry: string): boolean {
  const directory = entry.replace(/\/\*\*$/, '')
  if (GLOB_CHARACTERS.test(directory)) return false
  const paths = compilePaths(wide, '')
  return paths.matches(directory) && paths.coversBelow(directory)
}

function isGlob(text: string): boolean {
  return /[*\\]/.test(text)
}

/** Whether a command, with any further words, is one of the entries of a restriction. */
function continues(entries: readonly string[], command: string): boolean {
  return !isGlob(command) && compileTexts(continuedEntries(entries), '')(command)
}

/** Finds restricting patterns that leave open other directories, or what is in the directories that they match. */
function narrowPatterns(data: PolicyData): readonly PolicyFinding[] {
  const { deniedPaths = [], readOnlyPaths = [], rules = [] } = data
  const lists: readonly PolicyRule[] = [
    { name: 'deniedPaths', action: 'deny', paths: deniedPaths },
    { name: 'readOnlyPaths', action: 'deny', paths: readOnlyPaths, permissions: ['file:change'] },
  ]
  return [...rules, ...lists].flatMap((rule) => {
    const { name, action, paths = [], permissions: asked = ['file:read'], kinds, args, risk } = rule
    const permission = permissions.find(
      (one) => one.startsWith('file:') && permissionMask(asked, '') & permissionBit(one),
    )
    if (action === 'allow' || permission === undefined || (kinds ?? args ?? risk)) return []
    const [tool = NAME] = rule.tools ?? []
    const policy = compileData(data).forCall({ tool: tool.replaceAll('*', NAME), input: {} })
    const isOpen = (wide: string) =>
      examplePaths([wide]).some(
        (path) => strength[policy.decide(permission, path, classifyPath(path))] < strength[action],
      )
    return paths.flatMap((pattern): readonly PolicyFinding[] => {
      const quoted = JSON.stringify(pattern)
      if (/^(?!\*\*$)[^/*?]*[*?][^/]*$/.test(pattern) && isOpen(`${NAME}/${pattern}`)) {
        const wide = pattern === '*' ? '**' : `**/${pattern}`
        const hint = `Write "${wide}" for every directory, or "./${pattern}" for the root.`
        return [{ rule: name, message: `${quoted} has no effect in directories below the root`, hint }]
      }
      if (!/(?:^|[^*])\*$/.test(pattern) || !isOpen(`${pattern}/${NAME}`)) return []
      const hint = pattern.endsWith('/*') ? `Write "${pattern}*" for everything below.` : `Add "${pattern}/**".`
      return [{ rule: name, message: `${quoted} leaves open what is in the directories that it matches`, hint }]
    })
  })
}

/** Finds allowed commands that `commands.deny` denies. */
function deniedCommands({ commands: { allow = [], deny = [] } = {} }: PolicyData): readonly PolicyFinding[] {
  const denied = deny.map(tidyEntry)
  return allow
    .filter((entry) => denied.includes(tidyEntry(entry)) || continues(deny, tidyEntry(entry)))
    .map((entry) => ({
      rule: 'commands.allow',
      message: `${JSON.stringify(entry)} has no effect: commands.deny denies it`,
      hint: 'Remove it from one of the two lists.',
    }))
}

/** Finds the sources whose label no sink refuses, and the sinks that no label of a source exceeds. */
function idleLabels({ labels: { sources = [], sinks = [] } = {} }: PolicyData): readonly PolicyFinding[] {
  const [lowest = ''] = labelNames
  const highest = labelNames.at(-1)
  const ofSources = sources.flatMap(({ label }, index): readonly PolicyFinding[] => {
    if (sinks.some(({ ceiling }) => isAbove(label, ceiling))) return []
    const rule = `labels.sources[${index}]`
    if (label === lowest)
      return [{ rule, message: `It has no effect: content is "${lowest}" without it`, hint: 'Remove it.' }]
    const message = `Nothing is refused because of it: no sink has a ceiling below "${label}"`
    return [{ rule, message, hint: 'Add a sink with a lower ceiling.' }]
  })
  const ofSinks = sinks.flatMap(({ ceiling }, index): readonly PolicyFinding[] => {
    if (sources.some(({ label }) => isAbove(label, ceiling))) return []
    const rule = `labels.sinks[${index}]`
    if (ceiling === highest)
      return [{ rule, message: `It has no effect: no label is above "${highest}"`, hint: 'Lower its ceiling.' }]
    const message = `It refuses nothing by this policy: no source has a label above "${ceiling}"`
    return [{ rule, message, hint: 'Add such a source, unless own tools or earlier runs label content.' }]
  })
  return [...ofSources, ...ofSinks]
}
