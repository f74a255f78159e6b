import type { WebContainer } from './client.ts'

/** A port that a server of the container listens on. */
export interface OpenPort {
  readonly port: number
  /** URL of its preview. */
  readonly url: string
}

/** The open ports of a container. */
export interface Ports {
  /** Follows the ports of a container, and reports each server that is ready. */
  listen(container: WebContainer, notify: (text: string) => void): void
  list(): readonly OpenPort[]
  clear(): void
}

/** Tracks the open ports of a container. */
export function createPorts(onPort?: (port: OpenPort, type: 'open' | 'ready' | 'close') => void): Ports {
  const ports = new Map<number, OpenPort>()
  return {
    listen(container, notify) {
      container.on('port', (port, type, url) => {
        if (type === 'open') ports.set(port, { port, url })
        else ports.delete(port)
        onPort?.({ port, url }, type)
      })
      container.on('server-ready', (port, url) => {
        ports.set(port, { port, url })
        notify(`A server is ready on port ${port}: ${url}\n`)
        onPort?.({ port, url }, 'ready')
      })
    },
    list: () => [...ports.values()],
    clear: () => ports.clear(),
  }
}
