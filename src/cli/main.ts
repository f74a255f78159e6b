#!/usr/bin/env node
import { handleOutputError, program } from './program.ts'

process.stdout.on('error', handleOutputError)
// Nothing can be said about that.
process.stderr.on('error', () => {})
process.exitCode = await program(process.argv.slice(2))
