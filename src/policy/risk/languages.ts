/** The languages that the line rules cover. TypeScript and JavaScript share one set. */
export type Language = 'javascript' | 'python' | 'go' | 'rust' | 'java'

const extensions: Readonly<Record<string, Language>> = {
  ...{ '.ts': 'javascript', '.tsx': 'javascript', '.mts': 'javascript', '.cts': 'javascript' },
  ...{ '.js': 'javascript', '.jsx': 'javascript', '.mjs': 'javascript', '.cjs': 'javascript' },
  ...{ '.py': 'python', '.pyi': 'python', '.go': 'go', '.rs': 'rust', '.java': 'java' },
}

/** Returns the language of a file by its extension, in any letter case. */
export function languageOf(path: string): Language | undefined {
  return extensions[path.slice(path.lastIndexOf('.')).toLowerCase()]
}

/** Patterns for one line of a program. Quantifiers that could make a pattern slow are bounded. */
export interface LineRules {
  /** The line is a comment, and no other rule applies to it. */
  readonly comment: RegExp
  /** The line declares something public. */
  readonly declaration: RegExp
  /** One match per test case. */
  readonly testCase: RegExp
  /** One match per assertion. */
  readonly assertion: RegExp
  /** One match per test that does not run, or that keeps other tests from running. */
  readonly skip: RegExp
}

const slashComment = /^\s*(?:\/\/|\/\*|\*)/

export const lineRules: Readonly<Record<Language, LineRules>> = {
  javascript: {
    comment: slashComment,
    // `export` in any form, CommonJS exports, and class members marked `public` or `protected`.
    declaration: /^\s*(?:export\b|(?:module\.)?exports\b[^=]*=|(?:public|protected)\s)/,
    testCase: /(?<![.\w$])(?:it|test|specify|Deno\.test)(?:\.\w+){0,3}\s?[(`]/g,
    assertion:
      /(?<![.\w$])(?:expect|assert|ok|strictEqual|deepEqual)(?:\.\w+){0,3}\(|\.should\b|\bt\.(?:is|not|truthy|falsy|true|false|deepEqual|throws|equal|ok|same)\w*\(/g,
    skip: /\b(?:it|test|describe|suite|context|specify|bench)(?:\.\w+){0,2}\.(?:skip|todo|only|skipIf|runIf|fails|failing|fixme)\b|\b(?:xit|xdescribe|xtest|xcontext|fit|fdescribe)(?:\.\w+){0,2}\(|\b(?:this|t|ctx|context)\.(?:skip|todo)\(|\b(?:skip|todo): ?(?:true|['"`])/g,
  },
  python: {
    comment: /^\s*#/,
    // At most one level of indentation, and no leading underscore. Constants are in upper case.
    declaration:
      /^(?: {0,4}|\t)(?:(?:async )?def (?:[^\W_]|__init__)|class [^\W_])|^(?:[A-Z][A-Z0-9_]*\s?[:=]|__all__\b)/,
    testCase: /\bdef test\w*\(/g,
    assertion: /\bassert\b|\bself\.(?:assert|fail)\w*\(|\bpytest\.(?:raises|warns|fail)\(/g,
    skip: /\bmark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\(|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b|\.skipTest\(|\b__test__ = False\b|\bSkipTest\b|\bcollect_ignore\b/g,
  },
  go: {
    // Build constraints are comments that keep a file out of the build.
    comment: /^\s*(?:\/\/(?!go:build| ?\+build)|\/\*|\*)/,
    // Exported names of the package, and below one tab: fields, constants and interface methods with a result.
    declaration:
      /^func (?:\((?:\w+ )?\*?[A-Z][^)]*\) )?[A-Z]|^(?:type|var|const) [A-Z]|^\t[A-Z]\w*(?: +[\w*[(=]|\((?=[^{]*$).*\) )/,
    testCase: /\bfunc (?:Test|Fuzz|Example|Benchmark)\w*\(|\bt\.Run\(/g,
    assertion: /\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt|c)\.[A-Z]\w*\(/g,
    skip: /\b[tbf]\.(?:Skip|Skipf|SkipNow)\(|\btesting\.Short\(|^\/\/(?:go:build| ?\+build)\b/g,
  },
  rust: {
    comment: slashComment,
    // Also matches trait implementations, exported macros, and functions without a body, such as those that a trait requires.
    // Does not match `pub(crate)`.
    declaration: /^\s*(?:pub\s|#\[macro_export\]|(?:unsafe )?impl\b.* for |(?:(?:async|const|unsafe) )*fn [^{]*;)/,
    testCase: /#\[(?:\w+::){0,3}(?:test|rstest|test_case)\b/g,
    assertion: /\b(?:debug_)?assert\w*!|\bprop_assert\w*!|\bshould_panic\b/g,
    skip: /#\[ignore\b|#\[cfg_attr\([^\]]{0,200}\bignore\b|#\[cfg\(any\(\)\)/g,
  },
  java: {
    comment: slashComment,
    declaration: /^\s*(?:public|protected)\s|^package\s/,
    testCase: /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b|\bpublic void test\w*\(/g,
    assertion: /\bassert|\b(?:verify|fail|expectThrows)\(|\bexpected ?=/g,
    skip: /@(?:Disabled\w*|Enabled\w*|Ignore)\b|\bassum(?:e|ing)\w+\(|\benabled ?= ?false\b/g,
  },
}
