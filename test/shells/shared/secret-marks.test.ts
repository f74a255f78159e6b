import { describe, expect, it } from 'vitest'
import type { Path } from '../../../src/paths/logical-path.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { createMarks } from '../../../src/shells/shared/secret-marks.ts'
import { runAtOnce } from '../../../src/util/steps.ts'
import { times } from '../../counts.ts'
import { shellBench, unjudged } from '../setup.ts'

const SECRET = 'PASSWORD=hunter2-the-secret'

const tree = {
  '.env': `${SECRET}\nOTHER=value-of-it\n`,
  'conf/.env.production': `${SECRET}\nOTHER=value-of-it\n`,
  '.ssh/id_rsa': `${SECRET}\nOTHER=value-of-it\n`,
  'link-to-it': { link: '.env' },
  'a.txt': 'ordinary\n',
  '.git/config': `[core]\n\t${SECRET}\n\tvalue-of-it\n`,
}

/** Lines that try to reveal or change the content of the file `F`. */
const lines = [
  'cat F',
  'cat -A F',
  'cat < F',
  'cat 0< F',
  'cat <> F',
  'tac F',
  'rev F',
  'nl F',
  'head -c 100 F',
  'tail -n 5 F',
  'more() { cat F; }; more',
  'echo "$(cat F)"',
  'echo "$(<F)"',
  'echo `cat F`',
  'x=$(<F); echo "$x"',
  'mapfile -t x < F; printf %s "$x"',
  'readarray x < F; printf %s "$x"',
  'read -r x < F; echo "$x"',
  'while read -r x; do echo "$x"; done < F',
  'exec 3< F; cat <&3',
  'cat <(cat F)',
  'source F; echo "$PASSWORD"',
  '. F; echo "$PASSWORD"',
  'bash F',
  'bash -c "cat F"',
  'sh -c "cat F"',
  'eval "cat F"',
  'echo "cat F" | bash',
  'env cat F',
  'timeout 5 cat F',
  'time cat F',
  'echo F | xargs cat',
  'find . -name "*" -exec cat {} + ; cat F',
  'p=F; cat "$p"',
  'cat ./F',
  'cat "$PWD/F"',
  'cat $(echo F)',
  'cat ./././F',
  'cd . && cat F',
  'grep . F',
  'grep -c "" F; grep -o "." F',
  'egrep . F',
  'fgrep -v zzz F',
  'rg . F',
  'rg --no-ignore -uuu . F',
  'sed p F',
  'sed -n "w out.txt" F',
  'sed -i "" F; sed -i s/a/b/ F',
  "awk '{ print }' F",
  `awk 'BEGIN { while ((getline l < "F") > 0) print l }'`,
  'sort F',
  'sort -o out.txt F',
  'uniq F',
  'cut -c1- F',
  'paste F',
  'paste F a.txt',
  'comm F a.txt',
  'join F F',
  'diff F a.txt',
  'diff a.txt F',
  'tr a b < F',
  'fold -w 5 F',
  'expand F',
  'unexpand F',
  'column F',
  'strings F',
  'od -c F',
  'base64 F',
  'base64 -w0 < F',
  'md5sum F; sha1sum F; sha256sum F',
  'wc F; wc -c < F',
  'split -l 1 F part-',
  'tee out.txt < F',
  'cp F out.txt',
  'cp -r . copied',
  'cp -a . copied',
  'mv F out.txt',
  'ln F hard',
  'ln -s F soft; cat soft',
  'ln -s "$PWD/F" soft; cat soft',
  'tar cf out.tar F; tar xf out.tar -O',
  'tar cf out.tar .; tar xOf out.tar',
  'tar czf out.tgz F',
  'gzip F',
  'gzip -c F > out.gz',
  'gzip -k F',
  'zcat F',
  'gunzip -c F',
  'jq -R . F',
  'yq . F',
  'file F',
  'sqlite3 F .dump',
  'echo x > F',
  'echo x >> F',
  'echo x >| F',
  'echo x &> F',
  'echo x 2> F 1>&2',
  'echo x | tee F',
  'echo x | tee -a F',
  'touch F',
  'truncate -s 0 F',
  'rm F',
  'rm -f F',
  'rm -rf .',
  'unlink F',
  'chmod 600 F',
  'cp a.txt F',
  'mv a.txt F',
  'ln -sf a.txt F',
  'mkdir other; cd other; cat ../F',
  'exec 4<> F; echo x >&4',
  'printf x > F',
  ': > F',
  '> F',
  'test -s F && echo not empty',
  'stat F; ls -la F; du F; wc -c F',
  '[ F -nt a.txt ]; [ F -ef link-to-it ]',
  "node -e \"require('fs').readFileSync('F')\"",
  'node F',
  'git add -f F; git diff; git show HEAD:F; git hash-object F',
  'git diff --no-index F a.txt',
  'patch F < a.txt',
  'xxd F; hexdump -C F; file F',
  'cmp F a.txt; realpath F',
  'history; fc -l; cat ~/F',
]

const never = ['hunter2', 'value-of-it', Buffer.from('hunter2-the').toString('base64').slice(0, 10)]

const protectedPaths = ['.env', 'conf/.env.production', '.ssh/id_rsa', 'link-to-it', '.git/config']

describe.each(
  [
    ...protectedPaths.map((path) => [path, 'without line evaluation', unjudged(bash())] as const),
    ['.env', 'with line evaluation', bash()] as const,
  ].map((row, number) => [...row, number] as const),
)('the protected file %s, %s', (path, _, shell, number) => {
  const some = lines.filter((_, index) => (index + number) % times(12, 1) === 0)

  it(`is not revealed or changed by any of ${some.length} lines`, async () => {
    const { run, snapshot, workspace } = await shellBench(tree, { shell })
    const before = await snapshot()
    const wrong: string[] = []
    for (const pattern of some) {
      const line = pattern.replaceAll('F', path)
      const start = workspace.auditRecords().length
      const result = await run(line, { timeoutMs: 5000 })
      const visible = JSON.stringify([result, workspace.auditRecords().slice(start)])
      if (never.some((text) => visible.includes(text))) wrong.push(`told by: ${line}`)
      const after = await snapshot()
      for (const [name, content] of Object.entries(after)) {
        if (before[name] === content) continue
        if (never.some((text) => content.includes(text))) wrong.push(`written to ${name} by: ${line}`)
      }
      for (const name of protectedPaths) {
        if (after[name] !== before[name]) wrong.push(`${name} was changed by: ${line}`)
      }
      if (result.ok === true) await workspace.undo(result.callId as string)
    }
    expect(wrong).toEqual([])
  })
})

describe('each refused attempt', () => {
  it('is listed in the result and in the audit', async () => {
    const { run, workspace } = await shellBench(tree)
    const silent: string[] = []
    /** Lines that end before they access the file. */
    const never = new Set(['cp -r . copied', 'cp -a . copied', 'rm -rf .'])
    for (const pattern of lines.slice(0, lines.indexOf('test -s F && echo not empty'))) {
      if (never.has(pattern)) continue
      const line = pattern.replaceAll('F', '.env')
      const start = workspace.auditRecords().length
      const result = await run(line)
      if (/command not found/.test(result.stderr ?? '')) continue
      const refused = (result.refused ?? []).some((one: { path: string }) => /(^|\/)\.env$/.test(one.path))
      const audited = workspace
        .auditRecords()
        .slice(start)
        .some(({ refusals, code, pathsAsked }) =>
          code === undefined
            ? refusals?.some((one) => one.path === '.env') === true
            : pathsAsked?.includes('.env') === true || refusals?.some((one) => one.path === '.env') === true,
        )
      if (!audited || (result.ok && !refused)) silent.push(`${line} ${JSON.stringify(result.refused)} ${result.stderr}`)
      if (result.ok === true) await workspace.undo(result.callId as string)
    }
    expect(silent).toEqual([])
  })
})

describe('secret marks', () => {
  const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
  const other = token.replace('a1', 'zz')
  const bytes = (text: string) => new TextEncoder().encode(text)
  const [a, b, c] = ['a.ts', 'b.ts', 'c.ts'] as Path[] as [Path, Path, Path]

  it('refuse UTF-16 text with a secret as a whole', () => {
    const units = new Uint8Array(Buffer.from(`\ufeff${token}`, 'utf16le'))
    const { hide } = createMarks()
    for (const text of [units, new Uint8Array(Buffer.from(units).swap16())]) {
      expect(() => hide(text, a)).toThrow('"a.ts" holds a secret and is UTF-16')
    }
    const plain = new Uint8Array(Buffer.from('\ufeffghp_ is no secret', 'utf16le'))
    expect(hide(plain, a)).toBe(plain)
  })

  it('hide a secret in UTF-16 without a byte order mark, and restore it', () => {
    const text = `key: ${token}\nlast line\n`
    const little = new Uint8Array(Buffer.from(text, 'utf16le'))
    for (const units of [little, new Uint8Array(Buffer.from(little).swap16())]) {
      const { hide, restore } = createMarks()
      const shown = hide(units, a)
      expect(Buffer.from(shown).toString('latin1').replaceAll('\0', '')).toBe(
        'key: [REDACTED:github-token:1]\nlast line\n',
      )
      expect(runAtOnce(restore(shown, a))).toEqual(units)
    }
  })

  it('are restored if unambiguous, and left or refused otherwise', () => {
    const { hide, restore } = createMarks()
    const text = new TextDecoder().decode(hide(bytes(`x = '${token}'\n`), a))
    const mark = /\[REDACTED:[^\]]*\]/.exec(text)?.[0] as string
    expect(runAtOnce(restore(bytes(text), b))).toEqual(bytes(`x = '${token}'\n`))
    for (const untouched of ['[REDACTED:no end', `[REDACTED:${'x'.repeat(300)}]`, '[REDACTED:unknown#9]']) {
      expect(runAtOnce(restore(bytes(untouched), a))).toEqual(bytes(untouched))
    }
    expect(new TextDecoder().decode(hide(bytes(`y = '${other}'\n`), b))).toContain(mark)
    expect(runAtOnce(restore(bytes(`z = '${mark}'`), a))).toEqual(bytes(`z = '${token}'`))
    expect(() => runAtOnce(restore(bytes(`z = '${mark}'`), c))).toThrow('a mark of a hidden secret stands where')
    expect(() => runAtOnce(restore(bytes(`z = 'x${mark}y'`), a))).toThrow('a mark of a hidden secret stands where')
  })
})
