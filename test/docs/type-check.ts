import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block } from './blocks.ts'

const top = join(import.meta.dirname, '../..')

/** Compiles the blocks in one program. Returns a line for each error, with the page of its block. */
export function typeErrors(blocks: readonly Block[], directory: string): readonly string[] {
  mkdirSync(directory, { recursive: true })
  for (const [index, { code }] of blocks.entries())
    writeFileSync(join(directory, `${index}.ts`), `${code}\nexport {}\n`)
  const options = { noUnusedLocals: false, noUnusedParameters: false, types: ['node'] }
  const config = { extends: join(top, 'tsconfig.json'), compilerOptions: options, include: ['*.ts'] }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(top, 'node_modules/typescript/bin/tsc'), '--noEmit', '--pretty', 'false', '-p', directory],
    { encoding: 'utf8' },
  )
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) =>
      line.replace(/^.*?(\d+)\.ts\((\d+),/, (_, index, at) => `${blocks[Number(index)]?.name} line ${at} (`),
    )
}
