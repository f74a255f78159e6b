import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Drafts } from 'wardspace/ui'

/** Texts outside of files that the person has typed and not sent or applied, by the name of their field. */
export interface TypedTexts {
  /** The text of a field; empty if nothing was typed. */
  of(name: string): Signal<string>
  /** The texts that are not empty. */
  readonly all: ReadonlySignal<Readonly<Record<string, string>>>
}

export function createTypedTexts(kept: Readonly<Record<string, string>> = {}): TypedTexts {
  const fields = new Map<string, Signal<string>>()
  const all = signal(kept)
  return {
    all,
    of(name) {
      const existing = fields.get(name)
      if (existing !== undefined) return existing
      const field = signal(kept[name] ?? '')
      fields.set(name, field)
      field.subscribe((text) => {
        const { [name]: before = '', ...others } = all.peek()
        if (text !== before) all.value = text === '' ? others : { ...others, [name]: text }
      })
      return field
    },
  }
}

/** Returns the texts as an element keeps them. */
export function draftsOf(texts: TypedTexts): Drafts {
  return {
    get: (field) => texts.of(field).peek(),
    set(field, text) {
      texts.of(field).value = text
    },
  }
}
