import type { WebContainer } from './client.ts'

/** A port that a server of the container listens on. */
export interface OpenPort {
  readonly port: number
  /** Where a preview of it is. */
  readonly url: string
}

export interface Ports {
  listen(container: WebContainer, tell: (text: string) => void): void
  list(): readonly OpenPort[]
  clear(): void
}

/** The ports of a container, as it tells of them. */
export function createPorts(onPort?: (port: OpenPort, type: 'open' | 'ready' | 'close') => void): Ports {
  const ports = new Map<number, OpenPort>()
  return {
    listen(container, tell) {
      container.on('port', (port, type, url) => {
        if (type === 'open') ports.set(port, { port, url })
        else ports.delete(port)
        onPort?.({ port, url }, type)
      })
      container.on('server-ready', (port, url) => {
        ports.set(port, { port, url })
        tell(`A server is ready on port ${port}: ${url}\n`)
        onPort?.({ port, url }, 'ready')
      })
    },
    list: () => [...ports.values()],
    clear: () => ports.clear(),
  }
}
