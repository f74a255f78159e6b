import { useBundledPackages } from './bundled-packages.ts'

// The threads and processes of the command line: those of `bash()`, with the bundled packages.
useBundledPackages()
await import('../shells/bash/thread.ts')
