import { GeneratedBlock } from '../docs/generated-block.ts'

/** The matrix in `docs/runtimes.md`. */
export const matrixBlock = new GeneratedBlock('matrix', 'npm run matrix')
