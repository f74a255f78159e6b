export { changedRegions, diffLines, type LineHunk } from './line-diff.ts'
export {
  binaryDiff,
  FILE_MODE,
  type FileVersion,
  LINK_MODE,
  octalMode,
  typeOfMode,
  type UnifiedDiff,
  unifiedDiff,
} from './unified-diff.ts'
