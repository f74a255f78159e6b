import * as z from 'zod/mini'
import { type Failure, ToolError, toFailure } from '../../errors.ts'
import type { ClientRoot, ClientRoots } from './client-roots.ts'
import { ProtocolErrorCode, type Server } from './sdk.ts'
import { ignoreClosed, type ServedOrReason, type ServedState } from './served-workspace.ts'

/** Requests the roots of one client. */
export interface RootsRequester {
  /** Requests the roots if the client supports them, and serves them. */
  request(): void
}

/** Requests the roots of the client of `server` and replaces what `serving` serves. */
export function createRootsRequester(
  server: Server,
  serving: ServedState,
  { open, timeoutMs = 30_000 }: ClientRoots,
): RootsRequester {
  // One request at a time is enough: it returns the latest roots.
  let isRequested = false

  async function openRoots(): Promise<ServedOrReason> {
    isRequested = false
    try {
      const { workspace, run = workspace, refused = [] } = await open(await rootsOf(server, timeoutMs))
      for (const { uri, why } of refused) warn(`The root ${JSON.stringify(uri)} is not served: ${why}`)
      return { workspace, run }
    } catch (error) {
      const failure = error instanceof ToolError ? toFailure(error) : openFailure
      warn(failure.message)
      return { failure }
    }
  }

  function warn(data: string): void {
    ignoreClosed(server.sendLoggingMessage({ level: 'warning', logger: 'roots', data }))
  }

  return {
    request() {
      if (isRequested || server.getClientCapabilities()?.roots === undefined) return
      isRequested = true
      void serving.replace(openRoots)
    },
  }
}

/** A loose schema: one invalid root must not hide the others. The protocol's own schema would reject the whole list. */
const rootsSchema = z.object({ roots: z.array(z.object({ uri: z.string(), name: z.optional(z.string()) })) })

/** Requests the roots. A client that declares roots but does not know the method has none. */
async function rootsOf(server: Server, timeout: number): Promise<readonly ClientRoot[]> {
  try {
    const { roots } = await server.request({ method: 'roots/list' }, rootsSchema, { timeout })
    return roots.map(({ uri, name }) => ({ uri, ...(name === undefined ? {} : { name }) }))
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === ProtocolErrorCode.MethodNotFound) return []
    throw new ToolError('BACKEND_ERROR', 'The client did not send its roots', { hint: HINT })
  }
}

const HINT = 'Nothing can be reached until the client sends other roots. Report this to the user.'

const openFailure: Failure = {
  ok: false,
  code: 'BACKEND_ERROR',
  message: "The client's roots could not be opened",
  hint: HINT,
}
