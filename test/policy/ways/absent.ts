import type { Backend } from '../../../dist/storage/backend.js'
import { inBackground, overMcp } from './change.ts'
import { type Answer, type Subject, treeText } from './subject.ts'

/** A way to write a path that is taken to be absent, or to append to it. */
export interface AbsentWay {
  readonly name: string
  readonly dialect?: string
  /** Whether it also creates a file that does not exist, for a run that may not view the path. */
  readonly creates: boolean
  /** Whether the way cannot be prepared for a secret. */
  readonly isForOrdinary?: boolean
  /** Whether the way may change a file that the run may read, but not list. */
  readonly reads?: boolean
  /** Whether the way removes a file whose name it sees, before it creates another. */
  readonly removes?: boolean
  prepare?(subject: Subject, path: string): Promise<unknown>
  act(subject: Subject, path: string): Promise<unknown>
}

/** The files of every way. Those below `private` and the `.env` files are hidden from the run under the rule. */
export const absentTree = {
  'private/plan.md': 'the plan\n',
  'private/d/deep.md': 'deep\n',
  'private/.env': 'KEY=planted\n',
  'src/x.md': 'x\n',
  'src/s.md': 's\n',
}

export const HIDDEN = ['private/plan.md', 'private/d/deep.md', 'private/.env'] as const
/** Hidden as well, but nothing exists there. */
export const FREE = 'private/new.md'

/** Lines over the file `F`, its directory `D` and its name `N`. A line that starts with `-` creates no file that it cannot view. */
export const absentLines: readonly string[] = [
  'touch F',
  'touch -a F',
  'touch -m -d 2020-01-01 F',
  'touch -c F; touch F',
  '[ -e F ] || echo n > F',
  '[ -f F ] || echo n > F',
  'test -s F || echo n > F',
  '[[ -e F ]] || echo n > F',
  'if [ ! -e F ]; then echo n > F; fi',
  'ls F 2> /dev/null || echo n > F',
  'cat F > /dev/null 2>&1 || echo n > F',
  'stat F > /dev/null 2>&1 || cp src/x.md F',
  '-(cd D && [ -e N ] || echo n > N)',
  '[ "$(find D -name N)" ] || echo n > F',
  '[ -z "$(ls D)" ] && echo n > F',
  '-cd D && touch N',
  'set -C; > F',
  'set -o noclobber; echo n > F',
  'set -C; echo n >| F',
  '> F',
  ': > F',
  'true > F',
  'echo n > F',
  'echo n >| F',
  'echo n &> F',
  'exec 3> F; echo n >&3',
  'echo n >> F',
  'printf n >> F',
  ': >> F',
  'echo n &>> F',
  'exec 3>> F; echo n >&3',
  '-echo n <> F; echo n >> F',
  '{ echo a; echo b; } >> F',
  'bash -c "echo n >> F"',
  'eval "touch F"',
  'trap "echo n > F" EXIT',
  '(trap "[ -e F ] || echo n >> F" EXIT)',
  '(cd src && cat x.md) > F',
  'echo F | xargs touch',
  'echo n | tee F',
  'echo n | tee -a F',
  'cat src/x.md > F',
  'cp src/x.md F',
  'cp -n src/x.md F',
  'cp -r src/x.md F',
  'cp -rn src/. D/; cp -n src/x.md F',
  'cp src/x.md D/N',
  '-mkdir -p t/D && cp src/x.md t/D/N && cp -r t/. .',
  '-mkdir -p t/D && cp src/x.md t/D/N && cp -rn t/. .',
  'mv src/x.md F',
  'mv -n src/x.md F',
  'mv -f src/x.md F',
  '-cp src/x.md N; mv -n N D/',
  '-cp src/x.md N; mv N D/',
  'ln src/x.md F',
  'ln -f src/x.md F',
  'ln -s /workspace/src/x.md F',
  'ln -sf /workspace/src/x.md F',
  '-ln -s D l && echo n > l/N',
  '-ln -s D l && touch l/N',
  'ln -s F l; echo n > l; touch F',
  'mkdir F',
  '-mkdir -p F',
  '-mkdir -p F/sub',
  'split -l 1 src/x.md F; touch F',
  'sort src/x.md -o F',
  'sort -o F src/x.md',
  'awk \'BEGIN { print "n" > "F" }\'',
  'awk \'BEGIN { print "n" >> "F" }\'',
  'awk \'{ print > "F" }\' src/x.md',
  'gzip -c src/x.md > F',
  'base64 src/x.md > F',
  'mkdir -p t/D && cp src/x.md t/D/N && tar -cf t.tar -C t D/N && tar -xf t.tar',
  'mkdir -p t/D && cp src/x.md t/D/N && tar -cf t.tar -C t D/N && tar -xkf t.tar',
  'mkdir -p t/D && cp src/x.md t/D/N && tar -cf t.tar -C t D/N && tar --skip-old-files -xf t.tar || touch F',
  'mkdir -p t/D && cp src/x.md t/D/N && tar -cf - -C t D/N | tar -xf -',
  "-printf '%s\\n' '--- /dev/null' '+++ b/F' '@@ -0,0 +1 @@' '+n' > p && patch -p1 < p",
  "-printf '%s\\n' '--- /dev/null' '+++ b/F' '@@ -0,0 +1 @@' '+n' | patch -p1",
  "node -e \"fs.writeFileSync('F', 'n')\"",
  "node -e \"fs.writeFileSync('F', 'n', { flag: 'wx' })\"",
  "node -e \"fs.writeFileSync('F', 'n', { flag: 'ax' })\"",
  "node -e \"fs.writeFileSync('F', 'n', { flag: 'a' })\"",
  "node -e \"fs.appendFileSync('F', 'n')\"",
  "node -e \"fs.existsSync('F') || fs.writeFileSync('F', 'n')\"",
  "node -e \"try { fs.statSync('F') } catch { fs.writeFileSync('F', 'n') }\"",
  "node -e \"try { fs.accessSync('F') } catch { fs.writeFileSync('F', 'n') }\"",
  "node -e \"try { fs.readFileSync('F') } catch { fs.writeFileSync('F', 'n') }\"",
  "node -e \"fs.copyFileSync('src/x.md', 'F')\"",
  "node -e \"fs.copyFileSync('src/x.md', 'F', fs.constants.COPYFILE_EXCL)\"",
  "node -e \"fs.cpSync('src/x.md', 'F', { force: false })\"",
  "node -e \"fs.cpSync('src/x.md', 'F', { errorOnExist: true })\"",
  "node -e \"fs.renameSync('src/x.md', 'F')\"",
  'node -e "fs.mkdirSync(\'F\')"',
  '-node -e "fs.mkdirSync(\'F\', { recursive: true })"',
  "node -e \"fs.symlinkSync('/workspace/src/x.md', 'F')\"",
  "node -e \"fs.promises.writeFile('F', 'n', { flag: 'wx' })\"",
  "node -e \"fs.promises.appendFile('F', 'n')\"",
  "node -e \"fs.writeFile('F', 'n', () => {})\"",
  "node -e \"fs.existsSync('F') || fs.copyFileSync('src/x.md', 'F')\"",
  // These change or remove only what exists.
  '-sed -i s/./n/ F',
  '-sed -i 1d F',
  '-truncate -s 0 F; chmod 700 F',
  '-rm F',
  '-rm -f F',
  '-rm -rf D',
  '-rmdir D',
  '-rm -d D',
  '-find D -delete',
  '-find D -name N -delete',
  '-find D -type f -exec rm {} +',
  '-mv F src/moved.md',
  '-mv D src/moved',
  '-mv D/* src/',
  '-chmod 600 F',
  '-chmod -R 600 D',
  '-gzip F',
  '-rm -rf private',
  '-mv private p',
  '-mkdir e && mv e D',
  '-mkdir e && mv -T e D',
  '-[ "$(ls -A D)" ] || rm -r D',
  '-[ "$(ls -A D)" ] || { rm -r D; mkdir D; }',
  "-node -e \"fs.readdirSync('D').length || fs.rmdirSync('D')\"",
  '-node -e "fs.rmdirSync(\'D\')"',
  '-node -e "fs.rmSync(\'D\', { recursive: true })"',
  '-node -e "fs.rmSync(\'F\', { force: true })"',
  '-node -e "fs.truncateSync(\'F\', 0)"',
  '-node -e "fs.unlinkSync(\'F\')"',
  "-node -e \"fs.renameSync('D', 'src/moved')\"",
]

const spell = (line: string, path: string): string =>
  line.replace(/^-/, '').replace(/\b(F|D|N)\b/g, (name) => {
    const directory = path.slice(0, path.lastIndexOf('/'))
    return { F: path, D: directory, N: path.slice(directory.length + 1) }[name] ?? name
  })

/** The way to run a line. */
export const absentCommand = (line: string): AbsentWay => ({
  name: line,
  creates: !line.startsWith('-'),
  removes: line.startsWith('ln -f') || line.startsWith('ln -sf'),
  act: ({ workspace }, path) => workspace.call('run_command', { command: spell(line, path) }),
})

/** Lines with programs that `bash()` does not have. */
export const systemLines: readonly string[] = [
  'install -m 600 src/x.md F',
  'install -v src/x.md F',
  'mktemp D/XXXXXX; touch F',
  '-truncate -s 1 F',
  'dd if=src/x.md of=F 2> /dev/null',
  'dd if=src/x.md of=F conv=excl 2> /dev/null',
  'dd if=src/x.md of=F oflag=append conv=notrunc 2> /dev/null',
  "python3 -c \"open('F', 'x').write('n')\"",
  "python3 -c \"open('F', 'a').write('n')\"",
  'python3 -c "import os; os.open(\'F\', os.O_CREAT | os.O_EXCL | os.O_WRONLY)"',
  'perl -e "open(my \\$h, q(>>), q(F)) and print \\$h q(n)"',
  'ln -sfn /workspace/src/x.md F',
  'mv -T src/x.md F',
  'cp --update=none src/x.md F || touch F',
]

const git = (line: string): AbsentWay => ({
  name: line,
  creates: !line.startsWith('-'),
  isForOrdinary: true,
  // The path was committed with other content, and the commit after it removed it.
  async prepare({ free, ok }, path) {
    const stored = `mkdir -p /tmp/k && cp ${path} k.bak 2> /dev/null; echo stored > ${path}`
    const lines = [
      'git init -q && echo 0 > zero && git add zero && git commit -qm zero',
      `${stored}; git checkout -q -b other && git add -f ${path} && git commit -qm one && git checkout -q main`,
      `rm -f ${path}; [ -e k.bak ] && mv k.bak ${path}`,
    ]
    await ok(free, 'run_command', { command: lines.join('\n') })
  },
  act: ({ workspace }, path) => workspace.call('run_command', { command: spell(line, path) }),
})

/** A stash with the path, which the present files lack. */
const stashed: AbsentWay = {
  ...git('-git stash pop'),
  async prepare({ free, ok }, path) {
    const lines = [
      'git init -q && echo 0 > zero && git add zero && git commit -qm zero',
      `cp ${path} k.bak 2> /dev/null; echo stored > ${path}; git add -f ${path} && git stash -q`,
      `rm -f ${path}; [ -e k.bak ] && mv k.bak ${path}`,
    ]
    await ok(free, 'run_command', { command: lines.join('\n') })
  },
}

const gitWays: readonly AbsentWay[] = [
  '-git checkout other',
  '-git checkout -f other',
  '-git checkout other -- F',
  '-git checkout other -- D',
  '-git reset --hard other',
  '-git switch other',
  '-git switch -f other',
]
  .map(git)
  .concat(stashed)

const tool = (name: string, input: (path: string) => object, creates = true): AbsentWay => ({
  name: `${name} ${JSON.stringify(input('F'))}`,
  creates,
  reads: !creates,
  act: ({ workspace }, path) => workspace.callTool(name, input(path)),
})

const addition = (path: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+n\n`

const toolWays: readonly AbsentWay[] = [
  tool('write_file', (path) => ({ path, content: 'n' })),
  tool('write_file', (path) => ({ path, content: 'n', mode: 'CREATE_NEW' })),
  tool('write_file', (path) => ({ path, content: 'n', expectedSha256: null })),
  tool('write_file', (path) => ({ path, content: 'n', mode: 'REPLACE_EXISTING' }), false),
  // It shows the end of what was there.
  tool('append_file', (path) => ({ path, content: 'n' }), false),
  tool('append_file', (path) => ({ path, content: 'n', expectedSha256: null }), false),
  tool('create_directory', (path) => ({ path })),
  tool('create_directory', (path) => ({ path: `${path}/sub` })),
  tool('copy_file', (path) => ({ path: 'src/x.md', to: path })),
  tool('move_file', (path) => ({ path: 'src/x.md', to: path })),
  tool('move_file', (path) => ({ path: 'src', to: path })),
  tool('edit_file', (path) => ({ path, oldText: '\n', newText: 'n' }), false),
  tool('replace_range', (path) => ({ path, startLine: 1, endLine: 1, newText: 'n' }), false),
  tool('apply_patch', (path) => ({ patch: addition(path) })),
  tool('apply_patch', (path) => ({ patch: `*** Begin Patch\n*** Add File: ${path}\n+n\n*** End Patch\n` })),
  tool('apply_patch', (path) => ({
    patch: `diff --git a/src/x.md b/${path}\nsimilarity index 100%\nrename from src/x.md\nrename to ${path}\n`,
  })),
  tool('apply_patch', (path) => ({
    patch: `diff --git a/src/x.md b/${path}\nsimilarity index 100%\ncopy from src/x.md\ncopy to ${path}\n`,
  })),
  tool(
    'memory_store',
    (path) => ({ id: path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, ''), content: 'n' }),
    false,
  ),
  { name: 'files.write', creates: true, act: ({ workspace }, path) => settled(workspace.files.write(path, 'n', null)) },
  ...['touch F', 'echo n >> F', '[ -e F ] || echo n > F', 'cp -n src/x.md F'].flatMap((line): AbsentWay[] => [
    {
      name: `start_command ${line}`,
      creates: true,
      act: ({ workspace }, path) => inBackground(workspace, spell(line, path)),
    },
    {
      name: `mcp run_command ${line}`,
      creates: true,
      act: ({ workspace }, path) => overMcp(workspace, 'run_command', { command: spell(line, path) }),
    },
  ]),
  {
    name: 'mcp write_file',
    creates: true,
    act: ({ workspace }, path) => overMcp(workspace, 'write_file', { path, content: 'n' }),
  },
  {
    name: 'the commit of a fork after touch',
    creates: true,
    async act({ workspace, task }, path) {
      const fork = await workspace.fork({ id: 'fork', task })
      await fork.call('run_command', { command: `touch ${path}` })
      return fork.commit()
    },
  },
]

const dialectTools: readonly (readonly [
  dialect: string,
  tool: string,
  input: (path: string) => object,
  creates?: false,
])[] = [
  ['mcp-filesystem', 'write_file', (path) => ({ path: `/workspace/${path}`, content: 'n' })],
  ['mcp-filesystem', 'create_directory', (path) => ({ path: `/workspace/${path}` })],
  ['mcp-filesystem', 'move_file', (path) => ({ source: '/workspace/src/x.md', destination: `/workspace/${path}` })],
  ['python-harness', 'write_file', (path) => ({ path, content: 'n' })],
  ['python-harness', 'run_command', (path) => ({ command: `touch ${path}` })],
  [
    'anthropic',
    'str_replace_based_edit_tool',
    (path) => ({ command: 'create', path: `/workspace/${path}`, file_text: 'n' }),
  ],
  ['anthropic', 'bash', (path) => ({ command: `[ -e ${path} ] || echo n > ${path}` })],
  ['codex', 'shell', (path) => ({ command: ['touch', path] })],
  ['codex', 'apply_patch', (path) => ({ input: `*** Begin Patch\n*** Add File: ${path}\n+n\n*** End Patch\n` })],
  ['deepagents', 'write_file', (path) => ({ file_path: `/${path}`, content: 'n' })],
  ['deepagents', 'execute', (path) => ({ command: `touch ${path}` })],
  ['gemini', 'write_file', (path) => ({ file_path: path, content: 'n' })],
  ['gemini', 'replace', (path) => ({ file_path: path, instruction: 'x', old_string: '', new_string: 'n' })],
  ['gemini', 'run_shell_command', (path) => ({ command: `echo n >> ${path}` })],
  ['mastra', 'mastra_workspace_write_file', (path) => ({ path, content: 'n' })],
  ['mastra', 'mastra_workspace_write_file', (path) => ({ path, content: 'n', overwrite: false })],
  ['mastra', 'mastra_workspace_execute_command', (path) => ({ command: `touch ${path}` })],
  ['file-read-write', 'file_write', (path) => ({ path, content: 'n' })],
  ['file-read-write', 'file_write', (path) => ({ path, content: 'n', append: true }), false],
  ['snake-case', 'write_file', (path) => ({ path, content: 'n' })],
  ['snake-case', 'run_command', (path) => ({ command: `touch ${path}` })],
  ['patch-and-diff', 'apply_patch', (path) => ({ patch: addition(path) })],
  ['named-roots', 'write_file', (path) => ({ path: `/workspace/${path}`, content: 'n' })],
]

const dialectWays: readonly AbsentWay[] = dialectTools.map(([dialect, name, input, creates = true]) => ({
  ...tool(name, input, creates),
  name: `${dialect} ${name} ${JSON.stringify(input('F'))}`,
  dialect,
}))

/** Every way over `bash()`. */
export const absentWays: readonly AbsentWay[] = [
  ...absentLines.map(absentCommand),
  ...gitWays,
  ...toolWays,
  ...dialectWays,
]

/** Returns the hidden files of a tree as text. */
export async function hiddenText(backend: Backend): Promise<string> {
  let text = ''
  for (const path of HIDDEN) text += await treeText(backend, path)
  return text
}

async function settled(promise: Promise<unknown>): Promise<Answer> {
  return promise.then(
    (value) => ({ ok: true, value }),
    (error: Error) => ({ ok: false, message: error.message }),
  )
}
