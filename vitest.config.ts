import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { startWith } from './test/support/start-with.ts'

/** Tests of whole instances, those of every page, and those that wait longest. */
const longest = [
  ...['/test/e2e/', '/db/web/keys.test', '/parsing/bombs', '/parsing/reader-child'],
  ...['/parsing/parser-pool', '/db/processes/migrate', '/db/web/outage', '/outage/spool-faults'],
  ...['/db/people/indistinguishable', '/db/web/hostile-bodies', '/db/health/heartbeats'],
  ...['/db/processes/outage', '/db/processes/backup', '/db/queue/'],
]

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/citus/**', 'test/long/**', 'test/system/**'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/seed-shingles.ts', 'test/support/log-statements.ts'],
    expect: { poll: { timeout: 30_000, interval: 20 } },
    // Stops a test that never ends; no test uses it to measure time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Many tests wait for processes and connections: additional workers keep all processors busy.
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: startWith(...longest) },
    // Test files share nothing but modules, which are imported once per worker.
    isolate: false,
    // A third of the workers' time was garbage collection with the usual 16 MB. `openPiscina` sets
    // the second flag; set later than at the start, it makes all cached code invalid.
    execArgv: ['--max-semi-space-size=64', '--heap-growing-percent=100'],
    // Node strips the types itself, as in the processes that the tests start, with one compile
    // cache. No test replaces modules, so no loader has to read every test for that.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['html', 'text-summary'] },
  },
})
