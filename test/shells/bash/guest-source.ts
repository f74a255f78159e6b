import { writeFileSync } from 'node:fs'
import { guestSourceFile, guestSourceModule } from './guest-bundle.ts'

/** `npm run build:guest`: writes the module that holds the guest's bundle. */
writeFileSync(guestSourceFile, await guestSourceModule())
