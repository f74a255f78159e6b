import { parseRecording, type Replay, replay } from 'wardspace/replay'
import { bash } from 'wardspace/shells/bash'
import { copyOf, type Recording } from './recordings.ts'

/** Replays a recording on a copy of its initial files. */
export async function repeat({ text, start, history }: Recording): Promise<Replay> {
  return replay(parseRecording(text), { backend: await copyOf(start), history, shell: bash() })
}
