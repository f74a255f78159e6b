import base from '../../src/elements/parts/base.css?inline'
import parts from '../../src/elements/parts/parts.css?inline'

/** Adds the styles that the page shares with the elements, which have them as texts. As a file of the page, they would load twice. */
export function addSharedStyles(): void {
  const style = document.createElement('style')
  style.textContent = `${base}\n${parts}`
  document.head.prepend(style)
}
