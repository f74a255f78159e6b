import * as z from 'zod'
import { compileTexts } from './match.ts'

/** The network access of commands. Only listed hosts are reachable. */
export interface NetworkPolicy {
  /**
   * Host names; `*` matches any characters. Without a port, the default port of the scheme is meant: `example.org`,
   * `*.example.org`, `localhost:8080`.
   */
  readonly hosts?: readonly string[]
}

export const networkSchema = z.strictObject({ hosts: z.array(z.string().min(1)).max(10_000).optional() })

/** Field names, for error messages. */
export const networkFields = ['hosts'] as const satisfies readonly (keyof NetworkPolicy)[]

/**
 * Returns a test of whether commands may reach an address. Only `http:` and `https:` are reachable.
 *
 * @throws TypeError with the field of an invalid pattern
 */
export function compileNetwork({ hosts = [] }: NetworkPolicy = {}): (url: URL) => boolean {
  const matches = compileTexts(
    hosts.map((host) => host.toLowerCase()),
    'network.hosts',
  )
  return ({ protocol, host }) => (protocol === 'https:' || protocol === 'http:') && matches(host)
}
