#!/usr/bin/env node
import { outputFailed, program } from './program.ts'

process.stdout.on('error', outputFailed)
process.exitCode = await program(process.argv.slice(2))
