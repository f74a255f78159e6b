/** The functions used from isomorphic-git, by name, so that bundlers can drop the others. */
export {
  addRemote,
  branch,
  commit,
  currentBranch,
  deleteRef,
  fetch,
  init,
  listBranches,
  writeRef,
} from 'isomorphic-git'
