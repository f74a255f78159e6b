import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'

async function runAll(lines: readonly string[], limits = {}) {
  const results: [string, number, string, string[]][] = []
  for (const line of lines) {
    const backend = memory({
      'a.txt': 'a\n',
      '.env': 'S=1\n',
      'app/.env': 'S=1\n',
      'app/b.txt': 'b\n',
      '.git/config': 'x',
      big: 'x'.repeat(100),
    })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', shell: bash({ worker: false }), limits })
    const result = await workspace.call('run_command', { command: line })
    if (result.ok) results.push([line, result.exitCode, result.stderr, (result.refused ?? []).map(({ path }) => path)])
    await workspace.close()
  }
  return results
}

describe('a command of bash() that is refused a file', () => {
  const readers =
    'cat grep_S egrep_S fgrep_S head tail wc sort uniq cut_-c1 sed_s/a/b/ sed_-i_s/a/b/ awk_1 tac od base64 md5sum sha1sum sha256sum paste comm_a.txt diff_a.txt strings gzip gunzip zcat file jq_. split chmod_+x tee_<a.txt tar_xf'
      .split(' ')
      .map((words) => (words.includes('<') ? words.replace('<', '.env<') : `${words} .env`).replaceAll('_', ' '))

  it('says so, and does not report a missing file', async () => {
    for (const [line, exitCode, stderr, refused] of await runAll(readers)) {
      expect([line, exitCode === 0, refused]).toEqual([line, false, ['.env']])
      expect(`${line}: ${stderr}`).toMatch(/\.env'?: Permission denied\n$/)
    }
  })

  const others = ['source', '.', 'bash', 'cat_<', 'wc_-l_<', 'while_read_x;_do_:;_done_<']
  const all = [...readers.filter((line) => !/^(?:chmod|tee)/.test(line)), ...others.map((line) => `${line} .env`)]
  const lines = all.map((line) => line.replaceAll('_', ' ').replace('.env', './big'))

  it('says that a file is too large, and how large it is', async () => {
    for (const [line, exitCode, stderr, refused] of await runAll(lines, { commandFileBytes: 50 })) {
      expect([line, exitCode === 0, refused]).toEqual([line, false, ['big']])
      expect(`${line}: ${stderr}`).toMatch(/\.\/big'?: File too large \(100 bytes, over the limit of 50\)\n$/)
    }
  })

  it('prints the reason as a sentence, and no code of the system', async () => {
    const names = [
      'cp F y',
      'cp -r . d',
      'ln F h',
      'install F y',
      'tar cf t.tar F',
      'node F',
      'join F a.txt',
      'split F',
    ]
    const viewers = ['xxd', 'hexdump', 'hexdump -C', 'nl', 'rev', 'fold', 'expand', 'file', 'source'].map(
      (name) => `${name} F`,
    )
    for (const [file, limits, reason] of [
      ['big', { commandFileBytes: 50 }, 'File too large (100 bytes, over the limit of 50)'],
      ['.env', {}, 'Permission denied'],
    ] as const) {
      const lines = [...names, ...viewers].map((line) => line.replace('F', file))
      for (const [line, exitCode, stderr] of await runAll(lines, limits)) {
        if (exitCode === 0 || /not found/.test(stderr)) continue
        expect(`${line}: ${stderr}`).not.toMatch(/\bE[A-Z]{2,}:/)
        if (line.includes(file))
          expect(`${line}: ${stderr}`).toMatch(new RegExp(`${file}\\b.*: ${reason.replace(/[()]/g, '\\$&')}`))
      }
    }
  })

  it('says that the input failed, without the text of an error that no backend should throw', async () => {
    const line = 'cat app/b.txt; grep -r b app; find app; ls app; cp -r app c; mv app d; . app/b.txt; rm -r app'
    for (const method of ['stat', 'read', 'list'] as const) {
      for (const thrown of [
        new Error('/disk/x'),
        Object.assign(new Error('/disk/x'), { code: 'ENOENT' }),
        '/disk/x',
        null,
      ]) {
        const inner = memory({ 'app/b.txt': 'b\n' })
        const backend = {
          ...inner,
          [method]: async (path: Path, range?: undefined) => {
            if (path.startsWith('app')) throw thrown
            return inner[method](path, range)
          },
        }
        const workspace = await createWorkspace({ backend, policy: 'autonomous', shell: bash({ worker: false }) })
        const result = await workspace.call('run_command', { command: line })
        expect(JSON.stringify(result)).not.toMatch(/disk|null|undefined|Cannot|is not a/)
        if (method === 'read' && !Object(thrown).code)
          expect(result.ok && result.stderr).toContain('Input/output error')
        await workspace.close()
      }
    }
  })

  it('still reports a file that is missing', async () => {
    for (const [line, , stderr] of await runAll(['cat no', 'sed -i s/a/b/ no', 'head no', 'cat .env no', 'rm no'])) {
      expect(`${line}: ${stderr}`).toContain('No such file or directory')
    }
  })
})

describe('rm', () => {
  it.each([
    ['rm -rf .git', '.git'],
    ['rm -r .git', '.git'],
    ['rm -f .git/config', '.git/config'],
    ['rm -rf .git/config', '.git/config'],
    ['rm -rf ./.git', '.git'],
    ['rm -rf .GIT', '.GIT'],
    ['rm -rf app/.git', 'app/.git'],
    ['rm -rf -- .git', '.git'],
    ['rm -f .env', '.env'],
    ['rm -rf .env', '.env'],
    ['rm -rf app', 'app/.env'],
    ['rm -rf a.txt app', 'app/.env'],
    ['cd app && rm -rf ../.git', '.git'],
  ])('%j fails and lists %j as refused', async (line, path) => {
    const [[, exitCode, stderr, refused] = []] = await runAll([line])
    expect([exitCode, refused]).toEqual([1, [path]])
    expect(stderr).toMatch(/^rm: cannot remove '\S+': Permission denied\n$/)
  })

  it('hides a missing file with -f, and removes the others', async () => {
    expect(await runAll(['rm -f no', 'rm -rf no a.txt', 'rm -rf app/b.txt'])).toEqual([
      ['rm -f no', 0, '', []],
      ['rm -rf no a.txt', 0, '', []],
      ['rm -rf app/b.txt', 0, '', []],
    ])
  })
})

describe('a command that bash() does not have', () => {
  it('speaks of this shell', async () => {
    const lines = ['python3 -c 1', 'python x.py', 'tar --zstd -cf x.tzst a.txt']
    for (const [line, exitCode, stderr] of await runAll(lines)) {
      expect([line, exitCode === 0]).toEqual([line, false])
      expect(stderr).not.toMatch(/browser|bundle|npm|mongodb|install/i)
      expect(stderr).toContain('in this shell')
    }
  })
})
