/** What is mutated, and the tests that should notice. Attacks, fuzzers and histories are left out: each mutant runs them. */
export const areas: Readonly<
  Record<string, { readonly mutate: readonly string[]; readonly tests: readonly string[] }>
> = {
  paths: { mutate: ['src/paths/**/*.ts'], tests: ['test/paths/*.test.ts'] },
  files: { mutate: ['src/files/**/*.ts'], tests: ['test/files/*.test.ts', 'test/tools/read-file.test.ts'] },
  policy: { mutate: ['src/policy/**/*.ts'], tests: ['test/policy/**/*.test.ts'] },
  patch: {
    mutate: ['src/patch/**/*.ts'],
    tests: [
      'test/patch/{diff,diff-artifact,text-lines,base-and-hash,offsets,forms,mounts}.test.ts',
      'test/tools/apply-patch.test.ts',
    ],
  },
  search: { mutate: ['src/search/**/*.ts'], tests: ['test/search/*.test.ts'] },
  'command-line': {
    mutate: ['src/shells/command-line/**/*.ts', 'src/shells/analysis/index.ts'],
    tests: ['test/shells/command-line/{command-line,judging}.test.ts'],
  },
  pipeline: {
    mutate: ['src/call/call-tool.ts'],
    tests: [
      'test/{workspace,hooks,events,resume,plan-mode}.test.ts',
      'test/tools/read-if-changed.test.ts',
      'test/history/fork.test.ts',
      'test/dialects/frame.test.ts',
      'test/call/commands/background.test.ts',
    ],
  },
}
