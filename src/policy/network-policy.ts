import * as z from 'zod'
import { compileTexts } from './match.ts'

/** What commands may reach of the network: nothing that is not named. */
export interface NetworkPolicy {
  /**
   * Hosts by name; `*` stands for any characters. Without a port, the usual one of the address's scheme is meant:
   * `example.org`, `*.example.org`, `localhost:8080`.
   */
  readonly hosts?: readonly string[]
}

export const networkSchema = z.strictObject({ hosts: z.array(z.string().min(1)).max(10_000).optional() })

/** The fields of the part of a policy, for error messages. */
export const networkFields = ['hosts'] as const satisfies readonly (keyof NetworkPolicy)[]

/**
 * Whether an address may be reached.
 *
 * @throws TypeError that names the pattern which is not valid
 */
export function compileNetwork({ hosts = [] }: NetworkPolicy = {}): (url: URL) => boolean {
  const matches = compileTexts(
    hosts.map((host) => host.toLowerCase()),
    'network.hosts',
  )
  return ({ protocol, host }) => (protocol === 'https:' || protocol === 'http:') && matches(host)
}
