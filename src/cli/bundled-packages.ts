import { setThreadFile } from '../shells/bash/thread-file.ts'
import { registerBundledPackages } from '../util/optional-package.ts'

/** Makes the command line use the packages that it contains, here and in the threads and processes of `bash()`. */
export function useBundledPackages(): void {
  registerBundledPackages({
    'isomorphic-git': () => import('./packages/isomorphic-git.ts'),
    'just-bash': () => import('./packages/just-bash.ts'),
    'quickjs-emscripten': () => import('./packages/quickjs-emscripten.ts'),
  })
  setThreadFile(new URL('./thread.js', import.meta.url))
}
