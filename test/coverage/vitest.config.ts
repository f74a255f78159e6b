import { defineConfig } from 'vitest/config'
import base from '../../vite.config.ts'

/** The whole of the tests, with the coverage of what runs in the processes of vitest. */
export default defineConfig(async (environment) => {
  const config = await base(environment)
  const projects = config.test?.projects ?? []
  return {
    ...config,
    test: {
      ...config.test,
      projects: projects.map((project) =>
        typeof project === 'object' && 'test' in project && project.test?.name === 'node'
          ? { ...project, test: { ...project.test, setupFiles: ['test/coverage/children.ts'] } }
          : project,
      ),
      coverage: {
        enabled: true,
        provider: 'v8' as const,
        include: ['src/**/*.ts'],
        reporter: ['json'],
        reportsDirectory: 'coverage',
        reportOnFailure: true,
      },
    },
  }
})
