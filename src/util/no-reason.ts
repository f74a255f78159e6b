/** The reason of a refusal without one. */
export const NO_REASON = 'no reason was given'
