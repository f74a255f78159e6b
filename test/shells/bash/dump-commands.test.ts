import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { createWorkspace } from '../../../src/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'

/** Contents of files, and the output of `xxd` (vim) and `hexdump` (util-linux) for them. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/dumps.json'), 'utf8')) as {
  readonly files: Readonly<Record<string, readonly number[]>>
  readonly calls: readonly { readonly command: string; readonly stdout: string }[]
}

const files = Object.fromEntries(Object.entries(recorded.files).map(([name, bytes]) => [name, Uint8Array.from(bytes)]))
const png = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (char) => char.charCodeAt(0),
)
const token = `ghp_${'a1B2'.repeat(9)}`
const workspace = await createWorkspace({
  backend: memory({
    ...files,
    'token.txt': `${token}\n`,
    '.env': 'A=1\n',
    'logo.png': png,
    'large.bin': new Uint8Array(5_000_000),
  }),
  policy: 'autonomous',
  shell: bash({ worker: false }),
})
const run = (command: string) => workspace.callTool('run_command', { command })

it('a binary file is refused as text, with a hint that names the commands that show it', async () => {
  const read = await workspace.call('read_file', { path: 'a.bin' })
  expect(read).toMatchObject({ code: 'UNSUPPORTED_BINARY', hint: expect.stringMatching(/xxd, file or hexdump/) })
})

describe('xxd, hexdump and hd', () => {
  it('have the output of the real programs', async () => {
    for (const { command, stdout } of recorded.calls) {
      expect(await run(command), command).toMatchObject({ ok: true, exitCode: 0, stdout })
    }
    console.log(`calls compared with xxd and hexdump: ${recorded.calls.length}`)
  })

  it('read standard input, and several files as one', async () => {
    expect(await run("printf 'ab' | xxd")).toMatchObject({ stdout: `00000000: 6162${' '.repeat(37)}ab\n` })
    expect(await run("printf 'b' > b.txt; printf 'a' | hexdump -C - b.txt")).toMatchObject({
      stdout: `00000000  61 62${' '.repeat(44)} |ab|\n00000002\n`,
    })
  })

  it('exit with 1 for unsupported options, missing files and files that are too large', async () => {
    for (const [command, message] of [
      ['xxd -r a.bin', 'an option of it is not available'],
      ['xxd a.bin b.txt', 'one file only'],
      ['xxd -c 0 a.bin', 'columns'],
      ['xxd -l x a.bin', 'number'],
      ['hexdump -e x a.bin', 'an option of it is not available'],
      ['hexdump -n -1 a.bin', 'number'],
      ['xxd absent.bin', 'no such file'],
      ['xxd large.bin', 'pass an offset and a length'],
    ] as const) {
      const result = await run(command)
      expect(result, command).toMatchObject({ ok: true, exitCode: 1, stdout: '' })
      expect(String((result as { stderr?: string }).stderr).toLowerCase(), command).toContain(message)
    }
    expect(await run('xxd -s 4999998 large.bin')).toMatchObject({ exitCode: 0 })
  })

  it('show binary files, but neither protected files nor hidden tokens', async () => {
    expect(await run('xxd logo.png; hexdump -C logo.png; file logo.png')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^00000000: 8950 4e47 .*\n00000000 {2}89 50 4e 47 .*\nlogo.png: PNG image/s),
    })
    const refused = await run('xxd .env')
    expect(refused).toMatchObject({ exitCode: 1, stdout: '', refused: [{ code: 'POLICY_DENIED_SECRET' }] })
    const output = JSON.stringify(await run('xxd -c 256 token.txt; xxd -p token.txt; hexdump -C token.txt'))
    expect(output).not.toContain(Buffer.from(token.slice(4, 16)).toString('hex'))
    expect(output).not.toContain(token.slice(0, 12))
  })
})
