import { describe, expect, it } from 'vitest'
import { redact } from '../../../src/files/secrets/index.ts'
import { createHeldOutput, type HeldOutput } from '../../../src/shells/shared/held-output.ts'
import { letters, passwords, tokens } from '../../files/secrets/tokens.ts'

const SIZES = Array.from({ length: 16 }, (_, index) => index + 1)

const key = [
  '-----BEGIN RSA PRIVATE KEY-----',
  ...Array.from({ length: 12 }, () => letters(64)),
  letters(20),
  '-----END RSA PRIVATE KEY-----',
].join('\n')

const cases = [...tokens, ...passwords, ['private-key', '', key, '\n'] as const].map(
  ([kind, before, secret, after]) => ({ kind, secret, text: `first line\n${before}${secret}${after}\nlast line` }),
)

interface Fake {
  readonly held: HeldOutput
  add(text: string): void
  end(): void
}

function fakeProcess(stream: 'stdout' | 'stderr'): Fake {
  let output = { stdout: '', stderr: '' }
  let exitCode: number | undefined
  const held = createHeldOutput({
    output() {
      const taken = output
      output = { stdout: '', stderr: '' }
      return taken
    },
    get exitCode() {
      return exitCode
    },
  })
  return {
    held,
    add(text) {
      output = { ...output, [stream]: output[stream] + text }
    },
    end() {
      exitCode = 0
    },
  }
}

/** Returns the joined answers of a poll after every part of a text. */
function polled(text: string, size: number, stream: 'stdout' | 'stderr'): string {
  const { held, add, end } = fakeProcess(stream)
  let shown = ''
  const poll = () => {
    shown += redact(held.take()[stream]).text
  }
  for (let at = 0; at < text.length; at += size) {
    add(text.slice(at, at + size))
    poll()
  }
  end()
  poll()
  return shown
}

function hasPiece(shown: string, secret: string): boolean {
  for (let at = 0; at + 12 <= secret.length; at++) if (shown.includes(secret.slice(at, at + 12))) return true
  return secret.length < 12 && shown.includes(secret)
}

describe('createHeldOutput', () => {
  it.each(SIZES)('shows every secret that arrives %i characters at a time as the marked whole', (size) => {
    const wrong: string[] = []
    for (const { kind, secret, text } of cases) {
      const whole = redact(text)
      for (const stream of ['stdout', 'stderr'] as const) {
        const shown = polled(text, size, stream)
        if (shown !== whole.text || whole.marks.length === 0 || hasPiece(shown, secret)) wrong.push(`${kind}: ${shown}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('shows finished lines and the finished words of a question at once', () => {
    const { held, add } = fakeProcess('stdout')
    add('compiled\n10%\r20%\r')
    expect(held.take().stdout).toBe('compiled\n10%\r20%\r')
    add('Continue? (y) ')
    expect(held.take().stdout).toBe('Continue? (y) ')
    add('ready on 80')
    expect(held.take().stdout).toBe('ready on ')
    add('80\n')
    expect(held.take().stdout).toBe('8080\n')
  })

  it('shows everything when the process has ended', () => {
    const { held, add, end } = fakeProcess('stderr')
    add('-----BEGIN PRIVATE KEY-----\nno key')
    expect(held.take().stderr).toBe('')
    end()
    expect(held.take().stderr).toBe('-----BEGIN PRIVATE KEY-----\nno key')
  })

  it('leaves out an unfinished line that is too long, up to its end', () => {
    const { held, add } = fakeProcess('stdout')
    add(`before\n${'x'.repeat(1024 * 1024 + 1)}`)
    expect(held.take().stdout).toBe('before\n[…]\n')
    add('yyy')
    expect(held.take().stdout).toBe('')
    add('zzz\nafter\n')
    expect(held.take().stdout).toBe('after\n')
  })

  it('shows text after the header of a key that is too long for a key', () => {
    const { held, add } = fakeProcess('stdout')
    add('-----BEGIN PRIVATE KEY----- in a log\n')
    expect(held.take().stdout).toBe('')
    add('a line\n'.repeat(10_000))
    expect(held.take().stdout).toContain('a line\n'.repeat(10_000))
  })
})
