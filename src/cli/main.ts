#!/usr/bin/env node
import { handleOutputError, program } from './program.ts'

process.stdout.on('error', handleOutputError)
process.exitCode = await program(process.argv.slice(2))
