import { unfinishedStart } from '../../files/secrets/unfinished.ts'
import type { CommandOutput, ShellProcess } from '../types.ts'

/** The output of a process in parts that can be checked for secrets one by one. */
export interface HeldOutput {
  /** Returns the text since the last call, without an end that may become part of a secret while the process runs. */
  take(): CommandOutput
}

/** Holds back the unfinished end of both streams of a process until more text arrives or the process ends. */
export function createHeldOutput(process: Pick<ShellProcess, 'output' | 'exitCode'>): HeldOutput {
  const stdout = createHeldText()
  const stderr = createHeldText()
  return {
    take() {
      // Read first: all output of an ended process is available.
      const isEnded = process.exitCode !== undefined
      const output = process.output()
      return { stdout: stdout.add(output.stdout, isEnded), stderr: stderr.add(output.stderr, isEnded) }
    },
  }
}

/** Longest text that is held back, in UTF-16 units. A longer one is left out up to the end of its line. */
const MAX_HELD = 1024 * 1024

const LEFT_OUT = '[…]\n'

function createHeldText(): { add(text: string, isEnded: boolean): string } {
  let held = ''
  let leavesOut = false
  return {
    add(text, isEnded) {
      let all = held + text
      held = ''
      if (leavesOut) {
        const lineEnd = all.search(/[\r\n]/)
        if (lineEnd === -1) return ''
        all = all.slice(lineEnd + 1)
        leavesOut = false
      }
      const start = isEnded ? all.length : unfinishedStart(all)
      held = all.slice(start)
      if (held.length <= MAX_HELD) return all.slice(0, start)
      held = ''
      leavesOut = true
      return all.slice(0, start) + LEFT_OUT
    },
  }
}
