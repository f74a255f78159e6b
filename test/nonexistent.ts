/** A path at which nothing can be created, not even by root: it is below a file. */
export const nonexistent = `${import.meta.filename}/nonexistent`
