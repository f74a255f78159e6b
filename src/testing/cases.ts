import { checkArgument, isListOf, isObjectWith, isText, refuseSurplus } from '../util/check-options.ts'

/** One case of a contract. */
export interface ContractCase {
  readonly name: string
  /** Runs the case. `skipped` is the reason if the case does not apply to the subject.
   *
   * @throws Error if the subject breaks the contract
   */
  run(): Promise<{ readonly skipped?: string }>
}

/** The part of a test runner that is used: vitest, jest, mocha, node:test and Deno's bdd have it. */
export interface Runner {
  /** Defines a group of cases. */
  describe(name: string, define: () => void): unknown
  /** Defines a case. */
  // biome-ignore lint/suspicious/noExplicitAny: each runner passes its own type of context
  it(name: string, test: (context?: any) => Promise<void>): unknown
}

/** A case over a subject. The test throws if the subject breaks the contract. */
export interface SubjectCase<Subject> {
  readonly name: string
  /** Returns the reason to skip the case, or undefined to run it. */
  readonly unless?: (subject: Subject) => string | undefined
  readonly test: (subject: Subject) => Promise<void>
}

export interface SubjectOptions<Subject> {
  /** Creates a subject. Called once for each case. */
  create(): Promise<Subject> | Subject
  /** Reasons to skip cases, by case name. An unknown name is a TypeError. */
  readonly skip?: Readonly<Record<string, string>>
}

/** Registers cases in a runner as one group. A skipped case is reported with its reason if the runner supports that. */
export function registerContract(name: string, cases: readonly ContractCase[], runner: Runner): void {
  refuseSurplus('registerContract()', 3, arguments)
  checkArgument('registerContract()', 'name', name, isText)
  checkArgument('registerContract()', 'cases', cases, isListOf(isObjectWith('a case of a contract', 'run')))
  checkArgument('registerContract()', 'runner', runner, isRunner)
  const { describe, it } = runner
  describe(name, () => {
    for (const contractCase of cases) {
      it(contractCase.name, async (context) => {
        const { skipped } = await contractCase.run()
        if (skipped !== undefined && typeof context?.skip === 'function') context.skip(skipped)
      })
    }
  })
}

/** Runners are objects or namespaces with further fields. */
const isRunner = isObjectWith('a test runner with describe() and it()', 'describe', 'it')

/**
 * Returns cases that create their own subject and always close it.
 *
 * @param checkSubject throws a TypeError for a result of `create` that is not a subject
 */
export function toCases<Subject>(
  cases: readonly SubjectCase<Subject>[],
  { create, skip = {} }: SubjectOptions<Subject>,
  close: (subject: Subject) => Promise<void>,
  checkSubject: (subject: Subject, owner: string) => void,
): ContractCase[] {
  for (const name of Object.keys(skip)) {
    if (!cases.some((subjectCase) => subjectCase.name === name))
      throw new TypeError(`The contract has no case "${name}" to skip`)
  }
  return cases.map(({ name, unless, test }) => ({
    name,
    async run() {
      const reason = Object.hasOwn(skip, name) ? skip[name] : undefined
      if (reason !== undefined) return { skipped: reason }
      const subject = await create()
      checkSubject(subject, 'the result of create()')
      try {
        const skipped = unless?.(subject)
        if (skipped !== undefined) return { skipped }
        await test(subject)
        return {}
      } finally {
        await close(subject)
      }
    },
  }))
}
