import { registerBundledPackages } from '../util/optional-package.ts'

/** Makes the command line use the packages that it contains. */
export function useBundledPackages(): void {
  registerBundledPackages({ 'isomorphic-git': () => import('./packages/isomorphic-git.ts') })
}
