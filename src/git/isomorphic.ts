/** The functions used from isomorphic-git, by name, so that bundlers can drop the others. */
export {
  addRemote,
  branch,
  commit,
  currentBranch,
  deleteRef,
  fetch,
  getConfig,
  init,
  setConfig,
  writeRef,
} from 'isomorphic-git'
