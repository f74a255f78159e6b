import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lazy, zip } from '../../../src/backends/lazy/index.ts'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { snapshot } from '../../../src/testing/backend/case.ts'

const directory = mkdtempSync(join(tmpdir(), 'wardspace-zip-'))
const source = join(directory, 'source')
afterAll(() => rmSync(directory, { recursive: true, force: true }))

mkdirSync(join(source, 'deep/er'), { recursive: true })
mkdirSync(join(source, 'empty directory'))
writeFileSync(join(source, 'a.txt'), 'one\n')
writeFileSync(join(source, 'empty'), '')
writeFileSync(join(source, 'deep/er/ünïcode 名前.txt'), 'named\n')
writeFileSync(join(source, 'large.txt'), 'a line of a text\n'.repeat(200_000))
writeFileSync(
  join(source, 'random.bin'),
  Uint8Array.from({ length: 300_000 }, (_, i) => (i * 2654435761) >>> 13),
)
writeFileSync(join(source, 'run.sh'), '#!/bin/sh\n')
chmodSync(join(source, 'run.sh'), 0o755)
symlinkSync('deep/er', join(source, 'link'))
for (let i = 0; i < 3000; i++) writeFileSync(join(source, `deep/f${i}`), `${i}\n`)

/** Ways to make an archive of the directory, by the program. */
const programs: Readonly<Record<string, (archive: string) => void>> = {
  'zip -r': (archive) => run('zip', '-qry', archive, '.'),
  'zip -0': (archive) => run('zip', '-qry0', archive, '.'),
  'zip into a pipe, with sizes after the data': (archive) =>
    run('sh', '-c', `find . -type f -size +0c | zip -q - -@ | cat > '${archive}'`),
  'zip with zip64 fields': (archive) => run('zip', '-qry', '-fz', archive, '.'),
  'zipfile of Python': (archive) => run('python3', '-c', PYTHON, archive),
  'git archive': (archive) => {
    run('git', 'init', '-q')
    run('git', 'add', '-A')
    run('git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'all')
    run('git', 'archive', '--format=zip', '-o', archive, 'HEAD')
    rmSync(join(source, '.git'), { recursive: true })
  },
}

const PYTHON = `
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    for at, directories, files in os.walk('.'):
        for name in sorted(files) + sorted(directories):
            path = os.path.join(at, name)
            if os.path.islink(path):
                info = zipfile.ZipInfo(os.path.relpath(path))
                info.create_system = 3
                info.external_attr = 0o120777 << 16
                z.writestr(info, os.readlink(path))
            else:
                z.write(path)
`

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd: source, stdio: 'pipe' })
}

describe('an archive made by', () => {
  it.each(Object.entries(programs))('%s shows the files of the directory', async (name, make) => {
    const archive = join(directory, `${readdirSync(directory).length}.zip`)
    make(archive)
    const backend = nodeBackend(source)
    const expected = await snapshot(backend)
    await backend.close()
    // git has no directories without files.
    if (name.startsWith('git')) expected.delete('empty directory')
    if (name.startsWith('zip into')) for (const path of ['empty directory', 'empty', 'link']) expected.delete(path)
    const bytes = readFileSync(archive)
    const shown = lazy(zip(new Blob([bytes])))
    expect(await snapshot(shown)).toEqual(expected)
    expect(await shown.omitted()).toEqual([])
    expect(await snapshot(lazy(zip(new Uint8Array(bytes))))).toEqual(expected)
  })
})
