import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from 'wardspace/backends/memory'
import { memoryByteStore } from '../../playground/projects/byte-store.ts'
import { openSession } from '../../playground/session/open-session.ts'
import { filesOf, openTerminal } from '../../playground/session/terminal.ts'
import { cellsOf, charactersOf, placeAfter } from '../../src/elements/terminal/cells.ts'
import { isIncomplete } from '../../src/elements/terminal/incomplete.ts'
import { createLineEditor } from '../../src/elements/terminal/line-editor.ts'
import { promptOf, startOf, textOf } from '../../src/elements/terminal/line-text.ts'
import { colouredOutput } from '../../src/elements/terminal/output-colours.ts'
import { fitted, sentence } from '../../src/elements/terminal/sentences.ts'
import type { TerminalLine } from '../../src/ui/terminal.ts'
import { completeLine } from '../../src/ui/terminal-completion.ts'
import { createSafeText, safeText } from '../../src/ui/terminal-text.ts'
import { isLong } from '../counts.ts'

async function open(files: Readonly<Record<string, string>> = { 'src/a.js': 'one\n' }) {
  const project = { info: { id: 'p', name: 'P' }, backend: memory(files), kept: memoryByteStore() }
  const session = await openSession(project)
  const terminal = openTerminal(session)
  /** What the last line has printed. */
  const printed = () => {
    const line = terminal.snapshot.lines.at(-1)
    return line === undefined ? '' : shownText(line).slice(startOf('/workspace', line).length)
  }
  const run = async (line: string) => {
    await terminal.run(line)
    return printed().replace(/\x1b\[\d*m/g, '')
  }
  return { session, terminal, run, printed }
}

/** A line as a wide terminal shows it. */
function shownText(line: TerminalLine): string {
  return fitted(textOf('/workspace', line), 1_000)
}

describe('the shell of the terminal', () => {
  it('keeps variables, functions, the exit code and the directory from line to line', async () => {
    const { run, terminal, session } = await open()
    const lines: readonly (readonly [line: string, output: string])[] = [
      ['export NAME=world; n=1', ''],
      ['n=$((n + 1)); echo "$NAME $n"', 'world 2\n'],
      ['node -e "console.log(process.env.NAME)"', 'world\n'],
      ['greet() { echo "hello $1"; return 4; }', ''],
      ['greet $NAME', 'hello world\nexit 4\n'],
      ['echo $?', '4\n'],
      ['echo $?', '0\n'],
      ['list=(a "b c")', ''],
      [`printf "%s|" "\${list[@]}"`, 'a|b c|\n'],
      [`odd=$'a\\ndeclare -x B=1 "$(echo no)" \\'q\\' \`echo no\`'`, ''],
      ['printf "%s" "$odd"', 'a\ndeclare -x B=1 "$(echo no)" \'q\' `echo no`\n'],
      ['echo "$B."', '.\n'],
      ['unset NAME; cd src', ''],
      ['pwd; echo "$NAME."', '/workspace/src\n.\n'],
      ['cat <<< "$n"', '2\n'],
      ['printf "no end"', 'no end\n'],
    ]
    for (const [line, output] of lines) expect([line, await run(line)]).toEqual([line, output])
    expect(JSON.stringify(terminal.snapshot)).not.toMatch(/\\u001e|__exit/)
    await session.close()
  })

  it('keeps the state of the person from the agent', async () => {
    const { run, session } = await open()
    await session.change({ policy: 'autonomous' })
    await run('SECRET_WORD=mine')
    expect(await session.agentRun.value.call('run_command', { command: 'echo "$SECRET_WORD."' })).toMatchObject({
      stdout: '.\n',
    })
    await session.close()
  })

  it('prints output while the command runs, once, and nothing again when it runs under another policy', async () => {
    const { run, printed, session } = await open()
    await session.change({ policy: 'readOnly' })
    expect(await run('echo one; echo two > two.txt; echo three')).toBe('one\nthree\nchanged: two.txt\n')
    const ended = run('echo first; sleep 0.5; echo last')
    await expect.poll(printed).toContain('first')
    expect(printed()).not.toContain('last')
    expect(await ended).toBe('first\nlast\n')
    await session.close()
  })

  it.runIf(isLong)('gives the running command what is entered when it asks, and shows both', async () => {
    const { terminal, printed, run, session } = await open({
      'ask.js': `const rl = require('readline').createInterface({ input: process.stdin, output: process.stdout })
rl.question('Name? ', (name) => rl.question('Age? ', (age) => { console.log(name + ' is ' + age); rl.close() }))`,
    })
    const dialogue = async (line: string, ...texts: (string | undefined)[]) => {
      const ended = terminal.run(line)
      for (const text of texts) {
        await expect.poll(() => terminal.snapshot.waitsFor).toBeDefined()
        terminal.enter(text)
      }
      await ended
      expect(terminal.snapshot.waitsFor).toBeUndefined()
      return printed().replace(/\x1b\[\d*m/g, '')
    }
    expect(await run('false')).toBe('exit 1\n')
    expect(await dialogue('read name; echo "hello $name"', 'world\n')).toBe('world\nhello world\n')
    expect(await run('echo $name')).toBe('world\n')
    expect(await dialogue('cat > notes.txt', 'one\n', 'two\n', undefined)).toBe('one\ntwo\nchanged: notes.txt\n')
    expect(await run('cat notes.txt')).toBe('one\ntwo\n')
    expect(await dialogue('cat', 'a\n', 'b\n', undefined)).toBe('a\na\nb\nb\n')
    expect(await dialogue('node ask.js', 'Ana\n', '7\n')).toBe('Name? Ana\nAge? 7\nAna is 7\n')
    expect(await dialogue('read -sp "Key: " key; echo $key | wc -l', 'abc\n')).toBe('Key: \n1\n')
    expect(JSON.stringify(terminal.keep())).not.toContain('abc')
    await session.close()
  })

  it('gives a line that runs again under another policy what was entered before', async () => {
    const { terminal, printed, session } = await open()
    await session.change({ policy: 'readOnly' })
    const ended = terminal.run('read a; echo "$a" > a.txt; read b; echo "$a $b"')
    for (const text of ['1\n', '2\n']) {
      await expect.poll(() => terminal.snapshot.waitsFor).toBe('text')
      terminal.enter(text)
    }
    await ended
    expect(printed().replace(/\x1b\[\d*m/g, '')).toBe('1\n2\n1 2\nchanged: a.txt\n')
    await session.close()
  })

  it.runIf(isLong)('ends what waits for input when the line is stopped', async () => {
    const { terminal, run, session } = await open()
    for (const line of ['read x', 'cat', 'sort | head']) {
      const ended = terminal.run(line)
      await expect.poll(() => terminal.snapshot.waitsFor).toBe('text')
      terminal.stop()
      await ended
      expect(terminal.snapshot).toMatchObject({ isRunning: false, waitsFor: undefined })
    }
    expect(await run('echo $?')).toBe('130\n')
    await session.close()
  })

  it.runIf(isLong)('keeps the last directory for cd -, and passes the history on to other commands', async () => {
    const { run, session } = await open({ 'src/a.js': '', 'two words/b.js': '' })
    const lines: readonly (readonly [line: string, output: string])[] = [
      ['cd src', ''],
      ['cd "../two words"', ''],
      ['cd -', '/workspace/src\n'],
      ['cd -', '/workspace/two words\n'],
      ['echo $OLDPWD', '/workspace/src\n'],
      ['history | grep -c cd', '4\n'],
      ['history 2 | cat', '    5  history | grep -c cd\n    6  history 2 | cat\n'],
      [`history | tail -n 1 # it's`, `    7  history | tail -n 1 # it's\n`],
    ]
    for (const [line, output] of lines) expect([line, await run(line)]).toEqual([line, output])
    await session.close()
  })

  it.runIf(isLong)('leaves a folder that is gone, and a stopped line has the code of one', async () => {
    const { terminal, run, session } = await open()
    await run('mkdir new && cd new')
    await session.changeFiles({ remove: ['new'], label: 'Deleted new' })
    expect(await run('pwd')).toContain('The folder new no longer exists.')
    expect(await run('pwd')).toBe('/workspace\n')
    const ended = terminal.run('echo begun; sleep 60')
    await expect.poll(() => terminal.snapshot.lines.at(-1)?.output).toContain('begun')
    terminal.stop()
    await ended
    expect(await run('echo $?')).toBe('130\n')
    await session.close()
  })

  it('has the exit codes of lines that never reached the shell', async () => {
    const { terminal, run, session } = await open()
    const stopped = terminal.run('echo never')
    terminal.stop()
    await stopped
    expect(terminal.snapshot.lines.at(-1)).toMatchObject({ output: '', isRunning: false })
    expect(await run('echo $?')).toBe('130\n')
    expect(await run('echo $?')).toBe('0\n')
    // Ctrl+C where a line is only typed.
    terminal.stop()
    expect(await run('echo $?')).toBe('130\n')
    expect(await run('cd /etc')).toMatch(/^Blocked/)
    expect(await run('echo $?')).toBe('126\n')
    await session.close()
  })

  it('says which lines the end of the page has ended', async () => {
    const { terminal, session } = await open()
    await terminal.run('echo over')
    const running = terminal.run('printf begun; sleep 60')
    await expect.poll(() => terminal.snapshot.lines.at(-1)?.output).toContain('begun')
    const saved = JSON.parse(JSON.stringify(terminal.keep()))
    const later = openTerminal(session, saved)
    const texts = later.snapshot.lines.map((line) => stripVTControlCharacters(shownText(line)))
    expect(texts).toEqual([
      '/workspace $ echo over\nover\n',
      '/workspace $ printf begun; sleep 60\nbegun\nEnded when the page was closed or reloaded\n',
    ])
    expect(later.keep()).toEqual(openTerminal(session, JSON.parse(JSON.stringify(later.keep()))).keep())
    terminal.stop()
    await running
    await session.close()
  })

  it.runIf(isLong)('has the colour of errors for what a failing line prints as one, and for nothing else', async () => {
    const { terminal, session } = await open({ 'src/a.js': 'one\n' })
    const reds = () =>
      [...(terminal.snapshot.lines.at(-1)?.output ?? '').matchAll(/\x1b\[31m([^\x1b]*)\x1b\[0m/g)].map(
        ([, text]) => text,
      )
    const lines: readonly (readonly [line: string, reds: readonly string[]])[] = [
      ['cat nothing', ['cat: nothing: No such file or directory\n']],
      ['echo out; cat nothing', ['cat: nothing: No such file or directory\n']],
      ['echo note >&2', []],
      ['node -e "console.warn(1)"', []],
      ['cat nothing || echo made up for', []],
    ]
    for (const [line, expected] of lines) {
      await terminal.run(line)
      expect([line, reds()]).toEqual([line, expected])
    }
    for (const line of ['read -p "Name? " name; false', 'echo "1) one" >&2; read -p "#? " name; false']) {
      const ended = terminal.run(line)
      await expect.poll(() => terminal.snapshot.waitsFor).toBe('text')
      terminal.enter('Ana\n')
      await ended
      expect([line, reds()]).toEqual([line, []])
    }
    await session.close()
  })

  it('prints each line as a text that only grows', async () => {
    const { terminal, session } = await open()
    const texts: string[] = []
    terminal.subscribe(({ lines }) => texts.push(lines.map(shownText).join('')))
    await terminal.run('git status')
    await terminal.run('ls --color')
    for (const [at, text] of texts.entries()) expect(text.startsWith(texts[at - 1] ?? '')).toBe(true)
    await session.close()
  })

  it.runIf(isLong)('says what there is in place of a command that is not here', async () => {
    const { run, session } = await open()
    expect(await run('less src/a.js')).toContain('less is not available here. Use cat: the terminal scrolls.')
    expect(await run('node')).toBe('node has no prompt of its own here. Run node FILE, or node -e "CODE".\n')
    expect(await run('bash')).toBe('This is bash already. Run a script with bash FILE.\n')
    expect(await run('alias g=git')).toContain('alias is not available here. Define a function instead')
    for (const name of [
      'nano',
      'curl',
      'python3',
      'sudo',
      'ssh',
      'apt',
      'top',
      'docker',
      'man',
      'll',
      'tsc',
      'zip',
      'uname',
    ]) {
      expect(await run(`${name} src/a.js`)).toContain(`${name} is not available here. `)
    }
    await session.close()
  })

  it('says why a line of the person is blocked without the rules of the agent, and lists what was entered', async () => {
    const { run, session } = await open()
    for (const line of ['cd ..', 'cd /etc', '?']) {
      expect(await run(line)).toMatch(/^Blocked: .{10,}\n$/)
      expect(await run(line)).not.toContain('the agent')
    }
    expect(await run('history')).toBe('    1  cd ..\n    2  cd /etc\n    3  ?\n    4  history\n')
    expect(await run('history 2')).toBe('    4  history\n    5  history 2\n')
    expect(await run('echo $?')).toBe('0\n')
    await session.close()
  })
})

describe('completion', () => {
  const head = 'ref: refs/heads/main\n'
  const place = {
    root: '/workspace',
    cwd: 'src',
    files: filesOf({
      backend: memory({
        'src/price.js': '',
        'src/price.test.js': '',
        'src/two words.js': '',
        'package.json': '{"scripts":{"test":"node --test","lint":"x"}}',
        '.git/HEAD': head,
        '.git/refs/heads/main': '0\n',
        '.git/refs/heads/fix/rounding': '0\n',
        '.git/packed-refs': '0 refs/heads/old\n',
      }),
    }),
  }
  it.each([
    ['base6', '4 '],
    ['cat pri', 'ce.'],
    ['cat price.t', 'est.js '],
    ['cat two', '\\ words.js '],
    ['cat ../pack', 'age.json '],
    ['cd /work', ''],
    ['cd /workspace/s', 'rc/'],
    ['npm run l', 'int '],
    ['npm te', 'st '],
    ['git comm', 'it '],
    ['git checkout fix', '/rounding '],
    ['git switch o', 'ld '],
    ['ls | gre', 'p '],
    ['echo "price.te', 'st.js '],
    ['cat nothing', ''],
  ])('continues %j with %j', async (before, added) => {
    expect((await completeLine(before, place)).added).toBe(added)
  })

  it.each([
    ['/repo', 'cd /repo/s', 'rc/'],
    ['/repo', 'cd /workspace/s', ''],
    ['/repo', 'cat ~/pack', 'age.json '],
    ['/', 'cat /pack', 'age.json '],
    ['/', 'cat /src/price.t', 'est.js '],
  ])('under the root %s continues %j with %j', async (root, before, added) => {
    expect((await completeLine(before, { ...place, root })).added).toBe(added)
  })

  it.each([
    ['/repo', '.', '/repo $'],
    ['/repo', 'src', '/repo/src $'],
    ['/', '', '/ $'],
    ['/', 'src', '/src $'],
  ])('under the root %s, the prompt in %j is %j', (root, cwd, prompt) => {
    expect(stripVTControlCharacters(promptOf(root, cwd)).trim()).toBe(prompt)
  })
})

describe('the colours of an output', () => {
  const coloured = (command: string, output: string, more: object = {}) =>
    colouredOutput({
      ...{ id: 1, actor: 'person', command, cwd: '.', output, refused: [], notes: [], isRunning: false, ...more },
    }).replace(/\x1b\[(\d+)m/g, (_, code) => (code === '0' ? '>' : `<${code} `))

  it.each([
    [
      'git diff',
      'diff --git a/a b/a\n@@ -1 +1 @@\n-old\n+new\n',
      '<1 diff --git a/a b/a>\n<34 @@ -1 +1 @@>\n<31 -old>\n<32 +new>\n',
    ],
    ['git log', 'commit ebc40eb\n\n    x\n', '<33 commit ebc40eb>\n\n    x\n'],
    [
      'git add a; git status',
      'Changes to be committed:\n\tnew file: a\nUntracked files:\n\tb\n',
      'Changes to be committed:\n\t<32 new file: a>\nUntracked files:\n\t<31 b>\n',
    ],
    ['git branch', '* main\n  fix\n', '<32 * main>\n  fix\n'],
    ['npm test', '✔ one\n✖ two\nℹ tests 2\n', '<32 ✔ one>\n<31 ✖ two>\n<34 ℹ tests 2>\n'],
    [
      'ls -l',
      'drwxr-xr-x 1 user user 0 Jan 1 1970 src/\n-rw-r--r-- 1 u u 0 Jan 1 1970 a\n',
      'drwxr-xr-x 1 user user 0 Jan 1 1970 <34 src/>\n-rw-r--r-- 1 u u 0 Jan 1 1970 a\n',
    ],
    ['git diff | cat', '+new\n', '+new\n'],
    ['cat notes', '+new\n✔ one\n', '+new\n✔ one\n'],
    ['npm test', '\x1b[31m✔ one\x1b[0m\n', '<31 ✔ one>\n'],
  ])('of %j', (command, output, expected) => {
    expect(coloured(command, output)).toBe(expected)
  })

  it('are a growing text while the command runs', () => {
    const output = '✔ one\n✖ two\nplain\n'
    let before = ''
    for (let length = 0; length <= output.length; length++) {
      const now = coloured('npm test', output.slice(0, length), { isRunning: true })
      expect(now.startsWith(before)).toBe(true)
      before = now
    }
    expect(coloured('npm test', output).startsWith(before)).toBe(true)
  })

  it.runIf(isLong)('show which names of a list are folders', async () => {
    const { terminal, session } = await open({ 'src/deep/a.js': '', 'b.js': '' })
    for (const [line, folder] of [
      ['ls', 'src'],
      ['ls -a src', 'deep'],
      ['cd src; ls', 'src'],
    ] as const) {
      await terminal.run(line)
      expect(terminal.snapshot.lines.at(-1)?.folders).toEqual([folder])
    }
    await session.close()
  })
})

describe('the text of a command', () => {
  it('keeps its colours and nothing else that a terminal carries out', () => {
    const kept = '\x1b[31mred\x1b[38;5;9m256\x1b[38;2;1;2;3mtrue\x1b[0m\n'
    const hostile = '\x1b]52;c;aGk=\x07\x1b]0;title\x1b\\\x1b[2J\x1b[10;10H\x1bc\x1bP1;2q\x1b\\\x07\x9b31m'
    expect(safeText(`${kept}${hostile}`)).toBe(`${kept}31m`)
    for (let size = 1; size < 8; size += 1) {
      const add = createSafeText()
      const pieces = `${kept}${hostile}`.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      expect(pieces.map(add).join('')).toBe(`${kept}31m`)
    }
  })

  it.each([
    ['echo a', false],
    ["echo 'a", true],
    ["echo 'it' \"", true],
    ['echo a \\', true],
    ['f() {', true],
    ['f() {\n echo a\n}', false],
    ['f() { echo a; }', false],
    ['if true; then', true],
    ['if true; then echo if; fi', false],
    ['for i in 1 2; do', true],
    ['for i in 1 2; do echo $i; done', false],
    ['while read x\ndo\necho $x\ndone < a', false],
    ['case $x in', true],
    ['case $x in a) echo;; esac', false],
    ['cat <<EOF', true],
    ['cat <<EOF\nif\n"\nEOF', false],
    ['cat <<< word', false],
    [`echo \${a} {b,c} # it's "`, false],
    ['ls |', true],
    ['true &&', true],
    ['sleep 1 &', false],
    ['(cd src', true],
    ['echo $(ls', true],
    ['echo $(( (1+2)*3 ))', false],
  ])('%j needs more lines: %j', (text, expected) => {
    expect(isIncomplete(text)).toBe(expected)
  })
})

describe('a sentence of the page', () => {
  it.each([
    [20, 'nano is not \navailable here. Open\nthe file instead.'],
    [22, 'nano is not available \nhere. Open the file \ninstead.'],
    [80, 'nano is not available here. Open the file instead.'],
    [7, 'nano is\nnot \navailable\nhere. \nOpen \nthe \nfile \ninstead.'],
  ])('breaks at words in %i columns', (width, shown) => {
    expect(fitted(sentence('nano is not available here. Open the file instead.'), width)).toBe(shown)
  })

  it('keeps its words and its own lines, in any width, and leaves all other text as it is', () => {
    const words = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), { maxLength: 12 })
    fc.assert(
      fc.property(words, fc.string(), fc.integer({ min: 2, max: 60 }), (all, output, width) => {
        const said = all.join(' ').replace(/[^\S ]|[\x00-\x1f]/g, '-')
        const other = safeText(output)
        expect(fitted(other, width)).toBe(other)
        const shown = fitted(`${other}${sentence(said)}${other}`, width)
        const rows = shown.slice(other.length, shown.length - other.length).split('\n')
        expect(rows.join(' ').split(/ +/).join(' ').trim()).toBe(said.split(/ +/).join(' ').trim())
        for (const row of rows) if (row.trimEnd().includes(' ')) expect(cellsOf(row, width)).toBeLessThanOrEqual(width)
      }),
    )
  })

  it('is what was refused and what is noted, and never what a command prints', () => {
    const line = { actor: 'person', command: 'nano a', cwd: '.', isRunning: false, exitCode: 127 }
    const output = 'a long line of a command that is wider than the terminal\n'
    const refused = ['nano is not available here.']
    const text = textOf('/workspace', { ...line, id: 1, output, refused, notes: ['changed: a.txt, b.txt'] })
    const shown = stripVTControlCharacters(fitted(text, 12))
    expect(shown).toContain(output)
    expect(shown).toContain('nano is not \navailable \nhere.\nchanged: \na.txt, b.txt')
    expect(shown).not.toMatch(/[\x0e\x0f]/)
  })
})

describe('the line editor', () => {
  /** `asks`: how many texts each line reads; `Infinity` for all up to the end of the input. */
  function edit(history: string[] = [], asks: Readonly<Record<string, number>> = {}) {
    const ran: string[] = []
    const written: string[] = []
    let give: (text: string | undefined) => void = () => {}
    const ask = () =>
      new Promise<string | undefined>((resolve) => {
        give = resolve
        editor.wait('text')
      })
    const editor = createLineEditor({
      write: (text) => written.push(text),
      keep: () => {},
      print: (text) => written.push(text),
      prompt: () => '$ ',
      columns: () => 80,
      history,
      async run(line) {
        history.push(line)
        const entered: (string | undefined)[] = []
        while (entered.length < (asks[line] ?? 0)) {
          entered.push(await ask())
          if (entered.at(-1) === undefined) break
          editor.interject(`${entered.at(-1)}`)
        }
        ran.push(entered.length === 0 ? line : `${line} < ${JSON.stringify(entered.join(''))}`)
        await Promise.resolve()
      },
      enter: (text) => give(text),
      interrupt: () => {
        ran.push('interrupt')
        give(undefined)
      },
      clear: () => ran.push('clear'),
      complete: async (before) => ({ added: `<${before}>`, candidates: [] }),
      isIncomplete,
    })
    const take = async (...data: string[]) => {
      for (const piece of data) {
        editor.take(piece)
        await new Promise((resolve) => setTimeout(resolve))
      }
      return ran
    }
    return { take, ran, written, editor }
  }

  it('runs pasted lines one by one, and asks for the rest of an incomplete one', async () => {
    expect(await edit().take('echo 1\necho 2\r\nf() {\n  echo 3\n}\ncat <<E\nif\nE\necho 4')).toEqual([
      'echo 1',
      'echo 2',
      'f() {\n  echo 3\n}',
      'cat <<E\nif\nE',
    ])
    expect(await edit().take('\x1b[200~echo 1\recho 2\r\x1b[201~')).toEqual(['echo 1', 'echo 2'])
  })

  it.each<readonly [name: string, keys: readonly string[], line: string]>([
    ['keeps a draft while the history is shown', ['dra', '\x1b[A', '\x1b[A', '\x1b[B', '\x1b[B', 'ft'], 'draft'],
    ['searches the history backwards', ['\x12', 'echo', '\x12'], 'echo one'],
    ['returns to the line when a search is given up', ['typed', '\x12', 'git', '\x07'], 'typed'],
    ['goes to the start and the end', ['b', '\x01', 'a', '\x05', 'c'], 'abc'],
    ['deletes the word before the cursor', ['echo one two', '\x17'], 'echo one'],
    ['deletes to the start', ['one two', '\x1bb', '\x15'], 'two'],
    ['deletes to the end, and brings it back', ['one two', '\x1bb', '\x0b', '\x01', '\x19'], 'twoone'],
    ['deletes a whole character', ['a😀e\u0301👩‍👩‍👧', '\x7f', '\x7f', '\x7f'], 'a'],
    ['steps over a whole character', ['日e\u0301', '\x1b[D', '\x1b[D', 'a'], 'a日e\u0301'],
    ['clears the line', ['bad', '\x03', 'good'], 'good'],
    ['brings back a line of several rows as it was', ['\x1b[A', '\x1b[A', '\x1b[A', '\x1b[A'], 'cat <<E\nif\nE'],
    ['edits a line of several rows', ['\x12', '<<E', '\x01', 'z'], 'zcat <<E\nif\nE'],
    ['repeats the last line', ['!! -s'], 'git status -s'],
    ['repeats a line by its begin', ['!echo; !git'], 'echo two; git status'],
    ['repeats a line by its number', ['!2 && !-2'], 'echo one && echo two'],
    ['repeats the last word', ['ls !$'], 'ls status'],
    ['replaces in the last line', ['^status^log -1^'], 'git log -1'],
    [
      'leaves other exclamation marks',
      [`[ ! -f a ] && echo "!x" '!!' a!=b $! \\!!`],
      `[ ! -f a ] && echo "!x" '!!' a!=b $! \\!!`,
    ],
  ])('%s', async (_, keys, line) => {
    const { take } = edit(['cat <<E\nif\nE', 'echo one', 'echo two', 'git status'])
    const ran = await take(...keys, '\r')
    expect(ran.filter((entry) => entry !== 'clear' && entry !== 'interrupt')).toEqual([line])
  })

  it('edits the input of a running command until Ctrl+D, and ends it with Ctrl+C', async () => {
    const all = { 'cat > a': Number.POSITIVE_INFINITY, cat: Number.POSITIVE_INFINITY, 'read x': 1 }
    const keys = ['cat > a\r', 'onf\x7fe\r', 'two', '\x04', '\x04', 'ls\r']
    expect(await edit([], all).take(...keys)).toEqual(['cat > a < "one\\ntwo"', 'ls'])
    expect(await edit([], all).take('cat\rpasted\nlines\n', '\x04')).toEqual(['cat < "pasted\\nlines\\n"'])
    expect(await edit([], all).take('read x\r', 'one\r', 'ls\r')).toEqual(['read x < "one\\n"', 'ls'])
    const { take, written } = edit([], all)
    expect(await take('cat\r', 'one\r', 'half', '\x03', 'ls\r')).toEqual(['interrupt', 'cat < "one\\n"', 'ls'])
    // The begin of an empty line is not below it.
    expect(written.join('')).not.toContain('\x1b[J\r\n')
  })

  it('shows what is typed after a question, below what is printed meanwhile, and never a secret', async () => {
    const { editor, written, take } = edit()
    editor.begin(new Promise(() => {}))
    const seen = () =>
      written
        .splice(0)
        .join('')
        .replace(/\x1b\[\d*[CJ]|\x1b\[9?0m/g, '')
    editor.interject('one\nName? ')
    editor.wait('text')
    await take('An')
    expect(seen()).toBe('one\nName? \rName? \r\rName? An\r')
    editor.interject('\ntick\n? ')
    expect(seen()).toBe('\rName? \ntick\n\r? An\r')
    editor.wait(undefined)
    expect(seen()).toBe('\r? ')
    editor.wait('secret')
    await take('key')
    expect(seen()).not.toContain('k')
  })

  it('keeps what was typed line by line as one entry of the history, and draws it over its rows', async () => {
    const history: string[] = []
    const { take, written } = edit(history)
    await take('cat > a <<E\r', 'one\r', 'E\r')
    expect(history).toEqual(['cat > a <<E\none\nE'])
    written.length = 0
    await take('\x1b[A', '\x01')
    // The cursor goes up to the first row, and the next redraw begins there.
    expect(written.join('')).toBe(
      '\r\x1b[J$ cat > a <<E\r\none\r\nE\r\x1b[1C\x1b[2A\r\x1b[J$ cat > a <<E\r\none\r\nE\x1b[2A\r\x1b[2C',
    )
  })

  it('says that no earlier line is meant, and runs nothing', async () => {
    for (const line of ['!nothing', '!9', '^a^b']) {
      const { take, written } = edit(['echo 1'])
      expect(await take(line, '\r')).toEqual([])
      expect(written.join('')).toContain(`${line}: no earlier line`)
    }
  })

  it('counts cells as the screen does, where a wide character takes two of one row', () => {
    expect(['ab', '日本', 'e\u0301', 'ｶﾅ', '\x1b[31mred\x1b[0m'].map((text) => cellsOf(text, 80))).toEqual([
      2, 4, 1, 2, 3,
    ])
    expect(cellsOf('abc日', 4)).toBe(6)
    // A full row, an empty one, and one that begins.
    expect(['', 'ab', 'abcd', 'abcd\n', 'abcde\nf', '\n\n日'].map((text) => placeAfter(text, 4))).toEqual([
      { row: 0, column: 0 },
      { row: 0, column: 2 },
      { row: 1, column: 0 },
      { row: 1, column: 0 },
      { row: 2, column: 1 },
      { row: 2, column: 2 },
    ])
    expect(charactersOf('a👩‍👩‍👧e\u0301')).toEqual(['a', '👩‍👩‍👧', 'e\u0301'])
  })

  it('completes with Tab, and lets an empty line be left', async () => {
    const { take, editor } = edit()
    expect(editor.isEmpty).toBe(true)
    await take('ab', '\t')
    expect(editor.isEmpty).toBe(false)
    expect(await take('\r')).toEqual(['ab<ab>'])
  })

  it('keeps what is typed during a command for the next line, and stops the command', async () => {
    const { take, editor } = edit()
    let end = () => {}
    editor.begin(
      new Promise((resolve) => {
        end = resolve
      }),
    )
    expect(await take('lost', '\x03', 'next\r')).toEqual(['interrupt'])
    end()
    expect(await take()).toEqual(['interrupt', 'next'])
  })
})
