import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { createWorkspace, type Workspace } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import { isLong, times } from '../counts.ts'

/** Two trees that differ only in restricted content: a digit. Whatever differs afterwards has the label, or it has leaked. */
const digits = ['3', '5'] as const

const labels = {
  sources: [{ label: 'restricted', paths: ['conf/**'] }],
  sinks: [{ name: 'published', ceiling: 'public', paths: ['pub/**'] }],
} as const

const shells = { 'in its own process': bash(), 'in the same thread': bash({ worker: false }) }
const opened: Workspace[] = []
afterAll(async () => {
  for (const workspace of opened) await workspace.close()
  for (const shell of Object.values(shells)) await shell.close?.()
})

async function open(digit: string, shell: (typeof shells)[keyof typeof shells]): Promise<Workspace> {
  const files = { 'conf/n.txt': digit, 'old.txt': 'old content\n', 'plain.txt': 'plain\n', 'pub/log.txt': '' }
  const workspace = await createWorkspace({
    backend: memory(files),
    policy: { preset: 'autonomous', labels },
    shell,
  })
  opened.push(workspace)
  return workspace
}

const script = (code: string) => `node -e "const fs = require('fs'); ${code}"`
const readDigit = `const n = Number(fs.readFileSync('conf/n.txt', 'utf8'))`

/** Ways to spell the digit with the metadata of an entry. `name` is what a later look asks about. */
const makers = [
  { kind: 'the size of a new file', command: 'head -c "$(cat conf/n.txt)" old.txt > made', name: 'made' },
  { kind: 'the size of an old file', command: 'head -c "$(cat conf/n.txt)" plain.txt > old.txt', name: 'old.txt' },
  { kind: 'an appended size', command: 'head -c "$(cat conf/n.txt)" plain.txt >> old.txt', name: 'old.txt' },
  { kind: 'a truncated size', command: script(`${readDigit}; fs.truncateSync('old.txt', n)`), name: 'old.txt' },
  { kind: 'the bits of a file', command: 'chmod "64$(cat conf/n.txt)" old.txt', name: 'old.txt' },
  {
    kind: 'the bits set by a script',
    command: script(`${readDigit}; fs.chmodSync('old.txt', 0o640 + n)`),
    name: 'old.txt',
  },
  {
    kind: 'the size of a written file',
    command: script(`${readDigit}; fs.writeFileSync('made', 'x'.repeat(n))`),
    name: 'made',
  },
  { kind: 'the size of a copy', command: 'head -c "$(cat conf/n.txt)" old.txt > made && cp made kept', name: 'kept' },
  { kind: 'the bits of a copy', command: 'chmod "64$(cat conf/n.txt)" old.txt && cp old.txt kept', name: 'kept' },
  {
    kind: 'the size of a moved file',
    command: 'head -c "$(cat conf/n.txt)" old.txt > made && mv made kept',
    name: 'kept',
  },
] as const

/** Ways to look at the metadata of an entry, without a look at its content. */
const looks = [
  (name: string) => `stat ${name}`,
  (name: string) => `stat -c %s-%a ${name}`,
  (name: string) => `ls -l ${name}`,
  () => 'ls -l',
  () => 'ls -lR .',
  (name: string) => `find . -name ${name} -size -4c`,
  (name: string) => `find . -name ${name} -perm 643`,
  (name: string) => `find . -name ${name} -printf '%s %m'`,
  (name: string) => `find . -name ${name} -ls`,
  (name: string) => `du -b ${name}`,
  (name: string) => `[ -x ${name} ] && echo yes`,
  (name: string) => `[ -w ${name} ] && echo yes`,
  (name: string) => script(`const s = fs.statSync('${name}'); console.log(s.size, s.mode)`),
  (name: string) => script(`const s = fs.lstatSync('${name}'); console.log(s.size, s.mode)`),
  (name: string) => script(`fs.promises.stat('${name}').then(({ size, mode }) => console.log(size, mode))`),
  (name: string) => `wc -c ${name}`,
]

/** The names that hold the digit, and ways to ask whether a name exists. */
const nameMakers = [
  'mkdir "e$(cat conf/n.txt)"',
  'touch "e$(cat conf/n.txt)"',
  'ln -s old.txt "e$(cat conf/n.txt)"',
  'mv old.txt "e$(cat conf/n.txt)"',
  'cp old.txt "e$(cat conf/n.txt)"',
  script(`${readDigit}; fs.mkdirSync('e' + n)`),
  script(`${readDigit}; fs.writeFileSync('e' + n, '')`),
]
const existenceLooks = [
  '[ -e e3 ] && echo yes',
  '[ -d e3 ] && echo yes',
  '[ -f e3 ] && echo yes',
  '[ -L e3 ] && echo yes',
  'test -e e3 && echo yes',
  '[[ -e e3 ]] && echo yes',
  'stat e3',
  'ls e3',
  'ls -d e3',
  'cd e3; pwd',
  'find e3',
  script(`console.log(fs.existsSync('e3'))`),
  script(`fs.access('e3', (error) => console.log(error ? 'no' : 'yes'))`),
  script(`console.log(fs.statSync('e3', { throwIfNoEntry: false })?.isFile())`),
]

async function show(workspace: Workspace, command: string): Promise<{ text: string; label: string; sinks: boolean }> {
  const run = workspace.run()
  const result = await run.call('run_command', { command })
  const { label, ...shown } = result as { label: string; callId: string; durationMs?: number }
  const written = await run.call('write_file', { path: 'pub/log.txt', content: 'seen' })
  const text = JSON.stringify({ ...shown, callId: undefined, durationMs: undefined })
  return { text, label, sinks: written.ok }
}

/** All looks, or a few for each maker, so that each look occurs. */
const some = <T>(all: readonly T[], maker: number, few: number): readonly T[] =>
  all.filter((_, index) => (index + maker * 3) % times(few, 1) === 0)

/** In `npm test`, the shells take turns with the makers. */
const ofShell = <T>(all: readonly T[], shell: object): readonly T[] =>
  all.filter((_, index) => isLong || Object.values(shells).indexOf(shell as never) === index % 2)
const [FEW, FEW_EXISTENCE] = [8, 7]

it('each look is tried', () => {
  expect(new Set(makers.flatMap((_, maker) => some(looks, maker, FEW))).size).toBe(looks.length)
  expect(new Set(nameMakers.flatMap((_, maker) => some(existenceLooks, maker, FEW_EXISTENCE))).size).toBe(
    existenceLooks.length,
  )
})

const counts = { metadata: 0, differing: 0, names: 0 }
afterAll(() => console.log(`labels of entries: ${JSON.stringify(counts)}`))

describe.each(Object.entries(shells))('bash() %s', (_, shell) => {
  it.each(ofShell(makers, shell))('keeps the label of restricted content in $kind', async ({ command, name }) => {
    const workspaces = await Promise.all(digits.map((digit) => open(digit, shell)))
    for (const workspace of workspaces) {
      expect(await workspace.run().call('run_command', { command })).toMatchObject({
        ok: true,
        exitCode: 0,
      })
    }
    for (const look of some(
      looks,
      makers.findIndex((maker) => maker.command === command),
      FEW,
    )) {
      const [a, b] = await Promise.all(workspaces.map((workspace) => show(workspace, look(name))))
      counts.metadata += 1
      if (a?.text === b?.text) continue
      counts.differing += 1
      expect({ look: look(name), labels: [a?.label, b?.label], sinks: [a?.sinks, b?.sinks] }).toEqual({
        ...{ look: look(name), labels: ['restricted', 'restricted'], sinks: [false, false] },
      })
    }
  })

  it.each(ofShell(nameMakers, shell))('labels each look at a name that %s has made', async (command) => {
    for (const look of some(existenceLooks, nameMakers.indexOf(command), FEW_EXISTENCE)) {
      const workspace = await open('3', shell)
      expect(await workspace.run().call('run_command', { command })).toMatchObject({
        ok: true,
        exitCode: 0,
      })
      counts.names += 1
      const { label, sinks } = await show(workspace, look)
      expect({ look, label, sinks }).toEqual({ look, label: 'restricted', sinks: false })
    }
  })

  it.each([
    'mv conf/n.txt conf/m.txt; echo done > pub/log.txt',
    'cp conf/n.txt kept; echo done > pub/log.txt',
    'rm conf/n.txt; echo done > pub/log.txt',
    '[ -f conf/n.txt ] && echo done > pub/log.txt',
    'ls conf > pub/log.txt',
    'ls; echo done > pub/log.txt',
    'find . -name "*.txt" > pub/log.txt',
    script(`fs.readdirSync('conf'); fs.existsSync('conf/n.txt'); fs.writeFileSync('pub/log.txt', 'done')`),
  ])('needs no label where only names and types are used: %s', async (command) => {
    const workspace = await open('3', shell)
    expect(await workspace.call('run_command', { command })).toMatchObject({ ok: true, exitCode: 0 })
  })
})
