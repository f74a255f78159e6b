import type { Backend } from './backend.ts'

/** Returns the method `pin` of a backend over others, if one of them has it. */
export function pinAll(backends: readonly Backend[]): Pick<Backend, 'pin'> {
  if (!backends.some(({ pin }) => pin)) return {}
  return {
    pin() {
      const releases = backends.map((backend) => backend.pin?.())
      return () => {
        for (const release of releases) release?.()
      }
    },
  }
}
