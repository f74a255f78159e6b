const modules: Readonly<Record<string, () => Promise<unknown>>> = {
  'src/files/hash/sha256.ts': () => import('../../src/files/hash/sha256.ts'),
  'src/search/find-bytes.ts': () => import('../../src/search/find-bytes.ts'),
  'src/util/native-bytes.ts': () => import('../../src/util/native-bytes.ts'),
}

/** Replaces `test/load-again.ts` for mutants: a bundle evaluates each module once. */
export const loadAgain = (path: string): Promise<unknown> | undefined => modules[path]?.()
