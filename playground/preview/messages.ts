/** From the page to the frame of the preview. */
export type ToPreview =
  /** A page of the project with everything in it that it loads. */
  { readonly kind: 'html'; readonly html: string } | { readonly kind: 'pdf'; readonly bytes: Uint8Array }

/** From the frame of the preview to the page. */
export type FromPreview =
  | { readonly kind: 'ready' }
  /** What went wrong in the page of the project, as it says itself, or the link that was pressed there. */
  | { readonly kind: 'problem' | 'link'; readonly text: string }
