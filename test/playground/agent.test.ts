/** Tests the agent without a page. In one file, so that the SDK is loaded once. */
import './agent/context.ts'
import './agent/loop.ts'
import './agent/scenarios.ts'
import './agent/endpoint.ts'
import './agent/builtin.ts'
import { afterAll } from 'vitest'
import { closeShell } from './agent/setup.ts'

afterAll(closeShell)
