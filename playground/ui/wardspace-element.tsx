import 'wardspace/elements'
import { type ComponentChildren, h } from 'preact'
import type { WardspaceElements } from 'wardspace/elements'

/** One of the elements of `wardspace/elements`, with its properties and the listeners of its events. */
export function WardspaceElement<Name extends keyof WardspaceElements>({
  name,
  properties,
  events = {},
  children,
}: {
  readonly name: Name
  readonly properties: Omit<WardspaceElements[Name], keyof HTMLElement>
  readonly events?: Readonly<Record<string, (event: CustomEvent) => void>>
  /** What the slots of the element show. */
  readonly children?: ComponentChildren
}) {
  const listeners = Object.entries(events).map(([type, listener]) => [`on${type}`, listener])
  return h(name as string, { class: 'fill', ...properties, ...Object.fromEntries(listeners) }, children)
}
