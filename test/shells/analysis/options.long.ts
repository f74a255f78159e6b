import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { analyzeCommand } from '../../../src/shells/analysis/index.ts'
import { randomFrom } from './hidden-commands.ts'

/** Input for a program that runs code: code that creates a file, a harmless script, and its options. */
interface Interpreter {
  code(mark: string): string
  readonly harmless: string
  readonly options: string
}

const interpreters: Readonly<Record<string, Interpreter>> = {
  node: {
    code: (mark) => `require("child_process").execSync("touch ${mark}")`,
    harmless: '1\n',
    options:
      '-e -p -pe --eval --print --eval= --print= -r --require --import --check -c --test --watch --no-warnings -v --input-type --input-type=commonjs -C --conditions=a --title --title=x --env-file --env-file=f - -- --experimental-loader --trace-warnings --enable-source-maps --test-only --icu-data-dir --disable-warning --disable-warning=x --stack-trace-limit --stack-trace-limit=5 --no-deprecation -i --interactive --harmony --preserve-symlinks --disable-proto=delete --experimental-vm-modules --openssl-config --frozen-intrinsics --test-reporter --test-name-pattern --expose-gc',
  },
  python3: {
    code: (mark) => `__import__("os").system("touch ${mark}")`,
    harmless: '1\n',
    options:
      '-c -m -W -X -B -u -v -V -i -E -S -s -q -I -O -OO -b -d -x -P -h -? --version --help - -- -Wa -Wdefault -Xdev -Bc -uc -Ec -ci -mjson.tool --check-hash-based-pycs -vc -qB -t -R -cu -xc',
  },
  perl: {
    code: (mark) => `system("touch ${mark}")`,
    harmless: '1\n',
    options:
      '-e -E -n -p -i -l -a -F -F: -w -W -t -T -c -v -V -0 -0777 -pe -ne -pie -le -we -s -se -lne -i.bak -pi -ale -M -I -x -U -u -d -S - -- -Fe -anE -lpe -0e -C -CS -00 -l0 -l012 -ce -ve -nw',
  },
  awk: {
    code: (mark) => `BEGIN{system("touch ${mark}")}`,
    harmless: 'BEGIN{}\n',
    options:
      '-f -F -v -F, -vx=1 -v -- - --version -W --posix --re-interval --traditional --sandbox -e -i -l -E -Wexec -We -Fx -f- x=1',
  },
  sed: {
    code: (mark) => `1e touch ${mark}`,
    harmless: 'p\n',
    options:
      '-e -f -n -E -r -i -s -z -u -b -l -l5 -ne -nE -Ee -ie -se -i.bak --expression --expression= --file --file= --quiet --posix --debug --sandbox --in-place --in-place=x --null-data -- - -nf -nie -ze -ue --line-length=3 --line-length -sn -ni -ns -n5 --follow-symlinks --separate --unbuffered -be',
  },
}

/** Returns a program with up to five words: options, the code, files inside and outside, and other words. */
function lineOf(random: (below: number) => number, name: string, code: string): string {
  const words = [code, code, code, '../evil', './harmless', 'harmless', "''", '1', 'f', 'x', "'p'", "'s/a/b/'"]
  const options = interpreters[name]?.options.split(' ') ?? []
  const one = (of: readonly string[]): string => of[random(of.length)] ?? ''
  const parts = Array.from({ length: 1 + random(5) }, () => {
    if (random(5) > 2) return one(words)
    const option = one(options)
    return option.endsWith('=') || random(8) === 0 ? option + one(words) : option
  })
  return `${name} ${parts.join(' ')}`
}

describe.each(Object.entries(interpreters))('%s, with any of its options', (name, { code, harmless }) => {
  const isHere = spawnSync(name, ['--version']).error === undefined

  // Compares with the real interpreter, which may not be installed.
  it.skipIf(!isHere)('runs no code in an allowed line that the analysis did not check', { timeout: 7_200_000 }, () => {
    const count = Number(process.env.FUZZ_LINES ?? 1_000)
    const next = randomFrom(Number(process.env.FUZZ_SEED ?? 1))
    const random = (below: number): number => Math.floor(next() * below)
    const base = mkdtempSync(join(tmpdir(), 'judged-options-'))
    try {
      const mark = join(base, 'mark')
      const source = code(mark)
      const work = join(base, 'work')
      mkdirSync(work)
      writeFileSync(join(base, 'evil'), `${source}\n`)
      /** Whether the code runs in a real shell, with the code also on standard input. */
      const leavesMark = (line: string): boolean => {
        writeFileSync(join(work, 'harmless'), harmless)
        writeFileSync(join(work, 'f'), 'x\n')
        const env = { PATH: process.env.PATH ?? '' }
        const stdio = ['pipe', 'ignore', 'ignore'] as const
        spawnSync('timeout', ['-k', '1', '2', 'bash', '-c', line], {
          ...{ cwd: work, input: `${source}\n`, env, stdio: [...stdio] },
        })
        if (!existsSync(mark)) return false
        rmSync(mark)
        return true
      }
      const lines = [...new Set(Array.from({ length: count }, () => lineOf(random, name, `'${source}'`)))]
      const allowed = lines.filter((line) => analyzeCommand(line, {}).decision === 'allow')
      const refused = lines.filter((line) => !allowed.includes(line)).slice(0, 200)
      expect(allowed.filter(leavesMark)).toEqual([])
      // Some refused lines must run the code; otherwise the test shows nothing.
      const escaped = refused.filter(leavesMark).length
      console.log(
        `${name}: ${lines.length} lines, ${allowed.length} allowed; of ${refused.length} refused ${escaped} run it`,
      )
      expect(escaped).toBeGreaterThan(0)
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  })
})
