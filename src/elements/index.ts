import { createElement, defineElements } from './define-element.ts'
import type { ApprovalsProperties, ElementWith } from './properties.ts'

export type { ApprovalsProperties, Drafts, ElementWith } from './properties.ts'

/** The pending approvals as cards, each with its effect and its answers. */
export type WardspaceApprovals = ElementWith<ApprovalsProperties>

export const WardspaceApprovals = createElement<ApprovalsProperties>(
  { controller: 'required', saying: 'optional', drafts: 'optional' },
  () => import('./approvals/approvals-view.tsx'),
)

defineElements({
  'wardspace-approvals': WardspaceApprovals,
})

/** The elements by their names. */
export interface WardspaceElements {
  'wardspace-approvals': WardspaceApprovals
}

declare global {
  interface HTMLElementTagNameMap {
    'wardspace-approvals': WardspaceApprovals
  }
}
