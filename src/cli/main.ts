#!/usr/bin/env node
import { useBundledPackages } from './bundled-packages.ts'
import { handleOutputError, program } from './program.ts'

process.stdout.on('error', handleOutputError)
// Nothing can be said about that.
process.stderr.on('error', () => {})
useBundledPackages()
process.exitCode = await program(process.argv.slice(2))
