import { isMainThread } from 'node:worker_threads'

// This module is loaded into a program by --import. It reports on standard error every turn of the
// event loop that takes more than 50 ms of processor time, which unlike wall-clock time does not
// depend on other programs.
const TURN_MS_MAX = 50
const EVERY_MS = 2

if (isMainThread) {
  let before = spentMs()
  // The time for loading the program does not count as a turn.
  const startedAt = performance.now()
  setInterval(() => {
    const now = spentMs()
    const turnMs = now - before
    before = now
    if (turnMs > TURN_MS_MAX && performance.now() - startedAt > 5_000) {
      process.stderr.write(`turn of ${turnMs.toFixed(0)} ms\n`)
    }
  }, EVERY_MS).unref()
}

function spentMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
