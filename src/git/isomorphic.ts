/** What is used of isomorphic-git, by name, so that a bundler can leave out the rest. */
export {
  addRemote,
  branch,
  commit,
  currentBranch,
  deleteRef,
  fetch,
  init,
  listBranches,
  log,
  writeRef,
} from 'isomorphic-git'
