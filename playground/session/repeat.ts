import { parseRecording, type Recorded, type Replay, replay } from 'wardspace/replay'
import { bash } from 'wardspace/shells/bash'
import { openGit } from './open-workspace.ts'
import { copyOf, type Recording } from './recordings.ts'

/** Replays a recording on a copy of its initial files. The times that commands print are those of the recording. */
export async function repeat({ text, start, history }: Recording): Promise<Replay> {
  const recorded = parseRecording(text)
  const shell = withRecordedTimes(bash(), recorded)
  return replay(recorded, { backend: await copyOf(start), history, shell, git: openGit() })
}

type Shell = ReturnType<typeof bash>
type Output = Pick<Awaited<ReturnType<Shell['run']>>, 'stdout' | 'stderr'>

/** Wraps a shell: where the output of a command differs from the recorded one in times alone, it is the recorded one. */
function withRecordedTimes(shell: Shell, recorded: readonly Recorded[]): Shell {
  const outputs = new Map<string, Output[]>()
  for (const step of recorded) {
    if (step.type !== 'call' || step.name !== 'run_command') continue
    const { command } = (step.input ?? {}) as { readonly command?: unknown }
    const { stdout, stderr } = (step.result ?? {}) as Partial<Record<keyof Output, unknown>>
    if (typeof command !== 'string' || typeof stdout !== 'string' || typeof stderr !== 'string') continue
    outputs.set(command, [...(outputs.get(command) ?? []), { stdout, stderr }])
  }
  return {
    ...shell,
    async run(command) {
      const outcome = await shell.run(command)
      const before = outputs.get(command.line)?.shift()
      if (before === undefined) return outcome
      const stdout = sameTimes(outcome.stdout, before.stdout)
      const stderr = sameTimes(outcome.stderr, before.stderr)
      return { ...outcome, stdout, stderr }
    },
  }
}

/** Durations, such as `12 ms` and `duration_ms 12`, times of day, and dates with a time. */
const times =
  /\b\d+(?:\.\d+)? ?(?:ms|s|seconds?|milliseconds?)\b|\bduration_ms \d+(?:\.\d+)?|\b\d+m\d+(?:\.\d+)?s\b|\b(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?\b|\b1\d{9}(?:\d{3})?\b/g

function sameTimes(output: string, recorded: string): string {
  return output.replace(times, '#') === recorded.replace(times, '#') ? recorded : output
}
