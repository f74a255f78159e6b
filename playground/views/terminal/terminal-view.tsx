import type { Terminal } from 'wardspace/ui'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'

const GREETING = 'The files of this project, in bash.\nThe commands of the agent appear here too.'

interface TerminalViewProps {
  readonly terminal: Terminal
  /** Opens a file that an output names. */
  readonly onFile: (path: string, line: number | undefined) => void
}

/** The person's terminal, which also shows the commands of the agent. */
export function TerminalView({ terminal, onFile }: TerminalViewProps) {
  return (
    <WardspaceElement
      name="wardspace-terminal"
      properties={{ controller: terminal, greeting: GREETING }}
      events={{ 'wardspace-open-file': ({ detail }) => onFile(detail.path, detail.line) }}
    />
  )
}
