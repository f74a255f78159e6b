import type { Slot } from './slots.ts'

/** A request of a page to the worker that keeps its storage open. `lease` is the lease that the page believes to hold. */
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

/** A message of the worker: it is ready, the lease is wanted, or a response. Errors are sent by name. */
export type WorkerMessage =
  | { readonly event: 'ready' | 'wanted' }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly name: string; readonly message: string; readonly code?: string } }
