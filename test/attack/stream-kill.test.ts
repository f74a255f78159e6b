import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { ROOT } from '../../src/paths/logical-path.ts'
import { straysIn } from '../backends/node/tree.ts'
import { times } from '../counts.ts'
import { bundle } from './bundle.ts'

const SIZE = 1024 * 1024

it('a process that is killed while it stores a content leaves the old file or the new one, and nothing else', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'stream-kill-')))
  try {
    const [root, stateDir] = [join(base, 'root'), join(base, 'state')]
    mkdirSync(join(root, 'd'), { recursive: true })
    writeFileSync(join(root, 'd/file'), new Uint8Array(SIZE))
    const script = await bundle('test/attack/killed-stream.ts', base)
    let generation = 0
    let present = 0
    let interrupted = 0
    for (let kills = 0; kills < times(8, 300) && (interrupted < times(2, 100) || kills < times(4, 200)); kills++) {
      const begun = await killOne(script, [root, stateDir, String(generation)])
      if (straysIn(root).length > 0) interrupted += 1
      const backend = nodeBackend(root, { stateDir })
      await backend.stat(ROOT)
      await backend.close()
      expect(straysIn(root), 'temporary files after reopening').toEqual([])
      expect(readdirSync(join(root, 'd'))).toEqual(['file'])
      const bytes = readFileSync(join(root, 'd/file'))
      const [first = 0] = bytes
      expect(bytes.equals(Buffer.alloc(SIZE, first)), 'one whole generation').toBe(true)
      const acknowledged = begun === generation + 1 ? present : (begun - 1) % 256
      expect([acknowledged, begun % 256], 'the old file or the new one').toContain(first)
      generation = begun
      present = first
    }
    expect(interrupted, 'kills that left a temporary file').toBeGreaterThan(0)
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
})

/** Starts the victim, kills it at a random moment after it has begun a generation, and returns the last one. */
async function killOne(script: string, args: string[]): Promise<number> {
  const child = fork(script, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  let output = ''
  const begun = new Promise<void>((done) => {
    child.stdout?.on('data', (data) => {
      output += data
      done()
    })
  })
  const closed = once(child, 'close')
  await Promise.race([begun, closed])
  await sleep(Math.random() * 40)
  child.kill('SIGKILL')
  await closed
  return Number(output.trimEnd().split('\n').at(-1))
}
