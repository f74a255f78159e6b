/** Attributes of a scrollable element, so that the keyboard can scroll it. */
export const scrollable = { tabIndex: 0 } as const
