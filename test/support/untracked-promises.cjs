/**
 * Loaded before each file of the larger tests. Node's runner tracks every promise of a process, to name the
 * test behind an error that nothing waits for; tests with a gateway in their process spend more than half of
 * their CPU on that. Without it such an error still fails its file, and its stack is printed. A hook of the
 * module `node:test` behind an `await` is then one of the file: a test's own are those of its context.
 */
'use strict'
const asyncHooks = require('node:async_hooks')

const { createHook } = asyncHooks
// The first to ask is the runner; a gateway in a process of its own never does.
asyncHooks.createHook = (callbacks) => {
  asyncHooks.createHook = createHook
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, console.error)
  return createHook({ ...callbacks, trackPromises: false })
}
