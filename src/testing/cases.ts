/** One case of a contract. */
export interface ContractCase {
  readonly name: string
  /** Throws where the contract is broken. What the subject declares not to have is skipped, and the result says why. */
  run(): Promise<{ readonly skipped?: string }>
}

/** What is needed of a test runner: vitest, jest, mocha, node:test and Deno's bdd have it. */
export interface Runner {
  /** Groups the cases. */
  describe(name: string, define: () => void): unknown
  /** Defines a case. */
  // biome-ignore lint/suspicious/noExplicitAny: each runner passes a context of its own, or none.
  it(name: string, test: (context?: any) => Promise<void>): unknown
}

/** A case as it is written: a name, what it needs, and the test, which throws where the contract is broken. */
export interface SubjectCase<Subject> {
  readonly name: string
  /** The reason to skip the case, where the subject cannot do what it is about. */
  readonly unless?: (subject: Subject) => string | undefined
  readonly test: (subject: Subject) => Promise<void>
}

export interface SubjectOptions<Subject> {
  /** Makes a subject. Called once for each case. */
  create(): Promise<Subject> | Subject
  /** Cases not to be run, by name, each with its reason. A name that no case has is a TypeError. */
  readonly skip?: Readonly<Record<string, string>>
}

/** Registers cases in a runner, as one group. What is skipped shows with its reason where the runner can show it. */
export function registerContract(name: string, cases: readonly ContractCase[], { describe, it }: Runner): void {
  describe(name, () => {
    for (const one of cases) {
      it(one.name, async (context) => {
        const { skipped } = await one.run()
        if (skipped !== undefined && typeof context?.skip === 'function') context.skip(skipped)
      })
    }
  })
}

/** Cases that make their own subject, and close it whatever comes. */
export function toCases<Subject>(
  cases: readonly SubjectCase<Subject>[],
  { create, skip = {} }: SubjectOptions<Subject>,
  close: (subject: Subject) => Promise<void>,
): ContractCase[] {
  for (const name of Object.keys(skip)) {
    if (!cases.some((one) => one.name === name)) throw new TypeError(`The contract has no case "${name}" to skip`)
  }
  return cases.map(({ name, unless, test }) => ({
    name,
    async run() {
      const reason = Object.hasOwn(skip, name) ? skip[name] : undefined
      if (reason !== undefined) return { skipped: reason }
      const subject = await create()
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
