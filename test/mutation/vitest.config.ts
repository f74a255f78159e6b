import { defineConfig } from 'vitest/config'

/** The tests that a mutant of one area is held against, by the environment: Stryker passes no words on. */
export default defineConfig({
  test: {
    include: (process.env.WARDSPACE_MUTATION_TESTS ?? '').split(',').filter(Boolean),
    testTimeout: 180_000,
  },
})
