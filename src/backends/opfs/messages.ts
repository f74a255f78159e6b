import type { Slot } from './slots.ts'

/** What a page asks of the worker that keeps its storage open. `lease` tells under which lease it believes to be. */
export type Request =
  | {
      readonly do: 'start'
      readonly name: string
      readonly directory: FileSystemDirectoryHandle
      readonly timeoutMs: number
    }
  | { readonly do: 'acquire' }
  | { readonly do: 'gaveUp' }
  | { readonly do: 'close' }
  | { readonly do: 'size'; readonly lease: number; readonly slot: Slot }
  | { readonly do: 'read'; readonly lease: number; readonly slot: Slot; readonly at: number; readonly length: number }
  | {
      readonly do: 'write'
      readonly lease: number
      readonly slot: Slot
      readonly at: number
      readonly bytes: Uint8Array
      readonly flush: boolean
    }
  | { readonly do: 'truncate'; readonly lease: number; readonly slot: Slot; readonly size: number }
  | { readonly do: 'flush'; readonly lease: number; readonly slot: Slot }

export type PageMessage = Request & { readonly id: number }

/** What the worker says: that it is there, that the lease is wanted, or an answer. Errors travel as their names. */
export type WorkerMessage =
  | { readonly event: 'ready' | 'wanted' }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly name: string; readonly message: string; readonly code?: string } }
