import type { ProjectFile } from '../projects/types.ts'

/** What is asked of the worker that may speak to other origins. A worker serves one of them, and is ended after it. */
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

/** What it tells, in its order. */
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
