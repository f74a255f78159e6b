import * as z from 'zod'
import { createPathMapping, defineDialectTool, readWhole } from '../../src/dialects/define.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'

/** A dialect whose outputs are data. */
export const dialect: Dialect = {
  name: 'of-data',
  description: 'For tests',
  pathMapping: createPathMapping({ '/workspace': '' }),
  tools: [
    defineDialectTool({
      name: 'show',
      description: 'Show',
      input: z.object({ path: z.string() }),
      uses: ['read_file'],
      *steps({ path }, location) {
        return { output: { text: (yield* readWhole(location.inward(path))).content } }
      },
    }),
  ],
  formatError: ({ code }) => ({ output: `No: ${code}` }),
}
