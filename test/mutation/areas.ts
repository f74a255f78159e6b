/** The code to mutate and the tests to run against it. Attacks, fuzzers and histories are left out: they are too slow. */
export const areas: Readonly<
  Record<string, { readonly mutate: readonly string[]; readonly tests: readonly string[] }>
> = {
  paths: { mutate: ['src/paths/**/*.ts'], tests: ['test/paths/*.test.ts'] },
  files: { mutate: ['src/files/**/*.ts'], tests: ['test/files/**/*.test.ts', 'test/tools/read-file.test.ts'] },
  policy: { mutate: ['src/policy/**/*.ts'], tests: ['test/policy/**/*.test.ts'] },
  patch: {
    mutate: ['src/patch/**/*.ts'],
    tests: [
      'test/patch/{diff,diff-artifact,text-lines,base-and-hash,offsets,forms,mounts}.test.ts',
      'test/tools/apply-patch.test.ts',
    ],
  },
  search: { mutate: ['src/search/**/*.ts'], tests: ['test/search/*.test.ts'] },
  'shell-analysis': {
    mutate: ['src/shells/analysis/**/*.ts'],
    tests: ['test/shells/analysis/{command-line,judging}.test.ts'],
  },
  call: {
    mutate: ['src/call/{call-tool,evaluate-command,commit-changes}.ts'],
    tests: [
      'test/workspace/create-workspace.test.ts',
      'test/call/**/*.test.ts',
      'test/tools/read-if-changed.test.ts',
      'test/history/fork.test.ts',
      'test/dialects/frame.test.ts',
    ],
  },
}
