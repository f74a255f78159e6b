/**
 * The operator `==`, which `assert.equal` and `assert.deepEqual` compare by.
 *
 * @param {unknown} a
 * @param {unknown} b
 */
export const isLooselyEqual = (a, b) => a == b
