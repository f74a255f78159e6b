/** Put on what scrolls, so that the keyboard can scroll it, too. */
export const scrollable = { tabIndex: 0 } as const
