import { check, same, sameBytes } from '../assert.ts'
import { at, textAt } from '../backend/case.ts'
import { needs, open, type ShellCase } from './case.ts'

/** Changes that a command makes to files. */
export const fileCases: readonly ShellCase[] = [
  {
    name: 'files that a command writes are in the workspace and in filesChanged',
    async test(subject) {
      const { ok, backend } = await open(subject, { 'a.txt': 'one\n' })
      const { filesChanged } = await ok('echo two >> a.txt; mkdir -p d/e; echo new > d/e/b.txt')
      same(await textAt(backend, 'a.txt'), 'one\ntwo\n', 'a.txt')
      same(await textAt(backend, 'd/e/b.txt'), 'new\n', 'd/e/b.txt')
      const files = filesChanged.filter((path: string) => path.endsWith('.txt')).sort()
      same(files, ['a.txt', 'd/e/b.txt'], 'filesChanged')
    },
  },
  {
    name: 'a command sees its own changes and those of tools between commands',
    async test(subject) {
      const { ok, call } = await open(subject, { 'a.txt': 'one\n', 'b.txt': 'b\n' })
      same(
        (await ok('echo two > a.txt; rm b.txt; cat a.txt; ls')).stdout,
        'two\na.txt\n',
        'output after its own changes',
      )
      same((await call('write_file', { path: 'c.txt', content: 'c\n' })).ok, true, 'write_file')
      same((await call('delete_file', { path: 'a.txt' })).ok, true, 'delete_file')
      same((await ok('ls; cat c.txt')).stdout, 'c.txt\nc\n', 'output after changes by tools')
    },
  },
  {
    name: 'commands copy and move bytes unchanged',
    async test(subject) {
      const bytes = Uint8Array.from({ length: 1024 }, (_, i) => (i * 7) & 255)
      const { ok, backend } = await open(subject, { 'a.bin': bytes })
      await ok('cp a.bin b.bin; cat a.bin > c.bin; mv b.bin d.bin')
      for (const path of ['c.bin', 'd.bin']) sameBytes((await backend.read(at(path))).bytes, bytes, path)
    },
  },
  {
    name: 'commands move and remove files and directories',
    async test(subject) {
      const { ok, snapshot } = await open(subject, { 'src/a/b.txt': 'b', 'src/c.txt': 'c', 'gone/x/y': 'y' })
      same((await ok('mv src lib && mv lib/c.txt lib/d.txt && rm -r gone')).exitCode, 0, 'exit code')
      same([...(await snapshot()).keys()].sort(), ['lib', 'lib/a', 'lib/a/b.txt', 'lib/d.txt'], 'remaining paths')
    },
  },
  {
    name: 'commands keep the permission bits of a script',
    unless: ({ backend }) => (backend?.capabilities.modes === false ? 'the backend does not declare modes' : undefined),
    async test(subject) {
      const { ok, backend } = await open(subject, { 'a.sh': 'echo a\n' })
      await ok('chmod 755 a.sh; cp a.sh b.sh')
      await ok('echo "echo b" >> a.sh')
      for (const path of ['a.sh', 'b.sh']) {
        const stat = await backend.stat(at(path))
        check(stat?.mode !== undefined, `${path}: expected permission bits, got none`)
        same(stat.mode & 0o111, 0o111, `executable bits of ${path}`)
      }
    },
  },
  {
    name: 'changes of a command are committed whatever its exit code',
    async test(subject) {
      const { ok, backend } = await open(subject)
      same((await ok('echo a > a.txt; exit 9')).exitCode, 9, 'exit code')
      same(await textAt(backend, 'a.txt'), 'a\n', 'a.txt')
    },
  },
  {
    name: 'one undo reverts a command that writes, deletes and renames 50 files',
    unless: needs('undo'),
    async test(subject) {
      const tree: Record<string, string> = {}
      for (let i = 0; i < 50; i++) {
        tree[`del/${i}.txt`] = `d${i}\n`
        tree[`old/${i}.txt`] = `r${i}\n`
        tree[`edit/${i}.txt`] = `e${i}\n`
      }
      const { ok, workspace, snapshot } = await open(subject, tree)
      const before = await snapshot()
      const { callId, exitCode, filesChanged } = await ok(
        'mkdir made; for i in $(seq 0 49); do echo $i > made/$i.txt; rm del/$i.txt; mv old/$i.txt old/n$i.txt; echo more >> edit/$i.txt; done',
      )
      same(exitCode, 0, 'exit code')
      check(filesChanged.length >= 250, `filesChanged: expected at least 250 files, got ${filesChanged.length}`)
      const outcomes = workspace.auditRecords().filter(({ phase }) => phase === 'outcome')
      same(outcomes.length, 1, 'outcomes in the audit')
      check((await snapshot()).get('edit/7.txt')?.includes('more') === true, 'edit/7.txt must be changed')
      same((await workspace.undo(callId)).ok, true, 'undo')
      same(await snapshot(), before, 'after the undo')
    },
  },
]
