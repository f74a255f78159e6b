export {
  type GitHost,
  type LogEntry,
  openRepository,
  type Person,
  type RemoteOptions,
  type Repository,
  type StatusEntry,
} from './repository.ts'
