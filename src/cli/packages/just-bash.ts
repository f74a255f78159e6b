export * from 'just-bash'
