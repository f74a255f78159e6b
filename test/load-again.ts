let count = 0

/**
 * Evaluates a module again, and no other one, as on a platform that the test imitates. `vi.resetModules()` would evaluate all again for every
 * later test of the process, and what a module does to others on its evaluation would be done twice.
 *
 * @param path the path of the module from the top of the repository
 */
export function loadAgain<Module>(path: string): Promise<Module> {
  count += 1
  return import(/* @vite-ignore */ `../${path}?again=${count}`)
}
