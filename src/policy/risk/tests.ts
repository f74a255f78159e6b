import { type Language, type Token, tokensOf } from './tokens.ts'

/** What a text holds of tests. */
interface Counts {
  readonly cases: number
  readonly assertions: number
  readonly skips: number
}

/** What stands for a test, a check, and a test that is not run, in code without comments, strings as `""`. */
const marks: Readonly<Record<Language, { readonly [K in keyof Counts]: RegExp }>> = {
  javascript: {
    cases: /(?<!\. |[\w$])(?:it|test|specify|Deno \. test)(?: \. \w+)* (?:\(|"")/g,
    assertions:
      /(?<!\. |\bfunction |\$)\b(?:expect|assert|ok|strictEqual|deepEqual)(?: \. \w+)* \(|(?<=\. )should\b|\bt \. (?:is|not|truthy|falsy|true|false|deepEqual|throws|equal|ok|same)\w* \(/g,
    skips:
      /\b(?:it|test|describe|suite|context|specify|bench) (?:\. \w+ )*\. (?:skip|todo|only|skipIf|runIf|fails|failing|fixme)\b|\b(?:xit|xdescribe|xtest|xcontext|fit|fdescribe)(?: \. \w+)* \(|\b(?:this|t|ctx|context) \. (?:skip|todo) \(|\b(?:skip|todo|ignore) : (?:true|"")/g,
  },
  python: {
    cases: /\bdef test\w* \(/g,
    assertions: /\bassert\b|\bself \. (?:assert|fail)\w* \(|\bpytest \. (?:raises|warns|fail) \(/g,
    skips:
      /\bmark \. (?:skip|skipif|xfail)\b|\bpytest \. (?:skip|xfail|importorskip) \(|@ (?:unittest \. )?(?:skip|skipIf|skipUnless|expectedFailure)\b|\. skipTest \(|\b__test__ = False\b|\bSkipTest\b|\bcollect_ignore\b/g,
  },
  go: {
    cases: /\bfunc (?:Test|Fuzz|Example|Benchmark)\w* \(|\bt \. Run \(/g,
    assertions: /\b[tb] \. (?:Error|Errorf|Fatal|Fatalf|Fail|FailNow) \(|\b(?:assert|require|is|qt|c) \. [A-Z]\w* \(/g,
    skips: /\b[tbf] \. (?:Skip|Skipf|SkipNow) \(|\btesting \. Short \(/g,
  },
  rust: {
    cases: /# \[ (?:\w+ :: )*(?:test|rstest|test_case)\b/g,
    assertions: /\b(?:debug_)?assert\w* !|\bprop_assert\w* !|\bshould_panic\b/g,
    skips: /# \[ (?:ignore\b|cfg_attr \( [^\]]{0,200} ignore\b|cfg \( any \( \) \))/g,
  },
  java: {
    cases: /@ (?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b|\bpublic void test\w* \(/g,
    assertions: /\bassert|\b(?:verify|fail|expectThrows) \(|\bexpected = /g,
    skips: /@ (?:Disabled\w*|Enabled\w*|Ignore)\b|\bassum(?:e|ing)\w+ \(|\benabled = false\b/g,
  },
}

/** Constraints that keep a file out of a build stand in comments. */
const constraints: Partial<Readonly<Record<Language, RegExp>>> = { go: /^\/\/(?:go:build|\s*\+build)\b/gm }

/** Whether a text holds fewer tests or checks than another, or runs fewer of them. */
export function removesTests(before: string, after: string, language: Language): boolean {
  const old = countsOf(before, language)
  const now = countsOf(after, language)
  return now.cases < old.cases || now.assertions < old.assertions || now.skips > old.skips
}

function countsOf(text: string, language: Language): Counts {
  const code = tokensOf(text, language).map(plain).join(' ')
  const { cases, assertions, skips } = marks[language]
  const count = (pattern: RegExp | undefined, where: string) =>
    pattern === undefined ? 0 : [...where.matchAll(pattern)].length
  return {
    cases: count(cases, code),
    assertions: count(assertions, code),
    skips: count(skips, code) + count(constraints[language], text),
  }
}

/** What a string says is no code. */
function plain({ kind, text }: Token): string {
  return kind === 'string' ? '""' : text
}
