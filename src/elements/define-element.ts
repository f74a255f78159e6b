import { type ComponentType, h, render } from 'preact'
import base from './parts/base.css?inline'
import { NotLoaded } from './parts/not-loaded.tsx'
import parts from './parts/parts.css?inline'
import tokens from './parts/tokens.css?inline'
import type { ElementClass, ElementWith } from './properties.ts'

/** What a view gets from its element beside the properties. */
export interface ViewContext {
  /** Dispatches an event of the element. It crosses shadow roots. */
  dispatch(type: string, detail: unknown): void
}

/** A view with its styles. Its module loads when the first of its elements is shown. */
export interface ElementView<Properties> {
  readonly View: ComponentType<Properties & ViewContext>
  readonly styles: string
}

/** An element is a class of the browser. Elsewhere, as on a server that renders pages, its module can still be imported. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

/**
 * Creates the class of an element whose view is rendered in an open shadow root, once its `controller` is set.
 *
 * @param optional the other properties
 */
export function createElement<Properties extends { readonly controller: unknown }>(
  load: () => Promise<ElementView<Properties>>,
  ...optional: readonly (Exclude<keyof Properties, 'controller'> & string)[]
): ElementClass<ElementWith<Properties>> {
  const names: readonly (keyof Properties & string)[] = ['controller', ...optional]

  class ElementWithView extends Base {
    #values: Partial<Properties> = {}
    #view: ElementView<Properties> | undefined
    #isScheduled = false

    connectedCallback(): void {
      for (const name of names) this.#upgrade(name)
      if (this.shadowRoot === null) this.attachShadow({ mode: 'open', delegatesFocus: true })
      if (this.#view !== undefined) this.#schedule()
      else
        void load().then(
          (view) => this.#show(view),
          () => this.#show({ View: NotLoaded, styles: '' }),
        )
    }

    disconnectedCallback(): void {
      this.#schedule()
    }

    read(name: keyof Properties): Partial<Properties>[keyof Properties] {
      return this.#values[name]
    }

    write(name: keyof Properties, value: Properties[keyof Properties] | undefined): void {
      // Preact writes an empty text for `undefined`. No property has a meaning for it.
      this.#values = { ...this.#values, [name]: value === '' ? undefined : value }
      this.#schedule()
    }

    #show(view: ElementView<Properties>): void {
      this.#view = view
      if (this.shadowRoot !== null) this.shadowRoot.adoptedStyleSheets = [tokens, base, parts, view.styles].map(sheetOf)
      this.#schedule()
    }

    /** A property that was set before the element was defined hides the accessor of its class. */
    #upgrade(name: keyof Properties): void {
      if (!Object.hasOwn(this, name)) return
      const { value } = Object.getOwnPropertyDescriptor(this, name) ?? {}
      Reflect.deleteProperty(this, name)
      this.write(name, value)
    }

    #schedule(): void {
      if (this.#isScheduled) return
      this.#isScheduled = true
      queueMicrotask(() => {
        this.#isScheduled = false
        this.#render()
      })
    }

    #render(): void {
      const { shadowRoot } = this
      if (shadowRoot === null || this.#view === undefined) return
      const values = this.#values
      const isComplete = this.isConnected && values.controller !== undefined
      const view = isComplete ? h(this.#view.View, { ...(values as Properties), dispatch: this.#dispatch }) : null
      render(view, shadowRoot)
    }

    readonly #dispatch = (type: string, detail: unknown): void => {
      this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }))
    }
  }

  addAccessors(ElementWithView.prototype, names)
  return ElementWithView as unknown as new () => ElementWith<Properties>
}

interface PropertyHolder<Properties> {
  read(name: keyof Properties): Partial<Properties>[keyof Properties]
  write(name: keyof Properties, value: Properties[keyof Properties] | undefined): void
}

function addAccessors<Properties>(
  prototype: PropertyHolder<Properties>,
  names: readonly (keyof Properties & string)[],
): void {
  for (const name of names) {
    Object.defineProperty(prototype, name, {
      ...{ configurable: true, enumerable: true },
      get(this: PropertyHolder<Properties>) {
        return this.read(name)
      },
      set(this: PropertyHolder<Properties>, value: Properties[keyof Properties]) {
        this.write(name, value)
      },
    })
  }
}

/** Defines elements, except in a page that has defined them already and outside of browsers. */
export function defineElements(elements: Readonly<Record<string, CustomElementConstructor>>): void {
  const { customElements } = globalThis
  if (customElements === undefined) return
  for (const [name, element] of Object.entries(elements)) {
    if (customElements.get(name) === undefined) customElements.define(name, element)
  }
}

const sheets = new Map<string, CSSStyleSheet>()

function sheetOf(styles: string): CSSStyleSheet {
  const existing = sheets.get(styles)
  if (existing !== undefined) return existing
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  sheets.set(styles, sheet)
  return sheet
}
