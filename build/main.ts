import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'

/** `npm run build`: writes the code and its declarations at the same time, then keeps the declarations that are published. */
const top = join(import.meta.dirname, '..')
rmSync(join(top, 'dist'), { recursive: true, force: true })
const tsc = join(top, 'node_modules/typescript/bin/tsc')
await Promise.all([
  build({ root: top, logLevel: 'warn', build: { emptyOutDir: false } }),
  promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck'], { cwd: top }),
])
await import('./declarations.ts')
