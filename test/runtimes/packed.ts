import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const top = join(import.meta.dirname, '../..')

/** Returns the path of the packed package. Test files and runs share one for each state of the clone. */
export function packedTarball(): string {
  const home = join(tmpdir(), `wardspace-packed-${stamp()}`)
  if (!existsSync(home)) {
    const aside = mkdtempSync(`${home}-`)
    const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', aside]
    execFileSync('npm', packing, { cwd: top, stdio: 'ignore' })
    try {
      renameSync(aside, home)
    } catch (error) {
      // Another process was faster, and its file is the same.
      rmSync(aside, { recursive: true, force: true })
      if (!existsSync(home)) throw error
    }
  }
  return join(home, readdirSync(home)[0] ?? '')
}

/** A hash of the names, sizes and times of all files that can be packed. */
function stamp(): string {
  const hash = createHash('sha256').update(top)
  const below = (folder: string) =>
    readdirSync(join(top, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  for (const file of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', ...below('dist'), ...below('src')]) {
    const { size, mtimeMs } = statSync(join(top, file))
    hash.update(`${file}\0${size}\0${mtimeMs}\0`)
  }
  return hash.digest('hex').slice(0, 16)
}
