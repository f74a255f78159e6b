import { defineConfig } from 'vitest/config'
import base from '../../vite.config.ts'
import { countedByVite } from './counted.ts'

/** Separate from the cache of tests without counters. */
const cacheDir = 'node_modules/.cache/wardspace/coverage/vite'

/** All tests with coverage: from V8 in Node, from counters in the browser. */
export default defineConfig(async (environment) => {
  const config = await base(environment)
  const projects = config.test?.projects ?? []
  return {
    ...config,
    cacheDir,
    test: {
      ...config.test,
      projects: projects.map((project) => {
        if (typeof project !== 'object' || !('test' in project)) return project
        if (project.test?.name === 'browser') return { ...project, cacheDir, plugins: [countedByVite] }
        if (project.test?.name !== 'node') return project
        // Counters make bundles much larger and slower to start.
        const slower = { hookTimeout: 300_000, testTimeout: 600_000 }
        const setupFiles = ['test/coverage/children.ts']
        return { ...project, test: { ...project.test, ...slower, setupFiles, env: { WARDSPACE_COUNTS: 'all' } } }
      }),
      coverage: {
        provider: 'v8' as const,
        include: ['src/**/*.ts'],
        reporter: ['json'],
        reportsDirectory: 'coverage',
        reportOnFailure: true,
      },
    },
  }
})
