import type { Classification } from '../files/classify/types.ts'
import type { PathSet } from './match.ts'
import type { CompiledRule } from './rules.ts'
import type { Decision } from './types.ts'

/** How the rules and `allowedPaths` apply to the names in one directory. */
export interface DirectoryFacts {
  /** Rules that match every name. */
  readonly matching: readonly CompiledRule[]
  /** Rules that match some names. */
  readonly candidates: readonly CompiledRule[]
  /** Whether `allowedPaths` covers the names. Undefined when that depends on the name. */
  readonly allowed: boolean | undefined
  /** The last classification that was decided, if the decision does not depend on the name. */
  lastClassification: Classification | undefined
  lastDecision: Decision
  /** Whether something below the directory may be visible. */
  mayContainAllowed: boolean | undefined
}

/** Looks up the facts of directories. */
export interface DirectoryFactsCache {
  /** Returns the facts of the directory that contains a path. Fastest if the paths of one directory come together. */
  around(path: string): DirectoryFacts
  of(directory: string): DirectoryFacts
}

/** Maximum number of directories in the cache. The cache is cleared when it is full. */
const MAX_DIRECTORIES = 20_000

/** Creates a cache. Without path rules and `allowedPaths`, all directories have the same facts. */
export function createDirectoryFacts(
  rules: readonly CompiledRule[],
  allowed: PathSet | undefined,
): DirectoryFactsCache {
  const dependsOnPath = allowed !== undefined || rules.some((rule) => rule.paths !== undefined)
  const directories = new Map<string, DirectoryFacts>()
  let lastDirectory = ''
  let last = factsOf('', rules, allowed)

  function of(directory: string): DirectoryFacts {
    let cached = directories.get(directory)
    if (cached === undefined) {
      if (directories.size >= MAX_DIRECTORIES) directories.clear()
      cached = factsOf(directory, rules, allowed)
      directories.set(directory, cached)
    }
    return cached
  }

  function select(directory: string): void {
    last = of(directory)
    lastDirectory = directory
  }

  return {
    of,
    around(path) {
      if (!dependsOnPath) return last
      const slash = path.lastIndexOf('/')
      if (slash === -1) {
        if (lastDirectory !== '') select('')
      } else if (slash !== lastDirectory.length || slash === 0 || !path.startsWith(lastDirectory)) {
        select(path.slice(0, slash))
      }
      return last
    },
  }
}

function factsOf(directory: string, rules: readonly CompiledRule[], allowed: PathSet | undefined): DirectoryFacts {
  const matching: CompiledRule[] = []
  const candidates: CompiledRule[] = []
  for (const rule of rules) {
    if (rule.paths === undefined || rule.paths.coversBelow(directory)) matching.push(rule)
    // A rule can match the root itself, which is a name in the root directory here but not below it.
    else if (directory === '' || rule.paths.mayMatchBelow(directory)) candidates.push(rule)
  }
  return {
    matching,
    candidates,
    allowed: coverage(directory, allowed),
    lastClassification: undefined,
    lastDecision: 'deny',
    mayContainAllowed: undefined,
  }
}

function coverage(directory: string, allowed: PathSet | undefined): boolean | undefined {
  if (allowed === undefined || allowed.coversBelow(directory)) return true
  return directory !== '' && !allowed.mayMatchBelow(directory) ? false : undefined
}
