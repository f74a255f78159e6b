import type { GithubAddress } from '../projects/github-address.ts'
import type { ProjectFile } from '../projects/types.ts'

/** A request to the worker that may reach other origins. Each worker serves one request and is then terminated. */
export type ToOutside =
  | {
      readonly kind: 'fetch'
      readonly url: string
      readonly method: string
      readonly headers: readonly (readonly [string, string])[]
      readonly body: ArrayBuffer | undefined
    }
  | {
      readonly kind: 'clone'
      readonly url: string
      readonly corsProxy: string | undefined
      readonly ref: string | undefined
      readonly depth: number | undefined
    }
  | ({ readonly kind: 'github'; readonly token: string | undefined } & GithubAddress)

/** A message of the worker. Messages arrive in order. */
export type FromOutside =
  | {
      readonly kind: 'head'
      readonly status: number
      readonly statusText: string
      readonly headers: readonly (readonly [string, string])[]
    }
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array }
  | { readonly kind: 'progress'; readonly phase: string; readonly done: number; readonly total?: number }
  | { readonly kind: 'files'; readonly files: readonly ProjectFile[]; readonly total: number }
  | { readonly kind: 'end'; readonly warnings: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string; readonly hint?: string }
