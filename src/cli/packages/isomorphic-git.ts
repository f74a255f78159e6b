export * from '../../git/isomorphic.ts'
